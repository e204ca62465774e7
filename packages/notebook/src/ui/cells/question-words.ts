import type { OpenQuestion } from '../../session/input-questions.js';
import { nameOf } from '../names.js';

/** What is asked, in a sentence. */
export function wordsOf(question: OpenQuestion): string {
  if (!('elicitation' in question)) return question.prompt;
  return `${whoAsks(question)}: ${question.elicitation.message}`;
}

/** Who asks: the code, or a server that it calls. */
export function whoAsks(question: OpenQuestion): string {
  const { by } = question.run;
  if ('elicitation' in question) return `The server “${question.elicitation.server}”, which the code calls, asks`;
  return by.kind === 'agent' ? `The code that ${nameOf(by)} runs asks` : 'The code asks';
}
