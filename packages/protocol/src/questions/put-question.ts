import type { CallContext } from '../core/call-context.js';
import { BridgeError } from '../core/errors.js';
import { canAnswer, type Question, type QuestionOptions, withAsker } from '../core/questions.js';
import type { JsonObject } from '../json.js';

/**
 * Puts a server's question to the agent whose call caused it. For an agent that cannot be asked that, elicitation is answered with
 * `cancel`, as a person would who closes the dialog; for the others there is no such answer. Rejects with `unanswered_question`, or
 * as `Ask` does. `server`: the name of the server that asks. `isNamed`: the question bears the name of who asks already.
 */
export async function putQuestion(
  { ask, clientCapabilities }: Pick<CallContext, 'ask' | 'clientCapabilities'>,
  question: Question,
  { server, isNamed = false, ...options }: QuestionOptions & { server: string; isNamed?: boolean | undefined },
): Promise<JsonObject> {
  if (ask !== undefined && canAnswer(clientCapabilities, question))
    return ask(toLegacyQuestion(isNamed ? question : withAsker(question, server)), options);
  return answerForNobody(question, server, 'whoever calls did not declare that it can answer that');
}

/** The answer to a question that nobody is asked. Throws `unanswered_question` if there is none. `why`: the rest of the sentence. */
export function answerForNobody(question: Question, server: string, why: string): JsonObject {
  const refused = refuseQuestion(question);
  if (refused !== undefined) return refused;
  throw unanswered(question, server, why);
}

/** The answer to a question that nobody can be asked; undefined if there is no such answer. */
export function refuseQuestion({ method }: Question): JsonObject | undefined {
  return method === 'elicitation/create' ? { action: 'cancel' } : undefined;
}

/** Why a question has no answer. `why`: the rest of the sentence. */
export function unanswered({ method }: Question, server: string, why: string, cause?: unknown): BridgeError {
  const text = `"${server}" asked for "${method}" in the middle of the call, and ${why}.`;
  return new BridgeError('unanswered_question', text, { data: { server, method }, cause });
}

/** A URL has an id in the legacy era; the modern one has taken it away. */
function toLegacyQuestion(question: Question): Question {
  const { params = {} } = question;
  if (question.method !== 'elicitation/create' || params.mode !== 'url' || params.elicitationId !== undefined) return question;
  return { ...question, params: { ...params, elicitationId: crypto.randomUUID() } };
}
