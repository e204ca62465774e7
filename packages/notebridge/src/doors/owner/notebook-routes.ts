import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import type { HoldingProcess, NotebooksElsewhere } from '../../broker/ask-host.js';
import type { WatchedChange, WatchedLease, WatchedNotebook, WatchedNotebooks } from '../../notebooks/watched-notebooks.js';
import type { HttpContext } from '../http/http-context.js';
import type { OwnerAnswers } from './owner-routes.js';
import type { OwnerBody } from './owner-schemas.js';

export interface OwnedNotebooks {
  /** Undefined: the hub has none, or not yet. */
  notebooks: () => WatchedNotebooks | undefined;
  /** What other processes of the user hold, as `notebridge ps` has it. */
  elsewhere: Pick<NotebooksElsewhere, 'list' | 'release' | 'end'>;
}

/** The notebooks of this hub and of other processes. All but the lists reject with `bad_params` where there is no such notebook, or it does not have what is asked for. */
export function notebookAnswers({ notebooks, elsewhere }: OwnedNotebooks) {
  const all = async (): Promise<readonly WatchedNotebook[]> => (await notebooks()?.list()) ?? [];
  const find = async ({ params: [id = ''] }: HttpContext): Promise<WatchedNotebook> => {
    const found = (await all()).find((notebook) => notebook.id === id);
    if (found !== undefined) return found;
    throw new BridgeError('bad_params', `This hub holds no notebook ${quote(id)} (any more). See: GET /api/v1/hub/notebooks`);
  };
  return {
    listNotebooks: async () => ({ notebooks: (await all()).map(describeNotebook) }),
    newNotebookAddress: async (context) => {
      const { newAddress } = await find(context);
      if (newAddress === undefined) throw cannot('has no window of ours: open it by its own address');
      // A page that is reached under another name is another site to the browser.
      return { address: newAddress(`http://${context.request.headers.host}`) };
    },
    releaseNotebook: async (context) => ({ holder: leaseOf(await find(context)).release() ?? null }),
    setMayHold: async (context, read) => {
      const lease = leaseOf(await find(context));
      const { agent, may_hold: may } = await read('The body must be {"agent":"ID","may_hold":false}, or true.');
      if (lease.nameOf(agent) === undefined)
        throw new BridgeError(
          'bad_params',
          `No agent ${quote(agent)} works in this notebook (any more). See "lease" of GET /api/v1/hub/notebooks`,
        );
      lease.setMayHold(agent, may);
      return { lease: describeLease(lease) };
    },
    answerAgent: async (context, read) => {
      const lease = leaseOf(await find(context));
      const { question, yes } = await read('The body must be {"question":NUMBER,"yes":true}, or false.');
      if (!lease.answer(question, yes)) throw new BridgeError('bad_params', 'Nobody asks that any more. Nothing was changed.');
      return { lease: describeLease(lease) };
    },
    disconnectPage: async (context) => {
      const { disconnectPage } = await find(context);
      if (disconnectPage === undefined) throw cannot('is no page');
      return { disconnected: disconnectPage() };
    },
    undoChange: async (context) => {
      const { undo, lastChange } = await find(context);
      if (undo === undefined) throw cannot('keeps no changes that could be taken back');
      const change = lastChange?.();
      await undo();
      return { undone: describeChange(change) };
    },
    stopRuns: async (context) => {
      const { stopRuns, describe } = await find(context);
      if (stopRuns === undefined) throw cannot('runs its code where this hub cannot stop it: do it in its page');
      await stopRuns();
      return { state: describe().state };
    },
    restartKernel: async (context) => {
      const { restartKernel, describe } = await find(context);
      if (restartKernel === undefined) throw cannot('has its own kernel, which this hub cannot restart: do it in its page');
      await restartKernel();
      return { state: describe().state };
    },
    // From here they are released and ended; all else is done in their windows.
    listElsewhere: async () => ({ processes: (await elsewhere.list()).map(describeProcess) }),
    releaseElsewhere: async ({ params: [id = ''] }) => ({ holder: await elsewhere.release(id) }),
    /** Rejects with `not_saved` where something would be lost, unless `force` is true. */
    endElsewhere: async ({ params: [id = ''] }, read) => {
      const { force = false } = await read('"force" must be true or false.');
      await elsewhere.end(id, force);
      return { ended: true };
    },
  } satisfies Partial<OwnerAnswers>;
}

function describeNotebook(notebook: WatchedNotebook): OwnerBody<'Notebooks'>['notebooks'][number] {
  const { id, lease, newAddress, disconnectPage, stopRuns, restartKernel, lastChange, undo } = notebook;
  const { lastCall, page, ...facts } = notebook.describe();
  const can = { address: newAddress, release: lease, disconnect: disconnectPage, stop: stopRuns, restart: restartKernel, undo };
  return {
    id,
    ...facts,
    page: page === undefined ? null : { ...page, since: page.since === null ? null : toTime(page.since) },
    lease: lease === undefined ? null : describeLease(lease),
    last_change: describeChange(lastChange?.()),
    last_call: lastCall === undefined ? null : { agent: lastCall.agent ?? null, at: toTime(lastCall.at) },
    can: Object.entries(can).flatMap(([name, does]) => (does === undefined ? [] : [name])),
  };
}

function describeChange(change: WatchedChange | undefined): OwnerBody<'Undone'>['undone'] {
  return change === undefined ? null : { change: change.change, cell_id: change.cellId, agent: change.agent ?? null };
}

function describeLease(lease: WatchedLease): OwnerBody<'OfLease'>['lease'] {
  const { holder, asking, barred } = lease.state;
  return {
    holder: holder && { ...holder, since: toTime(holder.since) },
    asking: asking.map(({ questionId, id, name, reason }) => ({ question: questionId, id, name, reason: reason ?? null })),
    barred: barred.map((id) => ({ id, name: lease.nameOf(id) ?? null })),
  };
}

function describeProcess({ startedAt, ...held }: HoldingProcess): OwnerBody<'Processes'>['processes'][number] {
  return { ...held, started_at: toTime(startedAt) };
}

function toTime(at: number): string {
  return new Date(at).toISOString();
}

function leaseOf({ lease }: WatchedNotebook): WatchedLease {
  if (lease !== undefined) return lease;
  throw cannot('has no lease: the agents of this hub are not kept apart in it');
}

function cannot(why: string): BridgeError {
  return new BridgeError('bad_params', `This notebook ${why}.`);
}
