import type { JsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { BrowserResult } from '@notebridge/system/processes/browser';
import type { Environment } from '@notebridge/system/processes/environment';
import type { PageListener } from '../../notebooks/pages/page-listener.js';
import { PageNotebook } from '../../notebooks/pages/page-notebook.js';
import type { Secrets } from '../../notebooks/pages/page-tokens.js';
import { Slot } from '../../notebooks/pages/slot.js';
import type { RunLedger } from '../../notebooks/runs/run-ledger.js';
import type { NotebookEntry } from '../../notebooks/selection/notebook-directory.js';
import { openToolName } from '../../reference/open-tool.js';
import { type LeasedPage, leasePage } from '../notebooks/page/lease-page.js';
import { PageProvider } from '../notebooks/page/page-provider.js';
import type { KeptPage } from './cluster-pages.js';
import type { PageOfHub } from './held-page.js';

export interface ClusterPageOptions {
  /** The port that pages of this hub dial. */
  listener: ConstructorParameters<typeof PageNotebook>[0]['listener'] & Pick<PageListener, 'port'>;
  clientInfo: JsonObject | undefined;
  maxMessageBytes?: number | undefined;
  graceMs?: number | undefined;
  handshakeMs?: number | undefined;
  callTimeoutMs?: number | undefined;
  secrets: Secrets;
  isJournalled: boolean;
  ledger: RunLedger;
  openBrowser: (url: string, timeoutMs: number) => Promise<BrowserResult>;
  connectAddress: () => string;
  env: Environment;
  logger: Logger;
}

/** Makes the notebook of a page that comes from another hub. Its layers are made with its first call: of thousands, few are used at once. */
export function openClusterPage(
  { key, profile, url, allowOrigins, tokens, tools, save }: KeptPage,
  options: ClusterPageOptions,
): PageOfHub {
  const { listener, secrets, logger, env, maxMessageBytes = 64 * 1024 * 1024 } = options;
  const kept = { tokens, tools };
  const slot = new Slot({ profile, logger, allowOrigins, pingMs: 20_000, maxMessageBytes, secrets, kept, save });
  const { clientInfo, graceMs, handshakeMs, callTimeoutMs } = options;
  const voided = (): undefined => undefined;
  const timeouts = { clientInfo, graceMs, handshakeMs, callTimeoutMs };
  const page = new PageNotebook({ ...timeouts, key, slot, listener, url, isRestored: true, voided, openTool: openToolName, logger });
  let made: { provider: PageProvider; leased: LeasedPage } | undefined;
  const open = (): { provider: PageProvider; leased: LeasedPage } => {
    if (made !== undefined) return made;
    const { isJournalled, ledger, openBrowser, connectAddress } = options;
    const server = { port: listener.port, problem: undefined };
    const provider = new PageProvider({ page, server, isJournalled, ledger, openBrowser, connectAddress, logger });
    const { client } = page;
    made = { provider, leased: leasePage({ provider, client, profile, isRunning: () => provider.isRunning, env }) };
    return made;
  };
  const describe = (): Omit<NotebookEntry, 'id'> => {
    const isThere = page.client.isConnected();
    const state = isThere ? (made?.provider.isRunning === true ? 'busy' : 'idle') : 'waiting';
    const missing = isThere ? {} : { missing: `Its page is not connected. ${openToolName} opens it.` };
    const holder = made?.leased.lease.state.holder?.name ?? null;
    return { kind: profile.name, title: page.title, location: url, kernel: null, state, holder, ...missing };
  };
  const close = async (): Promise<void> => {
    made?.leased.close();
    await page.close();
    await made?.provider.close();
  };
  return {
    slot,
    url,
    provider: {
      name: page.provider.name,
      get instructions() {
        return page.provider.instructions;
      },
      request: (method, params, context) => open().leased.provider.request(method, params, context),
      notify: (method, params) => page.provider.notify(method, params),
      subscribe: (listen) => open().leased.provider.subscribe(listen),
      paramHeadersOf: (tool) => page.provider.paramHeadersOf(tool),
    },
    describe,
    endSession: (sessionId) => made?.leased.endSession(sessionId),
    close,
  };
}
