import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Middleware } from '@notebridge/protocol/core/middleware';
import type { Provider } from '@notebridge/protocol/core/provider';
import { EntryGate } from '@notebridge/system/net/entry-gate';
import type { BrowserResult } from '@notebridge/system/processes/browser';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { ConnectDoor } from '../../../doors/connect/connect-door.js';
import { openAddress } from '../../../identity/open-address.js';
import { acceptTypedCodes } from '../../../identity/typed-codes.js';
import { LayeredProvider } from '../../../middleware/layered-provider.js';
import { describeConnection } from '../../../notebooks/connection-state.js';
import { WholeOutputsMiddleware } from '../../../notebooks/outputs/whole-outputs-middleware.js';
import type { PageClient } from '../../../notebooks/pages/page-client.js';
import type { PageProfile } from '../../../notebooks/profiles/profile.js';
import { PageRuns } from '../../../notebooks/runs/page-runs.js';
import { RunLedger } from '../../../notebooks/runs/run-ledger.js';
import { runToolName } from '../../../notebooks/runs/run-tools.js';
import type { NotebookEntry } from '../../../notebooks/selection/notebook-directory.js';
import type { WatchedNotebooks } from '../../../notebooks/watched-notebooks.js';
import { ColabSessionProxy } from '../../../reference/colab-session-proxy.js';
import { openToolName } from '../../../reference/open-tool.js';
import type { PageOfHub } from '../../cluster/held-page.js';
import type { SharedPage } from '../../cluster/share-page.js';
import { addSelection } from '../add-selection.js';
import { browserSwitchedOff, type NotebookSetup, type OpenedNotebook } from '../open-notebook.js';
import { type LeasedPage, leasePage } from './lease-page.js';
import { pageLayers } from './page-layers.js';
import { watchPage } from './watch-page.js';

/** A notebook page in the browser, of the profile. Rejects with `port_in_use`. */
export async function openColab(setup: NotebookSetup, profile: PageProfile): Promise<OpenedNotebook> {
  const { config, logger, redactor, serverInfo, pages, pagePort, onRefused, stateDir, recorder } = setup;
  const { list = 'static' } = pages;
  const { maxInFlight: _, ...limits } = config.limits;
  const gate = new EntryGate({ typed: acceptTypedCodes(stateDir) });
  const connect = new ConnectDoor({
    gate,
    views: (browser) => {
      const { state, ways } = session.connection ?? {};
      if (state === undefined || ways === undefined) return [];
      return [{ id: profile.name, title: profile.title, kind: state.kind, ...describeConnection(state, ways, browser) }];
    },
    onPage: () => session.client?.connection.ownPageAsked(),
    addSecret: (secret) => redactor.add(secret),
    onRefused,
  });
  const { clusterPages } = setup;
  let shared: SharedPage | undefined;
  const session: ColabSessionProxy = new ColabSessionProxy({
    ...limits,
    profile,
    logger,
    secrets: redactor,
    clientInfo: serverInfo,
    record: recorder?.record,
    port: pages.port ?? 0,
    at: pagePort,
    onRefused,
    list,
    allowHosts: pages.allowHosts,
    allowOrigins: pages.allowOrigins,
    ...(clusterPages && { finder: clusterPages, save: async () => shared?.save() ?? false }),
    gate,
    answerPlain: (request, response) => connect.answer(request, response),
    connectAddress: () => connect.newAddress(`http://localhost:${session.wss?.port}`),
    ...(pages.openBrowser !== false ? {} : { openBrowser: async () => browserSwitchedOff }),
  });
  await session.startProxyServer();
  const { client, wss, proxyServer } = session;
  if (client === null || wss === null || proxyServer === null) throw new BridgeError('not_started', 'The session proxy did not start.');
  logger.info('Waiting for a notebook page.', { port: wss.port, list });
  // `dynamic` is exactly the reference's behaviour, which reads nothing before a change, has no undo, and cuts nothing.
  const isJournalled = config.journal && pages.journal !== false;
  const isWhole = pages.outputs === 'whole';
  const { layers, undo } =
    list === 'static' ? pageLayers({ client, profile, isJournalled, isWhole, logger }) : { layers: [], undo: undefined };
  // Nor has it runs that outlive their calls.
  const runs = list === 'static' ? openPageRuns(proxyServer, { client, stateDir, logger }) : undefined;
  const close = async (): Promise<void> => {
    await runs?.close();
    await session.cleanup();
  };
  const laterTools = profile.tools.map(({ name }) => name);
  let id: Promise<string> | undefined;
  // The page may show any notebook: its id is of this life of the process.
  const findId = (): Promise<string> => {
    id ??= import('../../../broker/notebook-ids.js').then(({ idFor }) => idFor(stateDir, { kind: 'page', profile: profile.name }));
    return id;
  };
  const isRunning = runs && (() => runs.isRunning);
  const toWatched = (lease: LeasedPage['lease'] | undefined): WatchedNotebooks =>
    watchPage({ session, client, findId, isRunning, lease, undo, connectAddress: (origin) => connect.newAddress(origin) });
  const page: OpenedNotebook = {
    provider: runs ?? proxyServer,
    middlewares: [...session.middleware, ...layers],
    laterTools,
    close,
  };
  const { hold = 'own' } = pages;
  const whole = isWhole && list === 'static' ? [new WholeOutputsMiddleware()] : [];
  if (hold === 'own' || runs === undefined) return { ...page, middlewares: [...whole, ...page.middlewares], watched: toWatched(undefined) };
  const connectAddress = (): string => connect.newAddress(`http://localhost:${wss.port}`);
  const share =
    clusterPages &&
    (async (own: Omit<PageOfHub, 'slot'>) => {
      const { sharePage } = await import('../../cluster/share-page.js');
      shared = sharePage(
        clusterPages,
        { ...own, slot: wss.slot },
        { ...toClusterPage(setup), listener: wss, isJournalled, connectAddress },
      );
      return shared;
    });
  return besideOthers(setup, page, { profile, client, runs, whole, findId, toWatched, share });
}

