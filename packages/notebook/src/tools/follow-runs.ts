import { parseCursor, toCursor, unfinishedLine } from '@notebridge/kit/output-cursor';
import {
  cursorText,
  defaultPollSeconds,
  earlierLifeText,
  getRunText,
  idleNowText,
  interruptRunText,
  listRunsText,
  noSuchRunText,
  runIdText,
  stillBusyText,
  waitForText,
  waitSeconds,
} from '@notebridge/kit/run-words';
import { NotebookError } from '../model/errors.js';
import type { RunRecord } from '../session/run-log.js';
import type { NotebookSession } from '../session/session.js';
import type { ArgumentSchema } from './arguments.js';
import { answerRun, toRunView } from './run-views.js';
import { defineNotebookTool, looks, type NotebookToolCall, runs } from './tool.js';

/** Lines that come close together are one answer. Milliseconds. */
const gatherMs = 250;

const runId: ArgumentSchema = { type: 'string', description: runIdText };

export const getRun = defineNotebookTool<{ run_id: string; cursor?: string; wait_seconds?: number; wait_for?: 'end' | 'output' }>({
  name: 'get_run',
  description: getRunText,
  properties: {
    run_id: runId,
    cursor: { type: 'string', description: cursorText },
    wait_seconds: waitSeconds(defaultPollSeconds),
    wait_for: {
      type: 'string',
      enum: ['end', 'output'],
      default: 'end',
      description: waitForText,
    },
  },
  required: ['run_id'],
  annotations: { ...looks('Follow a run'), idempotentHint: true },
  async answer(call) {
    const { session, args, context } = call;
    const found = await findOrExplain(call, args.run_id);
    const { id } = found;
    const cursor = args.cursor === undefined ? undefined : parseCursor(args.cursor);
    if (args.cursor !== undefined && cursor === undefined)
      throw new NotebookError('bad_arguments', 'Invalid arguments for get_run: cursor has to be that of an earlier answer, as it was.');
    const signals = [context.signal, context.gone];
    const outputsOf = (record: RunRecord) => session.runs.outputsOf(record) ?? [];
    const lineBefore = unfinishedLine(outputsOf(found));
    const hasSeen = (record: RunRecord) => {
      const outputs = outputsOf(record);
      if (args.cursor === undefined) return outputs.length === 0;
      // A line that is written anew, as a progress bar is, may stay as long as it was.
      return toCursor(outputs, record.clears) === args.cursor && unfinishedLine(outputs) === lineBefore;
    };
    const ms = 1000 * (args.wait_seconds ?? defaultPollSeconds);
    await session.runs.wait(id, { ms, signals, ...(args.wait_for === 'output' ? { isSeen: hasSeen } : {}) });
    if (args.wait_for === 'output') await session.runs.wait(id, { ms: Math.min(ms, gatherMs), signals });
    return answerRun(call, findRun(session, args.run_id), cursor);
  },
});

export const listRuns = defineNotebookTool<Record<string, never>>({
  name: 'list_runs',
  description: listRunsText,
  annotations: { ...looks('List the runs'), idempotentHint: true },
  answer({ session }) {
    const newestFirst = [...session.runs.all()].reverse();
    return { value: { runs: newestFirst.slice(0, maxListed).map((record) => toRunView(session, record)) } };
  },
});

export const interruptRun = defineNotebookTool<{ run_id: string }>({
  name: 'interrupt_run',
  description: interruptRunText,
  properties: { run_id: runId },
  annotations: { ...runs('Interrupt a run'), openWorldHint: false },
  async answer({ session, args, by, context, options }) {
    const { id } = await findOrExplain({ session, options }, args.run_id);
    await session.interruptRun(id, { by });
    await session.runs.wait(id, { ms: endMs, signals: [context.signal, context.gone] });
    return { value: toRunView(session, findRun(session, args.run_id)) };
  },
});

const maxListed = 50;
/** How long an interrupted run may take until it is answered as one that still runs. */
const endMs = 5000;

/** With what is known of the kernel, where it outlives the process that followed the run. */
async function findOrExplain(
  { session, options }: Pick<NotebookToolCall<unknown>, 'session' | 'options'>,
  runId: string,
): Promise<RunRecord> {
  try {
    return findRun(session, runId);
  } catch (error) {
    if (!(error instanceof NotebookError) || !error.message.endsWith(earlierLifeText)) throw error;
    const isBusy = await options.isKernelBusy?.().catch(() => undefined);
    if (isBusy === undefined) throw error;
    throw new NotebookError('unknown_run', `${error.message} ${isBusy ? stillBusyText : idleNowText}`);
  }
}

function findRun(session: NotebookSession, runId: string): RunRecord {
  const { record, isEarlier } = session.runs.findNamed(runId);
  if (record) return record;
  throw new NotebookError('unknown_run', `No run "${runId.slice(0, 60)}". ${isEarlier ? earlierLifeText : noSuchRunText}`);
}
