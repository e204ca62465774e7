import type { EntryGate } from '@notebridge/system/net/entry-gate';
import { ConnectDoor, type ConnectionView } from '../../../doors/connect/connect-door.js';
import { describeConnection } from '../../../notebooks/connection-state.js';
import type { PageNotebook } from '../../../notebooks/pages/page-notebook.js';
import type { PageServer } from '../../../notebooks/pages/page-server.js';
import { toWays } from '../../../reference/open-advice.js';

/** The page `/connect` of a broker: all its pages, each with what keeps it away. */
export function createBrokerConnect(
  server: () => PageServer | undefined,
  { gate, addSecret }: { gate: EntryGate; addSecret: (secret: string) => void },
): ConnectDoor {
  const notebooks = (): readonly PageNotebook[] => server()?.notebooks ?? [];
  return new ConnectDoor({
    gate,
    views: (browser) =>
      notebooks().map(({ key, title, url, slot, connection }): ConnectionView => {
        const { state } = connection;
        const { token } = slot;
        const port = server()?.port ?? 0;
        const ways = toWays({ slot, token, port }, `${url}#mcpProxyToken=${token}&mcpProxyPort=${port}`);
        return { id: key, title, kind: state.kind, ...describeConnection(state, ways, browser) };
      }),
    onPage: () => {
      for (const { connection } of notebooks()) connection.ownPageAsked();
    },
    addSecret,
    // The log of the port has a line of it; the broker itself keeps no audit.
    onRefused: () => {},
  });
}
