import type { ThreadState } from '../threads.js';
import { latexToHtml, toHtml } from './markdown-html.js';
import type { MarkdownAnswer, MarkdownQuestion } from './markdown-thread.js';
import { PartList } from './parts.js';

/** A thread of its own for texts: there are some on which a grammar works for minutes, and a thread can be ended. */
addEventListener('message', ({ data }: MessageEvent<MarkdownQuestion>) => void toAnswer(data).then(say));
say('ready');

let loading: Promise<typeof import('./katex.js')> | undefined;

async function toAnswer({ kind, source, key, withFormulas }: MarkdownQuestion): Promise<MarkdownAnswer> {
  try {
    const list = new PartList(key);
    const html = kind === 'latex' ? latexToHtml(source, list) : toHtml(source, list);
    if (!withFormulas || !list.parts.some((part) => part.kind === 'formula')) return { html, key, parts: list.parts };
    // Loaded with the first formula, and not counted as a text's own time.
    say('loading');
    loading ??= import('./katex.js');
    const { layOut } = await loading;
    say('working');
    return { html, key, parts: layOut(list.parts) };
  } catch (error) {
    // A nest that is too deep ends the stack.
    return { fault: error instanceof RangeError ? 'it is nested too deeply' : String(error) };
  }
}

function say(message: ThreadState | MarkdownAnswer): void {
  postMessage(message);
}
