import { toHtml } from './markdown-html.js';
import type { MarkdownAnswer, MarkdownQuestion } from './markdown-thread.js';

/** A thread of its own for Markdown: there are texts on which its grammar works for minutes, and a thread can be ended. */
addEventListener('message', ({ data: { id, source } }: MessageEvent<MarkdownQuestion>) => {
  answer(toAnswer(id, source));
});
answer({ id: 0, html: '' });

function toAnswer(id: number, source: string): MarkdownAnswer {
  try {
    return { id, html: toHtml(source) };
  } catch (error) {
    // A nest that is too deep ends the stack.
    return { id, fault: error instanceof RangeError ? 'it is nested too deeply' : String(error) };
  }
}

function answer(message: MarkdownAnswer): void {
  postMessage(message);
}
