import { basename } from 'node:path';
import type { NotebookHost } from '@notebridge/notebook/host';
import type { Lease } from '../../../broker/lease.js';
import type { NotebookDescription } from '../../../broker/shared-notebook.js';
import type { WatchedNotebook, WatchedNotebooks } from '../../../notebooks/watched-notebooks.js';
import { watchSession } from '../watch-session.js';

export interface WatchBuiltInOptions {
  id: string;
  /** With links resolved; undefined for one in memory. */
  file: string | undefined;
  /** Undefined where its agents are not kept apart. */
  lease: Lease | undefined;
}

/** The built-in notebook of this process, for the owner of its hub. */
export function watchBuiltIn({ host }: { host: NotebookHost }, { id, file, lease }: WatchBuiltInOptions): WatchedNotebooks {
  const notebook: WatchedNotebook = {
    id,
    describe: () => ({
      kind: 'built-in',
      ...describeBuiltIn(host, file),
      isolation: host.kernelChoice?.isolation ?? null,
      windows: host.openWindows,
      lastCall: lease?.lastCall,
    }),
    lease,
    newAddress: () => host.url,
    ...watchSession(host.session),
  };
  return {
    list: async () => [notebook],
    subscribe: (listener) => {
      const ends = [host.session.onEvent(({ type }) => seenTypes.has(type) && listener()), lease?.changed.add(listener)];
      return () => {
        for (const end of ends) end?.();
      };
    },
  };
}

/** What changes how the notebook stands; outputs and questions do not. */
const seenTypes = new Set<string>(['kernel', 'started', 'finished', 'stopped', 'interrupted', 'restarted']);

/** The built-in notebook as agents and people are told of it. */
export function describeBuiltIn({ session: { kernel, kernelState } }: NotebookHost, file: string | undefined): NotebookDescription {
  const { name, version } = kernel.info;
  const title = file === undefined ? 'Notebook in memory' : basename(file);
  return { title, location: file ?? null, kernel: `${name} ${version}`.trim(), state: kernelState };
}
