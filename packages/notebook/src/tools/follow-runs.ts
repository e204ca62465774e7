import { parseCursor, seenSoFar } from '@notebridge/protocol/runs/output-cursor';
import { defaultPollSeconds, idleNowText, maxListed, runTools, stillBusyText, wrongCursorText } from '@notebridge/protocol/runs/run-words';
import { NotebookError } from '../model/errors.js';
import type { RunRecord } from '../session/run-log.js';
import { answerRun, toRunView } from './run-views.js';
import { defineNotebookTool, type NotebookToolCall } from './tool.js';

/** Lines that come close together are one answer. Milliseconds. */
const gatherMs = 250;
/** How long an interrupted run may take until it is answered as one that still runs. */
const endMs = 5000;

export const getRun = defineNotebookTool<{ run_id: string; cursor?: string; wait_seconds?: number; wait_for?: 'end' | 'output' }>({
  ...runTools.get,
  async answer(call) {
    const { args, context } = call;
    const { runs } = call.session;
    const found = await findRun(call);
    const cursor = args.cursor === undefined ? undefined : parseCursor(args.cursor);
    if (args.cursor !== undefined && cursor === undefined)
      throw new NotebookError('bad_arguments', `Invalid arguments for get_run: ${wrongCursorText}.`);
    const signals = [context.signal, context.gone];
    const ms = 1000 * (args.wait_seconds ?? defaultPollSeconds);
    if (args.wait_for === 'output') {
      const isSeen = seenSoFar(args.cursor, runs.outputsOf(found) ?? []);
      await runs.wait(found.id, { ms, signals, isSeen: (record) => isSeen(runs.outputsOf(record) ?? [], record.clears) });
    }
    await runs.wait(found.id, { ms: args.wait_for === 'output' ? Math.min(ms, gatherMs) : ms, signals });
    return answerRun(call, await findRun(call), cursor);
  },
});

export const listRuns = defineNotebookTool<Record<string, never>>({
  ...runTools.list,
  answer({ session }) {
    const newestFirst = [...session.runs.all()].reverse();
    return { value: { runs: newestFirst.slice(0, maxListed).map((record) => toRunView(session, record)) } };
  },
});

export const interruptRun = defineNotebookTool<{ run_id: string }>({
  ...runTools.interrupt,
  async answer(call) {
    const { session, by, context } = call;
    const { id } = await findRun(call);
    await session.interruptRun(id, { by });
    await session.runs.wait(id, { ms: endMs, signals: [context.signal, context.gone] });
    return { value: toRunView(session, await findRun(call)) };
  },
});

/** Of one that is not known, the error says what is known of the kernel, where that outlives the process that followed the run. */
async function findRun({ session: { runs }, options, args }: NotebookToolCall<{ run_id: string }>): Promise<RunRecord> {
  const record = runs.findNamed(args.run_id);
  if (record) return record;
  const isBusy = runs.isEarlier(args.run_id) ? await options.isKernelBusy?.().catch(() => undefined) : undefined;
  const ofKernel = isBusy === undefined ? '' : ` ${isBusy ? stillBusyText : idleNowText}`;
  throw new NotebookError('unknown_run', runs.explainUnknown(args.run_id) + ofKernel);
}