interface BesideOthers {
  profile: PageProfile;
  client: PageClient;
  runs: PageRuns;
  /** Marks calls of agents that want outputs whole. */
  whole: readonly Middleware[];
  findId: () => Promise<string>;
  toWatched: (lease: LeasedPage['lease'] | undefined) => WatchedNotebooks;
  /** In a cluster: has all hubs know of the page. */
  share: ((own: Omit<PageOfHub, 'slot'>) => Promise<SharedPage>) | undefined;
}

/** The page stays with this process and is as it is alone; the layers around it see nothing of what goes to other notebooks. */
async function besideOthers(
  setup: NotebookSetup,
  page: OpenedNotebook,
  { profile, client, runs, whole, findId, toWatched, share }: BesideOthers,
): Promise<OpenedNotebook> {
  const layered = new LayeredProvider(page.provider, page.middlewares);
  // Where this process is a hub there may be several agents.
  const isShared = setup.pages.hold === 'shared';
  const leased = isShared ? leasePage({ provider: layered, client, profile, isRunning: () => runs.isRunning, env: setup.env }) : undefined;
  const provider = leased?.provider ?? layered;
  const close = async (): Promise<void> => {
    // First, while other hubs are still told of it.
    await shared?.close();
    leased?.close();
    layered.close();
    await page.close();
  };
  const describe = (): Omit<NotebookEntry, 'id'> => {
    const isThere = client.isConnected();
    const { title, defaultUrl: location } = profile;
    const state = isThere ? (runs.isRunning ? 'busy' : 'idle') : 'waiting';
    const missing = isThere ? {} : { missing: `Its page is not connected. ${openToolName} opens it.` };
    return { kind: profile.name, title, location, kernel: null, state, holder: leased?.lease.state.holder?.name ?? null, ...missing };
  };
  const endOwn = leased?.endSession;
  const shared = await share?.({
    url: profile.defaultUrl,
    provider,
    describe,
    endSession: (sessionId) => endOwn?.(sessionId),
    close: () => client.close(),
  });
  const endSession = shared?.endSession ?? endOwn;
  return addSelection(
    setup,
    {
      provider: shared?.provider ?? provider,
      middlewares: whole,
      ...(endSession === undefined ? {} : { endSession }),
      watched: toWatched(leased?.lease),
      close,
    },
    {
      findId: shared === undefined ? findId : () => shared.id,
      describe: shared?.describe ?? describe,
      // A page's own list stays as it is, unless it is a notebook's.
      listedBeside: runToolName,
      lastingTools: new Set([openToolName]),
    },
  );
}

/** How pages that come from other hubs are opened: as the broker does. */
function toClusterPage({ config, serverInfo, redactor, env, pages, stateDir, logger }: NotebookSetup) {
  const { maxInFlight: _, ...limits } = config.limits;
  const open = (url: string, timeoutMs: number): Promise<BrowserResult> => openAddress(url, { env, timeoutMs });
  const ledger = new RunLedger({ dir: join(stateDir, 'page-runs'), uid: ownUserId(), logger });
  const openPage = pages.openBrowser === false ? async () => browserSwitchedOff : open;
  return { ...limits, clientInfo: serverInfo, secrets: redactor, env, ledger, openBrowser: openPage, logger };
}

function openPageRuns(
  page: Provider,
  { client, stateDir, logger }: { client: PageClient } & Pick<NotebookSetup, 'stateDir' | 'logger'>,
): PageRuns {
  const ledger = new RunLedger({ dir: join(stateDir, 'page-runs'), uid: ownUserId(), logger });
  return new PageRuns(page, { connectionChanged: client.connectionChanged, ledger });
}
