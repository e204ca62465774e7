import { join } from 'node:path';
import { describeConnection } from '../../core/connection-state.js';
import { BridgeError } from '../../core/errors.js';
import type { Middleware } from '../../core/middleware.js';
import type { Provider } from '../../core/provider.js';
import { ConnectDoor } from '../../doors/connect/connect-door.js';
import { UndoMiddleware } from '../../notebooks/changes/undo-middleware.js';
import { FitOutputsMiddleware } from '../../notebooks/outputs/fit-outputs-middleware.js';
import type { PageClient } from '../../notebooks/pages/page-client.js';
import type { PageProfile } from '../../notebooks/profiles/profile.js';
import { PageRuns } from '../../notebooks/runs/page-runs.js';
import { RunLedger } from '../../notebooks/runs/run-ledger.js';
import { ownUserId } from '../../processes/own-user.js';
import { ColabSessionProxy } from '../../reference/colab-session-proxy.js';
import { browserSwitchedOff, type NotebookSetup, type OpenedNotebook } from './open-notebook.js';

/** A notebook page in the browser, of the profile. Rejects with `port_in_use`. */
export async function openColab(
  { config, logger, redactor, serverInfo, pages, pagePort, onRefused, stateDir }: NotebookSetup,
  profile: PageProfile,
): Promise<OpenedNotebook> {
  const { list = 'static' } = pages;
  const { maxInFlight: _, ...limits } = config.limits;
  const connect = new ConnectDoor({
    views: (browser) => {
      const { state, ways } = session.connection ?? {};
      if (state === undefined || ways === undefined) return [];
      return [{ id: profile.name, title: profile.title, kind: state.kind, ...describeConnection(state, ways, browser) }];
    },
    onPage: () => session.client?.connection.ownPageAsked(),
    addSecret: (secret) => redactor.add(secret),
    onRefused,
  });
  const session: ColabSessionProxy = new ColabSessionProxy({
    ...limits,
    profile,
    logger,
    secrets: redactor,
    clientInfo: serverInfo,
    port: pages.port ?? 0,
    at: pagePort,
    onRefused,
    list,
    allowHosts: pages.allowHosts,
    allowOrigins: pages.allowOrigins,
    answerPlain: (request, response) => connect.answer(request, response),
    connectAddress: () => connect.newAddress(`http://localhost:${session.wss?.port}`),
    ...(pages.openBrowser !== false ? {} : { openBrowser: async () => browserSwitchedOff }),
  });
  await session.startProxyServer();
  const { client, wss, proxyServer } = session;
  if (client === null || wss === null || proxyServer === null) throw new BridgeError('not_started', 'The session proxy did not start.');
  logger.info('Waiting for a notebook page.', { port: wss.port, list });
  // `dynamic` is exactly the reference's behaviour, which has no undo, and cuts nothing.
  const isJournalled = config.journal && pages.journal !== false && list === 'static';
  const undo: Middleware[] = isJournalled ? [new UndoMiddleware({ client, profileTools: profile.tools, logger })] : [];
  const fit: Middleware[] = pages.outputs !== 'whole' && list === 'static' ? [new FitOutputsMiddleware({ logger })] : [];
  // Nor has it runs that outlive their calls.
  const runs = list === 'static' ? openPageRuns(proxyServer, { client, stateDir, logger }) : undefined;
  const close = async (): Promise<void> => {
    await runs?.close();
    await session.cleanup();
  };
  return { provider: runs ?? proxyServer, middlewares: [...session.middleware, ...undo, ...fit], close };
}

function openPageRuns(
  page: Provider,
  { client, stateDir, logger }: { client: PageClient } & Pick<NotebookSetup, 'stateDir' | 'logger'>,
): PageRuns {
  const ledger = new RunLedger({ dir: join(stateDir, 'page-runs'), uid: ownUserId(), logger });
  return new PageRuns(page, { connectionChanged: client.connectionChanged, ledger });
}
