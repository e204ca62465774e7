import type { JsonObject } from '@notebridge/kit/json';
import { type OutputCursor, outputsSince, toCursor } from '@notebridge/kit/output-cursor';
import { describeRun, forgottenText, runningText } from '@notebridge/kit/run-words';
import type { ToolResult } from '../../core/mcp.js';
import type { CellOutput, PageRun } from './page-run.js';

/** A run and what is known of it beside itself. */
export interface ShownRun {
  run: PageRun;
  /** As agents call it. */
  runId: string;
  /** A run that was asked for earlier has not ended. */
  isQueued: boolean;
}

/** Without its outputs. */
export function toRunView({ run, runId, isQueued }: ShownRun): JsonObject {
  const { cellId, startedAt, durationMs, end } = run;
  const status = end?.status ?? (isQueued ? 'queued' : 'running');
  return {
    ...describeRun({ runId, cellId, status, by: { kind: 'agent', name: run.by }, startedAt, durationMs }),
    ...(end?.why === undefined ? {} : { message: end.why }),
    ...(end?.status === 'unknown' ? { next: lookText(cellId) } : {}),
  };
}

/** With what it has given behind the cursor. */
export function toRunAnswer(shown: ShownRun, cursor?: OutputCursor): JsonObject {
  const { run } = shown;
  // What a cell shows that waits for its turn is of an earlier run.
  const outputs = shown.isQueued ? [] : run.outputs;
  if (outputs === undefined) return { ...toRunView(shown), outputs: [], outputs_left_out: run.hasEnded ? forgottenText : unseenText };
  const since = outputsSince(outputs, run.clears, cursor);
  return { ...toRunView(shown), outputs: since.map(withLines), cursor: toCursor(outputs, run.clears) };
}

/** The answer to a call that does not wait any longer. */
export function toRunningAnswer(shown: ShownRun): JsonObject {
  return { ...toRunAnswer(shown), next: runningText };
}

export function toRunResult(value: JsonObject): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}

export function lookText(cellId: string): string {
  return `Its outcome is unknown. Look at cell ${cellId} with get_cells (includeOutputs) before you run it again.`;
}

const unseenText = 'the page does not show its cells just now: ask again, or read the cell with get_cells';

/** As on disk. */
export function withLines(output: CellOutput): JsonObject {
  return typeof output.text === 'string' ? { ...output, text: output.text.match(/[^\n]*\n|[^\n]+$/g) ?? [] } : output;
}
