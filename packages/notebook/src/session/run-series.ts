import type { Actor } from '../model/cell.js';
import type { RunStatus } from './run-queue.js';
import type { NotebookSession } from './session.js';

export interface SeriesOptions {
  /** The first and the last cell, both included. Default: of the whole notebook. */
  from?: string | undefined;
  to?: string | undefined;
  by: Actor;
}

/** How a series has ended: `ok`, or as the run at which it ended too early. */
export interface SeriesResult {
  status: RunStatus;
  failedId?: string;
}

/** What ends a series; a cell that is deleted before its turn does not. */
const ends: ReadonlySet<RunStatus> = new Set(['error', 'interrupted', 'failed']);

/**
 * Queues code cells in their order, each with the source that it has now. At the first that does not end well, the rest of the series
 * leaves the queue before anything of it starts; what others have queued stays. Throws `unknown_cell`.
 */
export async function runSeries(session: NotebookSession, { from, to, by }: SeriesOptions): Promise<SeriesResult> {
  const { document } = session;
  const first = from === undefined ? 0 : document.get(from).index;
  const last = to === undefined ? document.cells.length - 1 : document.get(to).index;
  const cells = document.cells.slice(first, last + 1).filter(({ type }) => type === 'code');
  // One each: Node warns of a leak where eleven listen to the same signal.
  const controllers = cells.map(() => new AbortController());
  const own = new Set<number>();
  let result: SeriesResult = { status: 'ok' };
  let isQueueing = true;
  const stopListening = session.onEvent((event) => {
    if (event.type === 'queued' && isQueueing) own.add(event.run.id);
    if (event.type !== 'finished' || !own.has(event.run.id) || result.status !== 'ok' || !ends.has(event.status)) return;
    result = { status: event.status, failedId: event.run.cellId };
    for (const controller of controllers) controller.abort();
  });
  try {
    const runs = cells.map(({ id }, at) => session.run(id, { by, signal: controllers[at]?.signal }));
    isQueueing = false;
    const settled = await Promise.allSettled(runs);
    // Somebody has stopped the notebook, or restarted the kernel.
    if (result.status === 'ok' && settled.length > 0 && settled.at(-1)?.status === 'rejected') result = { status: 'cancelled' };
    return result;
  } finally {
    stopListening();
  }
}
