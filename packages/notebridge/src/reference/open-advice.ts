import { sshForwardHint } from '@notebridge/system/processes/environment';
import {
  type ConnectionState,
  type ConnectionStep,
  type ConnectionWays,
  describeConnection,
  printConnection,
  printStep,
  waysToOpen,
} from '../notebooks/connection-state.js';
import type { ColabProxyClient } from './colab-proxy-client.js';
import type { ColabWebSocketServer } from './colab-web-socket-server.js';
import type { PageOpener } from './page-opener.js';

export interface OpenAdviceOptions {
  state: ConnectionState;
  ways: ConnectionWays;
  /** Seconds that were waited. */
  waitedSeconds: number;
  /** A one-time address of the page that shows the same live. */
  liveAddress: string | undefined;
}

/** How a page connects to a socket server. `url`: that of the page, token included. */
export function toWays({ slot, token, port }: Pick<ColabWebSocketServer, 'slot' | 'token' | 'port'>, url: string): ConnectionWays {
  const { title, origins, keepsToken } = slot.profile;
  const origin = origins[0] ?? new URL(url).origin;
  return { title, origin, port, url, code: keepsToken === true ? `${token}&${port}` : undefined, sshLine: sshForwardHint(port) };
}

/** What a person can do when no page has connected: why, as far as we know, and every way that is left. */
export function toOpenAdvice({ state, ways, waitedSeconds, liveAddress }: OpenAdviceOptions): string {
  const { text, steps } = describeConnection(state, ways);
  const elsewhere: ConnectionStep = { text: 'If the browser runs on another machine, run there first:', copy: ways.sshLine };
  const copies = new Set(steps.map(({ copy }) => copy));
  const more = [...waysToOpen(ways), elsewhere].filter(({ copy }) => !copies.has(copy));
  const live: ConnectionStep[] =
    liveAddress === undefined ? [] : [{ text: 'To see live what is missing (opens once, within 15 minutes):', copy: liveAddress }];
  return [
    waitedSeconds === 0 ? 'The Colab page is not connected yet.' : `No Colab page connected within ${waitedSeconds} s.`,
    text,
    'Ways to connect:',
    ...[...steps, ...more, ...live].map(printStep),
    'Then call open_colab_browser_connection again, or any notebook tool.',
  ].join('\n');
}

/** What an agent should know of a page that is connected; mostly nothing. */
export function toConnectedNote({ connection, wss }: ColabProxyClient, opener: PageOpener): string | undefined {
  const { state } = connection;
  if (state.kind !== 'busy' && state.kind !== 'no_tools') return undefined;
  return printConnection(describeConnection(state, toWays(wss, opener.addressOf(wss))));
}
