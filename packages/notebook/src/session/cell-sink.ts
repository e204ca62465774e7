import type { Execution } from '../kernel/kernel.js';
import type { NotebookDocument } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import type { Output } from '../model/output.js';
import type { Displays } from './displays.js';
import type { LateOutputs } from './late-outputs.js';
import type { Job, RunResult } from './run-queue.js';

export interface CellSinkOptions {
  document: NotebookDocument;
  displays: Displays;
  late: LateOutputs;
  job: Job;
}

/** Writes what a run gives into its cell, as long as the cell is there, and after the run as long as it is open for that. */
export function createCellSink({ document, displays, late, job }: CellSinkOptions) {
  const { id, cellId, options } = job;
  const { by } = options;
  let outputs: readonly Output[] = [];
  let clearsWithNext = false;
  let hasEnded = false;
  const write = (change: () => void): void => {
    if (hasEnded) return late.write({ id, cellId, by }, change);
    if (document.find(cellId)?.type !== 'code') return;
    change();
    outputs = document.find(cellId)?.outputs ?? outputs;
  };
  /** A kernel keeps what hears its last thousand runs: it shall not keep their outputs. */
  const end = (): readonly Output[] => {
    const given = outputs;
    [hasEnded, outputs] = [true, []];
    return given;
  };
  return {
    begin(): void {
      late.end(cellId);
      write(() => document.clear(cellId, { by }));
    },
    put(output: Output, displayId?: string): void {
      write(() => {
        if (clearsWithNext) document.setOutputs(cellId, [], { by });
        clearsWithNext = false;
        const count = document.find(cellId)?.outputs.length ?? 0;
        document.appendOutput(cellId, output, { by });
        // What is beyond the limits is not there to be shown anew.
        if (displayId !== undefined && (document.find(cellId)?.outputs.length ?? 0) > count) displays.remember(displayId, cellId);
      });
      if (!hasEnded) options.onOutput?.(output);
    },
    update(displayId: string, output: Output): void {
      const change = () => displays.update(displayId, output, by);
      // It may stand in any cell.
      if (hasEnded) change();
      else write(change);
    },
    clear(wait: boolean): void {
      clearsWithNext = wait;
      if (!wait) write(() => document.setOutputs(cellId, [], { by }));
    },
    finish({ status, executionCount }: Execution): RunResult {
      const count = executionCount > 0 ? executionCount : null;
      write(() => {
        document.finishOutputs(cellId, { by });
        document.setExecutionCount(cellId, count, { by });
      });
      const given = end();
      if (!document.find(cellId)) throw deletedCell(cellId, 'while it ran', given);
      late.open({ id, cellId, by });
      return { status, executionCount: count, outputs: given };
    },
    /** What the kernel says is shown in the cell too: a person sees no tool results. */
    fail(error: NotebookError): NotebookError {
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

export function deletedCell(cellId: string, when: string, outputs: readonly Output[] = []): NotebookError {
  return new NotebookError('cell_deleted', `The cell "${cellId}" was deleted ${when}.`, { data: { cellId, outputs } });
}
