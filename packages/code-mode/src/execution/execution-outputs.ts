import type { Output } from '@notebridge/notebook/outputs';
import { isJsonObject } from '@notebridge/protocol/json';

/** An output, or what was printed in a row; `size` in characters of it. */
type Part = { size: number } & ({ name: string; text: string } | { output: Output; displayId: string | undefined });

/** More parts than these take more memory than what they hold. */
const mostParts = 2000;
/** How much more than its bound the end may hold: it is cut now and then, and not with each line. */
const slack = 65_536;

/** What one execution gave, in bounded memory: the beginning and the end of it. */
export class ExecutionOutputs {
  readonly #half: number;
  #head: Part[] = [];
  #headLeft: number;
  #tail: Part[] = [];
  #tailSize = 0;
  #isHeadFull = false;
  #clearsNext = false;
  #droppedCharacters = 0;
  #droppedOutputs = 0;

  /** `maxBytes`: characters of text, and of outputs as JSON. */
  constructor(maxBytes: number) {
    this.#half = Math.floor(maxBytes / 2);
    this.#headLeft = this.#half;
  }

  put(output: Output, displayId?: string): void {
    if (this.#clearsNext) this.clear(false);
    if (output.output_type === 'stream')
      return this.#print(output.name, typeof output.text === 'string' ? output.text : output.text.join(''));
    const part = { output, displayId, size: JSON.stringify(output).length };
    if (!this.#isHeadFull && part.size <= this.#headLeft && this.#head.length < mostParts / 2) this.#addToHead(part);
    else this.#addToTail(part);
  }

  /** A display shown anew takes the place of what it was. */
  update(displayId: string, output: Output): void {
    const part = [...this.#head, ...this.#tail].find((shown) => 'output' in shown && shown.displayId === displayId);
    // In the place of a smaller one it could take more than there is.
    if (part === undefined || JSON.stringify(output).length > part.size + 1024) return this.put(output, displayId);
    Object.assign(part, { output });
  }

  clear(wait: boolean): void {
    this.#clearsNext = wait;
    if (wait) return;
    [this.#head, this.#tail] = [[], []];
    this.#headLeft = this.#half;
    this.#tailSize = this.#droppedCharacters = this.#droppedOutputs = 0;
    this.#isHeadFull = false;
  }

  /** As nbformat has them. */
  get outputs(): Output[] {
    return [...this.#head.map(toOutput), ...this.#dropped, ...this.#tail.map(toOutput)];
  }

  get #dropped(): Output[] {
    const [characters, outputs] = [this.#droppedCharacters, this.#droppedOutputs];
    if (characters + outputs === 0) return [];
    const what = [characters > 0 ? `${characters} characters` : '', outputs > 0 ? `${outputs} outputs` : ''].filter((text) => text !== '');
    return [{ output_type: 'stream', name: 'stderr', text: `\n[${what.join(' and ')} left out here]\n` }];
  }

  #print(name: string, printed: string): void {
    const forHead = this.#isHeadFull ? '' : printed.slice(0, this.#headLeft);
    if (forHead !== '') this.#addToHead({ name, text: forHead, size: forHead.length });
    const rest = printed.slice(forHead.length);
    if (rest !== '') this.#addToTail({ name, text: rest, size: rest.length });
  }

  #addToHead(part: Part): void {
    this.#headLeft -= part.size;
    append(this.#head, part);
    if (this.#head.length >= mostParts / 2) this.#isHeadFull = true;
  }

  #addToTail(part: Part): void {
    this.#isHeadFull = true;
    this.#tailSize += part.size;
    append(this.#tail, part);
    if (this.#tailSize <= this.#half + slack && this.#tail.length <= mostParts / 2) return;
    while (this.#tailSize > this.#half || this.#tail.length > mostParts / 2) this.#dropFirst();
  }

  #dropFirst(): void {
    const [first] = this.#tail;
    if (first === undefined) return;
    const excess = this.#tailSize - this.#half;
    if ('text' in first && first.size > excess && excess > 0) {
      first.text = first.text.slice(excess);
      first.size -= excess;
      this.#tailSize -= excess;
      this.#droppedCharacters += excess;
      return;
    }
    this.#tail.shift();
    this.#tailSize -= first.size;
    if ('text' in first) this.#droppedCharacters += first.size;
    else this.#droppedOutputs++;
  }
}

function append(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (last === undefined || !('text' in part && 'text' in last && last.name === part.name)) return void parts.push(part);
  last.text += part.text;
  last.size += part.size;
}

function toOutput(part: Part): Output {
  return 'output' in part ? part.output : { output_type: 'stream', name: part.name, text: part.text };
}

/** The value of the last expression as it is shown; undefined where there is none, or it is longer. */
export function resultOf(outputs: readonly Output[], maxCharacters: number): string | undefined {
  const last = outputs.findLast(({ output_type }) => output_type === 'execute_result');
  if (last === undefined || !isJsonObject(last.data)) return undefined;
  const plain = last.data['text/plain'];
  const text = Array.isArray(plain) ? plain.join('') : plain;
  return typeof text === 'string' && text.length <= maxCharacters ? text : undefined;
}
