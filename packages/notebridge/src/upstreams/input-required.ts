import type { CallContext } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import { canAnswer, isQuestion, isWebUrl, nameAsker, type Question, withAsker } from '@notebridge/protocol/core/questions';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { putQuestion, refuseQuestion, unanswered } from '@notebridge/protocol/questions/put-question';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';

export interface InputOptions {
  /** The name of the server. */
  server: string;
  context: CallContext;
  /** What the caller can be asked; undefined: nothing. */
  askable: JsonObject | undefined;
  /** The params of the call. */
  params: JsonObject;
  /** How often the call has been made, this time included. */
  rounds: number;
  /** How long the agent may take for an answer. Milliseconds. */
  timeoutMs: number;
  /** Makes the call again. */
  retry: (params: JsonObject) => Promise<JsonObject>;
}

/** A server that still asks after so many calls would ask for ever. */
const mostRounds = 16;
/** A server that asks for nothing but patience is called again after this. Milliseconds. */
const pauseMs = 250;

/**
 * What becomes of an `input_required` of a server of the modern era. An agent of that era gets it, and calls again with the answers.
 * Any other caller is asked what it can be asked, in parallel, and the call is made again.
 */
export async function takeInputRequired(result: JsonObject, options: InputOptions): Promise<JsonObject> {
  const { server, context, askable, params, rounds, retry } = options;
  const questions = parseQuestions(result, server);
  const isModern = context.caller.era === 'modern';
  if (isModern && questions === undefined) return result;
  if (isModern && questions !== undefined && canAnswerAny(askable, questions, server))
    return { ...result, inputRequests: withAskers(questions, server) };
  if (rounds >= mostRounds)
    throw new BridgeError('unanswered_question', `"${server}" still asked for more after ${rounds} rounds of the call.`);
  const { inputResponses: _1, requestState: _2, ...again } = params;
  const { requestState } = result;
  const inputResponses = questions === undefined ? await pause(context) : await askAll(questions, options);
  return retry({ ...again, ...(inputResponses && { inputResponses }), ...(requestState === undefined ? {} : { requestState }) });
}

/**
 * For a modern caller: false if all of it is elicitation that it cannot be asked, which is answered for it. Throws `unanswered_question`
 * if only a part can be answered: it would be its own answer with something that it never saw.
 */
function canAnswerAny(askable: JsonObject | undefined, questions: Record<string, Question>, server: string): boolean {
  const all = Object.values(questions);
  const [refused] = all.filter((question) => !canAnswer(askable, question)).sort(byAnswer);
  if (refused === undefined) return true;
  if (refuseQuestion(refused) !== undefined && !all.some((question) => canAnswer(askable, question))) return false;
  throw unanswered(refused, server, 'whoever calls did not declare that it can answer that');
}

/** Those for which there is no answer come first. */
function byAnswer(one: Question, other: Question): number {
  return Number(refuseQuestion(one) !== undefined) - Number(refuseQuestion(other) !== undefined);
}

/** Undefined if it asks nothing. Throws `bad_message` for what is no `input_required` of the specification. */
function parseQuestions({ inputRequests, requestState }: JsonObject, server: string): Record<string, Question> | undefined {
  const isSet = isJsonObject(inputRequests) && Object.keys(inputRequests).length > 0;
  if (!isSet) {
    if (typeof requestState === 'string') return undefined;
    throw new BridgeError('bad_message', `"${server}" answered "input_required" without "inputRequests" and "requestState".`);
  }
  for (const question of Object.values(inputRequests)) {
    if (!isQuestion(question)) throw new BridgeError('bad_message', `"${server}" asked in the middle of the call for what nobody knows.`);
  }
  return inputRequests as Record<string, Question>;
}

function withAskers(questions: Record<string, Question>, server: string): Record<string, Question> {
  return Object.fromEntries(Object.entries(questions).map(([key, question]) => [key, withAsker(question, server)]));
}

