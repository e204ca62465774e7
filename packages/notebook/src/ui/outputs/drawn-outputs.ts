import type { MimeBundle, Output } from '../../model/output.js';
import { toText } from '../../model/text.js';
import { el } from '../dom.js';
import { withoutAnsi } from './ansi.js';
import { cannotShow } from './cannot-show.js';
import { TextOutput } from './text-output.js';

/** An output that is drawn. */
export interface DrawnOutput {
  output: Output;
  readonly element: HTMLElement;
  readonly text?: TextOutput;
}

/** Draws an output with a mime bundle. */
export type DrawRich = (output: Extract<Output, { data: MimeBundle }>) => HTMLElement;

/** Draws an output into the list, at this place; a stream that has grown keeps what stands there, and with it a person's selection. */
export function putOutput(
  drawn: DrawnOutput[],
  index: number,
  output: Output,
  { list, rich }: { list: HTMLElement; rich: DrawRich },
): void {
  const before = drawn[index];
  if (before?.text && output.output_type === 'stream' && isSameStream(before.output, output)) {
    before.output = output;
    return before.text.show(toText(output.text));
  }
  const now = draw(output, rich);
  if (before) before.element.replaceWith(now.element);
  else list.append(now.element);
  drawn[index] = now;
}

/** Each output for itself: one that cannot be drawn says so, and takes nothing else with it. */
function draw(output: Output, rich: DrawRich): DrawnOutput {
  try {
    switch (output.output_type) {
      case 'stream':
        return drawText(output, `stream-output stream-${output.name === 'stderr' ? 'stderr' : 'stdout'}`, toText(output.text));
      case 'error':
        return drawText(output, 'error-output', withoutRuler(output.traceback).join('\n') || `${output.ename}: ${output.evalue}`);
      default:
        return { output, element: el('div', { class: 'output' }, rich(output)) };
    }
  } catch (error) {
    return { output, element: el('div', { class: 'output' }, cannotShow('This output', error)) };
  }
}

/** The line of dashes with which IPython begins: the box says it, and a narrow window would break it in three. */
function withoutRuler(traceback: readonly string[]): readonly string[] {
  return /^-{20,}$/.test(withoutAnsi(traceback[0] ?? '')) ? traceback.slice(1) : traceback;
}

function drawText(output: Output, className: string, value: string): DrawnOutput {
  const text = new TextOutput(`output ${className}`);
  text.show(value);
  return { output, element: text.element, text };
}

function isSameStream(before: Output, after: Output): boolean {
  return before.output_type === 'stream' && after.output_type === 'stream' && before.name === after.name;
}
