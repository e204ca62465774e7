import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';

/** Below this, a part of an output says nothing: then it is left out as a whole. */
const leastCharacters = 300;
/** What the keys and the note of a shortened output take. */
const frameCharacters = 200;

/** How many characters each of them gets: those that ask for little get it all, and the others share the rest alike. */
export function shareOut(sizes: readonly number[], max: number): number[] {
  const order = sizes.map((size, index) => ({ size, index })).sort((a, b) => a.size - b.size);
  const shares = new Array<number>(sizes.length).fill(0);
  let left = max;
  order.forEach(({ size, index }, rank) => {
    const share = Math.min(size, Math.floor(left / (order.length - rank)));
    shares[index] = share;
    left -= share;
  });
  return shares;
}

export function sizeOfOutputs(outputs: readonly JsonObject[]): number {
  return JSON.stringify(outputs).length;
}

/**
 * Outputs, as a file has them, in at most so many characters of JSON: what fits stays as it is; of longer texts the beginning and the
 * end, with a count of what is left out. An agent's memory is short, and the notebook has all of it.
 */
export function fitOutputs(outputs: readonly JsonObject[], maxCharacters: number): JsonObject[] {
  if (sizeOfOutputs(outputs) <= maxCharacters) return [...outputs];
  const most = Math.max(2, Math.floor(maxCharacters / (leastCharacters + frameCharacters)));
  const kept = outputs.length <= most ? [...outputs] : withoutMiddle(outputs, most);
  const sizes = kept.map((output) => JSON.stringify(output).length);
  // Brackets, and a comma between each two.
  const shares = shareOut(sizes, maxCharacters - kept.length - 1);
  return kept.map((output, index) => ((shares[index] ?? 0) >= (sizes[index] ?? 0) ? output : fitOutput(output, shares[index] ?? 0)));
}

/** The last outputs matter most: errors and results are among them. */
function withoutMiddle(outputs: readonly JsonObject[], most: number): JsonObject[] {
  const head = Math.floor(most / 3);
  const tail = most - head - 1;
  const count = outputs.length - head - tail;
  const note = { name: 'stderr', output_type: 'stream', text: [`[${count} outputs left out here; get_output has them]\n`] };
  return [...outputs.slice(0, head), note, ...outputs.slice(outputs.length - tail)];
}

/** In at most so many characters, notes and keys included: with less and less of it, until that is so. */
function fitOutput(output: JsonObject, share: number): JsonObject {
  for (let max = Math.max(0, share - frameCharacters); ; ) {
    const fitted = shorten(output, max);
    const excess = JSON.stringify(fitted).length - share;
    if (excess <= 0) return fitted;
    if (max === 0) break;
    max = Math.max(0, max - excess);
  }
  const note = `[an output of ${JSON.stringify(output).length} characters left out here; get_output has them]\n`;
  return { name: 'stderr', output_type: 'stream', text: [note] };
}

function shorten(output: JsonObject, max: number): JsonObject {
  if (Array.isArray(output.text)) return { ...output, text: fitLines(output.text as string[], max) };
  if (Array.isArray(output.traceback)) {
    const evalue = fitText(String(output.evalue), Math.floor(max / 4));
    return { ...output, evalue, traceback: fitLines(output.traceback as string[], Math.floor((max * 3) / 4)) };
  }
  if (!isJsonObject(output.data)) return output;
  // Metadata says how the data is shown; what takes much of them is of some program, and none of what it shows.
  const size = JSON.stringify(output.metadata ?? {}).length;
  const shown = size <= max / 4 ? output : { ...output, metadata: {} };
  return { ...shown, data: fitBundle(output.data, Math.max(0, max - Math.min(size, Math.floor(max / 4)))) };
}

/** Plain text is shortened; half a page of HTML is none, and is left out. */
function fitBundle(data: JsonObject, max: number): JsonObject {
  let left = max;
  const entries = Object.entries(data).sort(([a], [b]) => Number(b === 'text/plain') - Number(a === 'text/plain'));
  const fitted = new Map(
    entries.map(([type, value]) => {
      const size = JSON.stringify(value).length;
      if (size <= left) left -= size;
      else if (type === 'text/plain' && Array.isArray(value)) {
        const lines = fitLines(value as string[], left);
        left = 0;
        return [type, lines];
      } else return [type, `[left out: ${size} characters; get_output has them]`];
      return [type, value];
    }),
  );
  return Object.fromEntries(Object.keys(data).map((type) => [type, fitted.get(type)]));
}

/** Lines from both ends, as many as fit; of a line that does not fit alone, its two ends. */
function fitLines(lines: readonly string[], max: number): string[] {
  let [head, tail] = [0, lines.length];
  for (let used = 0; head < tail; ) {
    // The end is what one reads first: it gets two lines for each one of the beginning.
    const fromEnd = lines.length - tail <= 2 * head;
    // Only as many as fit are looked at: there may be millions.
    used += JSON.stringify(lines[fromEnd ? tail - 1 : head] ?? '').length + 1;
    if (used > max) break;
    if (fromEnd) tail--;
    else head++;
  }
  if (head === tail) return [...lines];
  const leftOut = lines.slice(head, tail);
  if (head === 0 && tail === lines.length && lines.length > 0) return [fitText(lines.join(''), max)];
  const characters = leftOut.reduce((sum, line) => sum + line.length, 0);
  return [
    ...lines.slice(0, head),
    `[${leftOut.length} lines, ${characters} characters, left out here; get_output has them]\n`,
    ...lines.slice(tail),
  ];
}

function fitText(text: string, max: number): string {
  if (JSON.stringify(text).length <= max) return text;
  // What is escaped in JSON takes up to six characters.
  const factor = text.length / Math.max(1, JSON.stringify(text).length);
  const half = Math.max(0, Math.floor((max * factor) / 2));
  const [start, end] = [
    text.slice(0, half).replace(/[\ud800-\udbff]$/, ''),
    text.slice(text.length - half).replace(/^[\udc00-\udfff]/, ''),
  ];
  return `${start}[${text.length - start.length - end.length} characters left out here; get_output has them]${end}`;
}

/** As much from the beginning as is within so many characters of JSON, and no character cut in two. `toAnswer`: how it is answered. */
export function fitPart(text: string, max: number, toAnswer: (part: string) => unknown = String): string {
  const sizeOf = (part: string) => JSON.stringify(toAnswer(part)).length;
  let part = text.slice(0, Math.max(0, max));
  while (part !== '' && sizeOf(part) > max) part = part.slice(0, Math.max(0, Math.floor((part.length * max) / sizeOf(part)) - 1));
  return part.length < text.length ? part.slice(0, wholeCharacter(text, part.length)) : part;
}

/** Not the second half of one. */
export function wholeCharacter(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}