/** Asks all at once. The first that fails ends the others. */
async function askAll(questions: Record<string, Question>, { server, context, askable, timeoutMs }: InputOptions): Promise<JsonObject> {
  const cancellation = new Cancellation();
  const stopListening = context.cancellation.onCancel((reason) => cancellation.cancel(reason));
  const askOne = async ([key, question]: [string, Question]): Promise<[string, JsonObject]> => {
    try {
      return [key, await putQuestion({ ask: context.ask, clientCapabilities: askable }, question, { server, cancellation, timeoutMs })];
    } catch (error) {
      cancellation.cancel('another question of the same call has failed');
      if (!(error instanceof RemoteError)) throw error;
      throw unanswered(question, server, `was answered with an error: ${messageOf(error)}`, error);
    }
  };
  try {
    return Object.fromEntries(await Promise.all(Object.entries(questions).map(askOne)));
  } finally {
    stopListening();
  }
}

async function pause({ cancellation, signal }: CallContext): Promise<undefined> {
  await settlesWithin(new Promise(() => {}), pauseMs, signal);
  if (cancellation.reason !== undefined) throw new BridgeError('cancelled', `Cancelled while the server was busy: ${cancellation.reason}`);
}

/** Of the legacy era: the call can go on when the person has opened these URLs. */
const urlsRequired = -32042;

export function isUrlsRequired({ raw: { code, data } }: RemoteError): boolean {
  return code === urlsRequired && isJsonObject(data) && Array.isArray(data.elicitations) && data.elicitations.length > 0;
}

/**
 * The error of a server of the legacy era that wants URLs opened first, for its caller. For an agent of the modern era, which has no
 * such error, it becomes an `input_required`, or `missing_capability` if that agent can't open URLs. Only if `isUrlsRequired`.
 */
export function takeUrlsRequired(error: RemoteError, { server, context }: Pick<InputOptions, 'server' | 'context'>): JsonObject {
  const data = error.raw.data as JsonObject & { elicitations: unknown[] };
  if (!data.elicitations.every((params) => isJsonObject(params) && isWebUrl(params.url)))
    throw new BridgeError('bad_message', `"${server}" wants a URL to be opened that is none of the web.`, { cause: error });
  const named = data.elicitations.filter(isJsonObject).map((params) => ({ ...params, message: nameAsker(params.message, server) }));
  if (context.caller.era !== 'modern') throw new RemoteError({ ...error.raw, data: { ...data, elicitations: named } });
  if (!canOpenUrls(context.clientCapabilities)) {
    throw new BridgeError('missing_capability', error.message, { data: { requiredCapabilities: { elicitation: { url: {} } } } });
  }
  const toRequest = ({ elicitationId: _, ...params }: JsonObject): JsonObject => ({ method: 'elicitation/create', params });
  const inputRequests = Object.fromEntries(named.map((params, at) => [`url-${at + 1}`, toRequest({ mode: 'url', ...params })]));
  return { resultType: 'input_required', inputRequests };
}

function canOpenUrls(capabilities: JsonObject | undefined): boolean {
  return isJsonObject(capabilities?.elicitation) && isJsonObject(capabilities.elicitation.url);
}

/**
 * The params of a call that is made again, as a server of the legacy era knows them: it has asked for URLs alone, and finds out by
 * itself whether they were opened. Throws `cancelled` if the person did not want to, `bad_params` for a state that it cannot have given.
 */
export function withoutAnswers(params: JsonObject): JsonObject {
  const { inputResponses, requestState, ...rest } = params;
  if (requestState !== undefined)
    throw new BridgeError('bad_params', 'The "requestState" was not issued for this call, or what it stands for has ended. Call anew.');
  const answers = isJsonObject(inputResponses) ? Object.values(inputResponses) : [];
  const isDeclined = answers.some((answer) => isJsonObject(answer) && answer.action !== undefined && answer.action !== 'accept');
  if (isDeclined) throw new BridgeError('cancelled', 'The person did not want to open the URL that the server needs.');
  return rest;
}
