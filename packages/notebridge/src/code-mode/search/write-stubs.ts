import type { ToolStubs } from '@notebridge/bindings';
import type { ToolAddress } from '../../core/tool-address.js';
import { TimeSlices } from '../../util/time-slices.js';
import { shownName } from './one-line.js';

/** Characters of all stubs of one answer, and of one of them. */
const maxText = 40_000;
const maxStub = 16_000;
/** Others have a turn when stubs were made for so long. Milliseconds. */
const turnMs = 5;

export interface WrittenStubs {
  text: string;
  /** One line each: what was cut, what was left out. */
  notes: string[];
}

/** The stubs of tools, one after the other, as far as they are short enough together. */
export async function writeStubs(stubs: ToolStubs, addresses: readonly ToolAddress[]): Promise<WrittenStubs> {
  const texts: string[] = [];
  const notes: string[] = [];
  const late: string[] = [];
  let left = maxText;
  const turns = new TimeSlices(turnMs);
  for (const address of addresses) {
    const name = `${shownName(address.server)}.${shownName(address.tool)}`;
    const stub = left > 0 ? await stubs.stubOf(address) : undefined;
    const whole = stub && `${stub.importLine}\n\n${stub.text}`;
    if (whole === undefined || (whole.length > left && texts.length > 0 && left < maxStub)) {
      late.push(name);
      left = 0;
      continue;
    }
    const text = whole.length > maxStub ? `${whole.slice(0, maxStub)}…` : whole;
    if (text !== whole) notes.push(`${name} is cut: it has ${whole.length} characters, and ${maxStub} are shown.`);
    texts.push(text);
    left -= text.length;
    await turns.pause();
  }
  if (late.length > 0) notes.push(`Left out, since ${maxText} characters are shown at once: ${late.join(', ')}. Ask for fewer.`);
  return { text: texts.join('\n\n\n'), notes };
}
