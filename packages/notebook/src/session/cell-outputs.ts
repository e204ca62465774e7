import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import type { Execution } from '../kernel/kernel.js';
import type { Actor } from '../model/cell.js';
import type { DocumentEvent, NotebookDocument } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import { cellIdOf, type Operation } from '../model/operation.js';
import type { Output } from '../model/output.js';
import type { Job, RunResult } from './run-queue.js';

interface Display {
  readonly cellId: string;
  /** The output as the document holds it: where it is not the same any more, something else is shown there. */
  output: Output;
}

const maxDisplays = 10_000;
/** How often the note of what is left out of a cell is brought up to date. */
const finishEveryMs = 1000;
/** After these the outputs of a cell are not those of its last run any more. */
const ends: ReadonlySet<Operation['type']> = new Set(['setOutputs', 'setType', 'restore', 'delete']);

/** What the code of a kernel shows, in the cells of the document. */
export class CellOutputs {
  readonly #document: NotebookDocument;
  /**
   * Where displays stand, by the id that the code gave them. No notebook file holds these ids, so a display of another session, or of before
   * a restart, is shown anew nowhere.
   */
  readonly #displays = new Map<string, readonly Display[]>();
  /**
   * The cells that may still get outputs although their run has ended, from threads, tasks and callbacks: until the cell is run again, cleared
   * or deleted, or the kernel starts anew. The last run of each, and what brings its note up to date.
   */
  readonly #late = new Map<string, { runId: number; timer?: ReturnType<typeof setTimeout> }>();
  #isWritingLate = false;
  readonly #stopListening: () => void;

  constructor(document: NotebookDocument) {
    this.#document = document;
    this.#stopListening = document.onChange((event) => this.#follow(event));
  }

  /** Shows a display anew wherever it stands. */
  update(displayId: string, output: Output, by: Actor): void {
    for (const display of this.#displays.get(displayId) ?? []) {
      const index = this.#indexOf(display);
      if (index === -1) continue;
      this.#document.replaceOutput(display.cellId, index, output, { by });
      display.output = this.#document.find(display.cellId)?.outputs[index] ?? display.output;
    }
  }

  /** A fresh kernel knows no displays, and shows nothing for the one before. */
  forget(): void {
    this.#displays.clear();
    this.endLate();
  }

  /** Nothing comes any more for runs that have ended. */
  endLate(): void {
    for (const cellId of this.#late.keys()) this.#endLateOf(cellId);
  }

  close(): void {
    this.#stopListening();
    this.endLate();
  }

  /** Writes what a run gives into its cell, as long as the cell is there, and after the run as long as it is open for that. */
  sinkOf({ id, cellId, options }: Job) {
    const document = this.#document;
    const { by } = options;
    const outputsNow = () => document.find(cellId)?.outputs;
    let outputs: readonly Output[] = [];
    let clearsWithNext = false;
    let hasEnded = false;
    const write = (change: () => void): void => {
      if (hasEnded) return this.#writeLate({ id, cellId, by }, change);
      if (document.find(cellId)?.type !== 'code') return;
      change();
      outputs = outputsNow() ?? outputs;
    };
    /** A kernel keeps what hears its last thousand runs: it shall not keep their outputs. */
    const end = (): readonly Output[] => {
      const given = outputs;
      [hasEnded, outputs] = [true, []];
      return given;
    };
    return {
      begin: (): void => {
        this.#endLateOf(cellId);
        write(() => document.clear(cellId, { by }));
      },
      put: (output: Output, displayId?: string): void => {
        write(() => {
          if (clearsWithNext) document.setOutputs(cellId, [], { by });
          clearsWithNext = false;
          const count = outputsNow()?.length ?? 0;
          document.appendOutput(cellId, output, { by });
          const last = outputsNow()?.at(-1);
          // What is beyond the limits is not there to be shown anew.
          if (displayId !== undefined && last && (outputsNow()?.length ?? 0) > count) this.#remember(displayId, { cellId, output: last });
        });
        if (!hasEnded) options.onOutput?.(output);
      },
      update: (displayId: string, output: Output): void => {
        const change = () => this.update(displayId, output, by);
        // It may stand in any cell.
        if (hasEnded) change();
        else write(change);
      },
      clear: (wait: boolean): void => {
        clearsWithNext = wait;
        if (!wait) write(() => document.setOutputs(cellId, [], { by }));
      },
      finish: ({ status, executionCount }: Execution): RunResult => {
        const count = executionCount > 0 ? executionCount : null;
        write(() => {
          document.finishOutputs(cellId, { by });
          document.setExecutionCount(cellId, count, { by });
        });
        const given = end();
        if (!document.find(cellId)) throw deletedCell(cellId, 'while it ran', given);
        if (document.find(cellId)?.type === 'code') this.#late.set(cellId, { runId: id });
        return { status, executionCount: count, outputs: given };
      },
      /** What the kernel says is shown in the cell too: a person sees no tool results. */
      fail: (error: NotebookError): NotebookError => {
        const { code, message } = error;
        const shown: Output = { output_type: 'error', ename: 'KernelError', evalue: message, traceback: [message] };
        if (code === 'kernel_dead' || code === 'kernel_failed')
          write(() => {
            document.appendOutput(cellId, shown, { by });
            document.finishOutputs(cellId, { by });
          });
        end();
        return error;
      },
    };
  }

  #remember(displayId: string, display: Display): void {
    const known = (this.#displays.get(displayId) ?? []).filter((other) => this.#indexOf(other) !== -1);
    keepLatest(this.#displays, [displayId, [...known, display]], maxDisplays);
  }

  #indexOf({ cellId, output }: Display): number {
    const cell = this.#document.find(cellId);
    return cell?.type === 'code' ? cell.outputs.indexOf(output) : -1;
  }

  /** Changes the outputs of the cell, if it is still open for this run. */
  #writeLate({ id, cellId, by }: { id: number; cellId: string; by: Actor }, change: () => void): void {
    const late = this.#late.get(cellId);
    if (late?.runId !== id) return;
    this.#isWritingLate = true;
    try {
      change();
    } finally {
      this.#isWritingLate = false;
    }
    late.timer ??= setTimeout(() => {
      delete late.timer;
      this.#document.finishOutputs(cellId, { by });
    }, finishEveryMs);
  }

  #endLateOf(cellId: string): void {
    clearTimeout(this.#late.get(cellId)?.timer);
    this.#late.delete(cellId);
  }

  #follow({ change: { op } }: DocumentEvent): void {
    const cellId = cellIdOf(op);
    if (cellId !== undefined && ends.has(op.type) && !this.#isWritingLate) this.#endLateOf(cellId);
  }
}

export function deletedCell(cellId: string, when: string, outputs: readonly Output[] = []): NotebookError {
  return new NotebookError('cell_deleted', `The cell "${cellId}" was deleted ${when}.`, { data: { cellId, outputs } });
}
