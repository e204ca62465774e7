import type { JsonObject } from '@notebridge/protocol/json';
import { defaultWaitSeconds, outlivesText, waitSeconds } from '@notebridge/protocol/runs/run-words';
import { NotebookError } from '../model/errors.js';
import { CallAsker } from '../session/code-askers.js';
import type { RunResult } from '../session/run-queue.js';
import { cellId, newCellIndex } from './arguments.js';
import { fitOutputs } from './fit-outputs.js';
import { createLineProgress } from './last-line.js';
import { createImageCollector, maxTextCharactersOf } from './output-content.js';
import { answerRunning } from './run-views.js';
import { defineNotebookTool, type NotebookToolCall, runs, type ToolAnswer } from './tool.js';

export const runCodeCell = defineNotebookTool<{ cellId: string; wait_seconds?: number }>({
  name: 'run_code_cell',
  description: `Runs a code cell and waits until it has finished. Answers {"outputs"} in nbformat; code that fails gives an output of type "error". PNG and JPEG images come as image blocks. ${outlivesText}`,
  properties: { cellId, wait_seconds: waitSeconds(defaultWaitSeconds) },
  required: ['cellId'],
  annotations: runs('Run a code cell'),
  answer: (call) => runCell(call, call.args.cellId, ({ outputs }) => ({ outputs })),
});

export const runCode = defineNotebookTool<{ code: string; cellIndex?: number; wait_seconds?: number }>({
  name: 'run_code',
  description:
    'Adds a code cell, runs it and waits until it has finished. Answers {"newCellId", "status", "execution_count", "outputs"}; "status" is "ok", "error", "interrupted", or "running" as in run_code_cell.',
  properties: {
    code: { type: 'string', description: 'The source of the new cell.' },
    cellIndex: newCellIndex,
    wait_seconds: waitSeconds(defaultWaitSeconds),
  },
  required: ['code'],
  annotations: runs('Run code in a new cell'),
  async answer(call) {
    const { session, args, by } = call;
    session.assertKernel();
    const { id } = session.document.insert(args.cellIndex ?? session.document.cells.length, { type: 'code', source: args.code }, { by });
    const toValue = ({ status, executionCount, outputs }: Shown) => ({ status, execution_count: executionCount, outputs });
    const { value, ...images } = await withCellId(id, runCell(call, id, toValue));
    return { value: { newCellId: id, ...(value as JsonObject) }, ...images };
  },
});

type Shown = Omit<RunResult, 'outputs'> & { outputs: readonly JsonObject[] };

/** Runs the cell, and answers with its result, or with where to ask for it if the caller does not wait so long. */
async function runCell(
  call: NotebookToolCall<{ wait_seconds?: number }>,
  id: string,
  toValue: (shown: Shown) => JsonObject,
): Promise<ToolAnswer> {
  const { session, by, context, options, args } = call;
  const { progress, signal, withdrawn, gone } = context;
  const lines = progress && createLineProgress(progress, options.progressIntervalMs ?? 250);
  const asker = context.asker && new CallAsker(context.asker);
  const run = session.begin(id, { by, signal, withdrawn, asker, ...(lines ? { onOutput: lines.put } : {}) });
  try {
    let ms = 1000 * (args.wait_seconds ?? options.waitSeconds ?? defaultWaitSeconds);
    // The time in which somebody thinks about an answer is given back.
    for (; ms > 0; ms = (await asker?.spentMs()) ?? 0) await session.runs.wait(run.id, { ms, signals: [gone] });
  } finally {
    asker?.end();
    lines?.end();
  }
  const record = session.runs.find(run.id);
  if (record !== undefined && !record.hasEnded) {
    // Nobody waits for it here any more.
    run.result.catch(() => {});
    context.outlivedBy?.(run.result);
    return answerRunning(call, record);
  }
  const result = await run.result;
  const images = createImageCollector(options, session.widgets);
  const outputs = fitOutputs(await images.collect(result.outputs), maxTextCharactersOf(options));
  return { value: toValue({ ...result, outputs }), images: images.blocks };
}

/** Whatever came of the run, the cell is there: the agent has to learn its id. */
async function withCellId<T>(newCellId: string, run: Promise<T>): Promise<T> {
  try {
    return await run;
  } catch (error) {
    if (!(error instanceof NotebookError)) throw error;
    throw new NotebookError(error.code, error.message, { data: { ...error.data, newCellId }, cause: error });
  }
}
