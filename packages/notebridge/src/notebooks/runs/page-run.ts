import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { codeOf } from '@notebridge/protocol/core/errors';
import { errorCodeMetaKey, type ToolResult } from '@notebridge/protocol/core/mcp';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { LastingOperation } from '@notebridge/protocol/runs/lasting-operation';
import { type ReadOutput, textOfStream, unfinishedLine } from '@notebridge/protocol/runs/output-cursor';
import { toAnswerValue } from '../changes/change-call.js';

export type CellOutput = JsonObject & ReadOutput;

export type RunEndStatus = 'ok' | 'error' | 'interrupted' | 'failed' | 'unknown';

/** How a run ended, as far as it is known. */
export interface RunEnd {
  status: RunEndStatus;
  /** Undefined: the page did not say. */
  outputs: readonly CellOutput[] | undefined;
  /** For `failed` and `unknown`: why. */
  why?: string | undefined;
}

/** One run of a cell of a page, from the moment it was asked for. The page runs it; this follows it. */
export class PageRun extends LastingOperation<undefined> {
  readonly id: number;
  readonly cellId: string;
  /** The agent's name. */
  readonly by: string;
  /** Of the page's call: the caller may leave while it goes on. */
  readonly cancellation = new Cancellation();
  /** How often its outputs were seen to begin anew. */
  clears = 0;
  /** Its call has answered that it goes on: somebody knows its id. */
  isKnown = false;
  #outputs: readonly CellOutput[] | undefined;
  #end: RunEnd | undefined;
  #unread: (() => RunEnd) | undefined;

  constructor(id: number, { cellId, by }: { cellId: string; by: string }) {
    super();
    this.id = id;
    this.cellId = cellId;
    this.by = by;
  }

  get end(): RunEnd | undefined {
    const read = this.#unread;
    this.#unread = undefined;
    if (read !== undefined) {
      this.#end = read();
      if (this.#end.outputs !== undefined) this.show(this.#end.outputs);
    }
    return this.#end;
  }

  /** What it has given, as it was seen last; undefined if it was not, or is too long ago. */
  get outputs(): readonly CellOutput[] | undefined {
    // Its end has the last of them.
    void this.end;
    return this.#outputs;
  }

  /** Takes what the cell shows now. */
  show(outputs: readonly CellOutput[]): void {
    if (this.#outputs !== undefined && !continues(this.#outputs, outputs)) this.clears++;
    this.#outputs = outputs;
  }

  /** `read` is called when somebody asks: most results are read by their caller alone. False for one that has ended already. */
  finishWith(read: () => RunEnd): boolean {
    if (!this.finish(undefined)) return false;
    this.#unread = read;
    return true;
  }

  /** Its outputs take room, and the cell has them. */
  withoutOutputs(): this {
    const { end } = this;
    this.#outputs = undefined;
    if (end !== undefined) this.#end = { ...end, outputs: undefined };
    return this;
  }
}

/** What the page answered to `run_code_cell`. */
export function toRunEnd(result: ToolResult): RunEnd {
  const code = isJsonObject(result._meta) ? result._meta[errorCodeMetaKey] : undefined;
  if (result.isError === true) return { status: isUnknown(code) ? 'unknown' : 'failed', outputs: undefined, why: reasonIn(result) };
  const outputs = toOutputs(toAnswerValue(result)?.outputs);
  return { status: statusOf(outputs ?? []), outputs };
}

/** Why the call of the page was not answered at all. */
export function toRunFault(error: unknown): RunEnd {
  const why = error instanceof Error ? error.message : String(error);
  return { status: isUnknown(codeOf(error)) ? 'unknown' : 'failed', outputs: undefined, why };
}

/** Undefined for what is no list of outputs. */
export function toOutputs(value: unknown): CellOutput[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every((output) => isJsonObject(output) && typeof output.output_type === 'string') ? (value as CellOutput[]) : undefined;
}

export function statusOf(outputs: readonly CellOutput[]): 'ok' | 'error' | 'interrupted' {
  const fault = outputs.find(({ output_type }) => output_type === 'error');
  if (fault === undefined) return 'ok';
  return fault.ename === 'KeyboardInterrupt' ? 'interrupted' : 'error';
}

/** The page left, or did not answer: what it did is not known. */
function isUnknown(code: unknown): boolean {
  return code === 'page_gone' || code === 'timeout' || code === 'closed' || code === 'cancelled';
}

function reasonIn({ content }: ToolResult): string | undefined {
  const text = Array.isArray(content) ? content[0]?.text : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** Whether `now` is what was seen before and perhaps more: the last line of a text may be written anew, as a progress bar is. */
function continues(before: readonly CellOutput[], now: readonly CellOutput[]): boolean {
  if (now.length < before.length) return false;
  return before.every((output, index) => {
    const other = now[index];
    if (other?.output_type !== output.output_type) return false;
    if (output.output_type !== 'stream' || index < before.length - 1) return true;
    const lines = linesOf(output);
    return other.name === output.name && linesOf(other).startsWith(lines);
  });
}

/** The whole lines of a text. */
function linesOf(output: CellOutput): string {
  const text = textOfStream(output);
  return text.slice(0, text.length - unfinishedLine([output]).length);
}
