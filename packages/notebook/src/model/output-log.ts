import type { DisplayDataOutput, ExecuteResultOutput, Output } from './output.js';
import { defaultOutputLimits, fitBundle, fitError, LeftOut, type LeftOutPart, type OutputLimits, valueBytes } from './output-budget.js';
import { sortTop } from './outputs.js';
import { StreamText, settle } from './stream-text.js';
import { cutToBytes, toText, utf8Length } from './text.js';

/** A change of a cell's list of outputs that needs no knowledge of how it came about: a viewer applies it as it is. */
export type OutputEdit =
  | { type: 'addOutput'; output: Output }
  | { type: 'setOutput'; index: number; output: Output }
  /** Of the stream output at `index`, `keep` characters stay, and `text` follows them. */
  | { type: 'writeText'; index: number; keep: number; text: string };

interface OpenStream {
  name: string;
  index: number;
  text: StreamText;
}

/**
 * Turns what a kernel sends into edits of a cell's outputs: stream text runs on in the output before it, and what is beyond the
 * limits is left out, with a note that says so. One log per cell, from one clearing to the next.
 */
export class OutputLog {
  readonly #limits: Required<OutputLimits>;
  #count: number;
  #streamBytes = 0;
  #richBytes = 0;
  #open: OpenStream | undefined;
  /** `isTold`: the note says all of it. `tailIndex`: where the end of it stands. */
  #leftOut: { record: LeftOut; noteIndex: number; tailIndex?: number; isTold: boolean } | undefined;

  constructor(outputs: readonly Output[], limits: OutputLimits = {}) {
    this.#limits = { ...defaultOutputLimits, ...limits };
    this.#count = outputs.length;
    for (const output of outputs) {
      if (output.output_type === 'stream') this.#streamBytes += utf8Length(toText(output.text));
      else this.#richBytes += valueBytes(output);
    }
    const last = outputs.at(-1);
    if (last?.output_type === 'stream')
      this.#open = { name: last.name, index: outputs.length - 1, text: new StreamText(toText(last.text)) };
  }

  append(output: Output): OutputEdit[] {
    switch (output.output_type) {
      case 'stream':
        return this.#appendText(output.name, toText(output.text));
      case 'error':
        // Errors have a limit of their own, so that the one that ends a long output is seen.
        if (this.#count >= 2 * this.#limits.maxOutputs) return this.#leaveOutParts([{ what: 'error', bytes: valueBytes(output) }]);
        return [this.#add(fitError(output))];
      default:
        return this.#appendRich(output);
    }
  }

  /** Another display in the place of one. One that is larger than what is left stays away, and the old one is shown. */
  replace(index: number, before: Output, output: DisplayDataOutput | ExecuteResultOutput): OutputEdit[] {
    const left = this.#limits.maxRichBytes - this.#richBytes + valueBytes(before);
    const { bundle, leftOut } = fitBundle(output.data, left);
    if (leftOut.length > 0 && Object.keys(bundle).length === 0) return this.#leaveOutParts(leftOut);
    const next = sortTop({ ...output, data: bundle }) as Output;
    this.#richBytes += valueBytes(next) - valueBytes(before);
    return [{ type: 'setOutput', index, output: next }, ...this.#leaveOutParts(leftOut)];
  }

  /**
   * At the end of a run, and when more has come after it: the note gets its totals, and the last lines of what was left out follow, in one
   * place for all of it.
   */
  finish(): OutputEdit[] {
    const leftOut = this.#leftOut;
    if (!leftOut || leftOut.isTold) return [];
    leftOut.isTold = true;
    const { record, noteIndex, tailIndex } = leftOut;
    const edits: OutputEdit[] = [{ type: 'setOutput', index: noteIndex, output: note(record.note(this.#limits)) }];
    if (record.tail === '') return edits;
    const tail = stream('stdout', `[The last lines of it:]\n${settle(record.tail)}`);
    if (tailIndex !== undefined) return [...edits, { type: 'setOutput', index: tailIndex, output: tail }];
    leftOut.tailIndex = this.#count;
    return [...edits, this.#add(tail)];
  }

  #appendText(name: string, text: string): OutputEdit[] {
    if (text === '') return [];
    const isOpen = this.#open?.name === name;
    const hasRoom = this.#streamBytes < this.#limits.maxStreamBytes && (isOpen || this.#count < this.#limits.maxOutputs);
    if (!hasRoom) return this.#leaveOut((record) => record.addText(text));
    const open = isOpen && this.#open ? this.#open : { name, index: this.#count, text: new StreamText() };
    const { keep, removed, text: written } = open.text.write(text);
    this.#streamBytes -= utf8Length(removed);
    const fitting = cutToBytes(written, this.#limits.maxStreamBytes - this.#streamBytes);
    this.#streamBytes += utf8Length(fitting);
    const edit: OutputEdit = isOpen ? { type: 'writeText', index: open.index, keep, text: fitting } : this.#add(stream(name, fitting));
    this.#open = open;
    if (fitting === written) return [edit];
    // The stream's own text is longer than what is kept of it: nothing may be written to it any more.
    this.#streamBytes = this.#limits.maxStreamBytes;
    return [edit, ...this.#leaveOut((record) => record.addText(written.slice(fitting.length)))];
  }

  #appendRich(output: DisplayDataOutput | ExecuteResultOutput): OutputEdit[] {
    if (this.#count >= this.#limits.maxOutputs) return this.#leaveOutParts([{ what: output.output_type, bytes: valueBytes(output.data) }]);
    const { bundle, bytes, leftOut } = fitBundle(output.data, this.#limits.maxRichBytes - this.#richBytes);
    this.#richBytes += bytes;
    const isEmpty = leftOut.length > 0 && Object.keys(bundle).length === 0;
    const edits = isEmpty ? [] : [this.#add({ ...output, data: bundle })];
    return [...edits, ...this.#leaveOutParts(leftOut)];
  }

  #leaveOutParts(parts: readonly LeftOutPart[]): OutputEdit[] {
    return parts.flatMap((part) => this.#leaveOut((record) => record.addPart(part)));
  }

  #add(output: Output): OutputEdit {
    this.#count++;
    this.#open = undefined;
    return { type: 'addOutput', output: sortTop(output) as Output };
  }

  /** The first time a note is added; later ones only count, and `finish` writes the totals. */
  #leaveOut(record: (leftOut: LeftOut) => void): OutputEdit[] {
    if (this.#leftOut) {
      this.#leftOut.isTold = false;
      record(this.#leftOut.record);
      return [];
    }
    const leftOut = new LeftOut();
    record(leftOut);
    const edit = this.#add(note(leftOut.note(this.#limits)));
    this.#leftOut = { record: leftOut, noteIndex: this.#count - 1, isTold: false };
    return [edit];
  }
}

/** The list of outputs after an edit. */
export function editOutputs(outputs: readonly Output[], edit: OutputEdit): readonly Output[] {
  if (edit.type === 'addOutput') return [...outputs, edit.output];
  const before = outputs[edit.index];
  if (!before) return outputs;
  if (edit.type === 'setOutput') return outputs.with(edit.index, edit.output);
  const text = toText((before as { text: string }).text);
  const kept = edit.keep === text.length ? text : text.slice(0, edit.keep);
  return outputs.with(edit.index, { ...before, text: kept + edit.text } as Output);
}

function stream(name: string, text: string): Output {
  return { name, output_type: 'stream', text };
}

function note(text: string): Output {
  return stream('stderr', text);
}
