import { threadQueue } from '../threads.js';
import type { LaidOut } from './parts.js';

export interface MarkdownQuestion {
  readonly kind: 'markdown' | 'latex';
  readonly source: string;
  /** Names the text's parts; it cannot be guessed. */
  readonly key: string;
  /** False: formulas are left as they are written. */
  readonly withFormulas: boolean;
}

export type MarkdownAnswer = LaidOut | { readonly fault: string };

const ask = threadQueue<MarkdownQuestion, MarkdownAnswer>({
  name: 'markdown',
  faults: { start: 'its thread does not start', work: 'it takes too long to lay out as Markdown', end: 'its thread failed' },
  // A formula may be to blame; the text is worth reading without it.
  withoutLoading: (question) => ({ ...question, withFormulas: false }),
});

/** HTML that nobody has checked, of at most 100,000 characters of text. Rejects for a text on which the grammar works too long or fails. */
export async function layOutInThread(kind: MarkdownQuestion['kind'], source: string): Promise<LaidOut> {
  const answer = await ask({ kind, source, key: crypto.randomUUID(), withFormulas: true });
  if ('fault' in answer) throw new Error(answer.fault);
  return answer;
}
