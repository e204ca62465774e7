import type { JsonObject } from '@notebridge/protocol/json';
import { type OutputCursor, outputsSince, toCursor } from '@notebridge/protocol/runs/output-cursor';
import { describeRun, forgottenText, runningText } from '@notebridge/protocol/runs/run-words';
import type { RunRecord } from '../session/run-log.js';
import type { NotebookSession } from '../session/session.js';
import { fitOutputs } from './fit-outputs.js';
import { createImageCollector, maxTextCharactersOf } from './output-content.js';
import type { NotebookToolCall, ToolAnswer } from './tool.js';

/** What agents read of a run, without its outputs. */
export function toRunView({ runs }: NotebookSession, record: RunRecord): JsonObject {
  const { id, cellId, by, status, startedAt, durationMs, executionCount } = record;
  return {
    ...describeRun({ runId: runs.nameOf(id), cellId, status, by: { ...by }, startedAt, durationMs }),
    ...(executionCount === undefined ? {} : { execution_count: executionCount }),
  };
}

/** A run with what it has given behind the cursor. */
export async function answerRun(
  { session, options }: Pick<NotebookToolCall<unknown>, 'session' | 'options'>,
  record: RunRecord,
  cursor?: OutputCursor,
): Promise<ToolAnswer> {
  const all = session.runs.outputsOf(record);
  const images = createImageCollector(options, session.widgets);
  const collected = await images.collect(outputsSince(all ?? [], record.clears, cursor));
  const shown = fitOutputs(collected, maxTextCharactersOf(options));
  const value = {
    ...toRunView(session, record),
    outputs: shown,
    ...(all ? { cursor: toCursor(all, record.clears) } : record.status === 'queued' ? {} : { outputs_left_out: forgottenText }),
  };
  return { value, images: images.blocks };
}

/** The answer to a call that does not wait any longer. */
export async function answerRunning(call: NotebookToolCall<unknown>, record: RunRecord): Promise<ToolAnswer> {
  const { value, ...images } = await answerRun(call, record);
  return { value: { ...(value as JsonObject), next: runningText }, ...images };
}
