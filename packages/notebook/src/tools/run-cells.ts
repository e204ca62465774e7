import { NotebookError } from '../model/errors.js';
import type { RunResult } from '../run-queue.js';
import { cellId, cellIndex } from './cell-arguments.js';
import { fitOutputs } from './fit-outputs.js';
import { createLineProgress } from './last-line.js';
import { createImageCollector, maxTextCharactersOf } from './output-content.js';
import { defineNotebookTool, type NotebookToolCall, runs } from './tool.js';

export const runCodeCell = defineNotebookTool<{ cellId: string }>({
  name: 'run_code_cell',
  description:
    'Runs a code cell and waits until it has finished. Answers {"outputs"} in nbformat; code that fails gives an output of type "error". PNG and JPEG images come as image blocks.',
  properties: { cellId },
  annotations: runs('Run a code cell'),
  async answer(call) {
    const { outputs } = await runCell(call, call.args.cellId);
    const images = createImageCollector(call.options);
    return { value: { outputs: fitOutputs(images.collect(outputs), maxTextCharactersOf(call.options)) }, images: images.blocks };
  },
});

export const runCode = defineNotebookTool<{ code: string; cellIndex?: number }>({
  name: 'run_code',
  description:
    'Adds a code cell, runs it and waits until it has finished, in one call. Answers {"newCellId", "status", "execution_count", "outputs"}; "status" is "ok", "error" or "interrupted". PNG and JPEG images come as image blocks.',
  properties: {
    code: { type: 'string', description: 'The source of the new cell.' },
    cellIndex: { ...cellIndex, description: 'Position of the new cell, from 0. Default: the end of the notebook.' },
  },
  required: ['code'],
  annotations: runs('Run code in a new cell'),
  async answer(call) {
    const { session, args, by, options } = call;
    const { id } = session.document.insert(args.cellIndex ?? session.document.cells.length, { type: 'code', source: args.code }, { by });
    const { status, executionCount, outputs } = await withCellId(id, runCell(call, id));
    const images = createImageCollector(options);
    return {
      value: {
        newCellId: id,
        status,
        execution_count: executionCount,
        outputs: fitOutputs(images.collect(outputs), maxTextCharactersOf(options)),
      },
      images: images.blocks,
    };
  },
});

async function runCell({ session, by, context, options }: NotebookToolCall<unknown>, id: string): Promise<RunResult> {
  const { progress, signal } = context;
  if (!progress) return session.run(id, { by, signal });
  const lines = createLineProgress(progress, options.progressIntervalMs ?? 250);
  try {
    return await session.run(id, { by, signal, onOutput: lines.put });
  } finally {
    lines.end();
  }
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
