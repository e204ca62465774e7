import { PageProvider } from '../../src/assembly/notebooks/page/page-provider.js';
import { RunLedger } from '../../src/notebooks/runs/run-ledger.js';
import { createNodeColabPage } from '../fixtures/colab-page/node-page.js';
import { PageServers } from '../support/page-servers.js';
import type { NotebookKind, TextCell } from './notebook-kind.js';

const logger = { debug() {}, info() {}, warn() {}, error() {} };

/** The stand-in of Colab's page, over a real socket, as the broker holds it. */
export async function openColabKind(): Promise<NotebookKind> {
  const servers = new PageServers();
  const server = await servers.open();
  const page = await server.open({ key: 'page', profile: 'colab' });
  const tab = createNodeColabPage({ port: server.port, token: page.slot.token });
  await tab.whenState('connected');
  await page.client.waitUntilConnected(10_000);
  const provider = new PageProvider({
    page,
    server,
    isJournalled: true,
    ledger: new RunLedger({ dir: servers.dir, uid: undefined, logger }),
    openBrowser: async () => ({ opened: true, by: 'test' }),
    connectAddress: () => '',
    logger,
  });
  const { notebook } = tab.page;
  const cells = (): TextCell[] => notebook.cells.map(({ id, source }) => ({ id, source: source.join('') }));
  const { addCell, updateCell, deleteCell, moveCell } = notebook;
  const kind: NotebookKind = {
    provider,
    cells,
    person: {
      edit: updateCell,
      add: (index, text) => void addCell(index, { cellType: 'code', text }),
      remove: deleteCell,
      move: moveCell,
    },
    onAgentWrite: () => {},
    window: new Set(['update_cell', 'delete_cell', 'undo_last_change']),
    async [Symbol.asyncDispose]() {
      await provider.close();
      tab.close();
      await servers[Symbol.asyncDispose]();
    },
  };
  // A change by the page's tools is a write of an agent.
  const watched =
    <Args extends unknown[], Result>(change: (...args: Args) => Result) =>
    (...args: Args): Result => {
      const before = cells();
      const result = change(...args);
      kind.onAgentWrite(before, cells());
      return result;
    };
  Object.assign(notebook, { updateCell: watched(updateCell), deleteCell: watched(deleteCell) });
  return kind;
}
