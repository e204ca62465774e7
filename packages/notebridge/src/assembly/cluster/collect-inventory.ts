import type { HubInventory } from '@notebridge/cluster/inventory-messages';
import type { ToolServers } from '@notebridge/protocol/core/tool-server';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import type { NotebookDirectory, NotebookList } from '../../notebooks/selection/notebook-directory.js';
import { isPageId } from './page-records.js';

export interface OwnOfHub {
  servers: Pick<ToolServers, 'all'> | undefined;
  /** Its notebooks. Undefined: it serves none. */
  directory: Pick<NotebookDirectory, 'list'> | undefined;
}

/** Who asks waits for it; a process that holds notebooks may have been stopped. Milliseconds. */
const listMs = 1500;

/** What this hub has and does not claim: its own instances of servers, and its notebooks. */
export async function collectInventory({ servers, directory }: OwnOfHub): Promise<HubInventory> {
  const own = (servers?.all() ?? []).filter(({ placement, status }) => placement !== 'one' && status !== 'disabled');
  const { entries, silent } = await listSoon(directory);
  return {
    servers: own.map(({ name, placement = 'each', status }) => ({ name, about: { placement, status } })),
    notebooks: entries
      .filter(({ id }) => !isPageId(id))
      .map(({ id, kind, title, location, state, holder }) => ({ name: id, about: { kind, title, location, state, holder } })),
    silent: [...silent],
  };
}

async function listSoon(directory: OwnOfHub['directory']): Promise<NotebookList> {
  const listed = directory?.list() ?? Promise.resolve({ entries: [], silent: [] });
  if (await settlesWithin(listed, listMs)) return listed;
  return { entries: [], silent: ['Its notebooks could not be listed in time.'] };
}
