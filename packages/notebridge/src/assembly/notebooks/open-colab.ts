import { BridgeError } from '../../core/errors.js';
import type { Middleware } from '../../core/middleware.js';
import { UndoMiddleware } from '../../notebooks/changes/undo-middleware.js';
import type { PageProfile } from '../../notebooks/profiles/profile.js';
import { ColabSessionProxy } from '../../reference/colab-session-proxy.js';
import { browserSwitchedOff, type NotebookSetup, type OpenedNotebook } from './open-notebook.js';

/** A notebook page in the browser, of the profile. Rejects with `port_in_use`. */
export async function openColab(
  { config, logger, redactor, serverInfo, pages, pagePort, onRefused }: NotebookSetup,
  profile: PageProfile,
): Promise<OpenedNotebook> {
  const { list = 'static' } = pages;
  const { maxInFlight: _, ...limits } = config.limits;
  const session = new ColabSessionProxy({
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
    ...(pages.openBrowser !== false ? {} : { openBrowser: async () => browserSwitchedOff }),
  });
  await session.startProxyServer();
  const { client, wss, proxyServer } = session;
  if (client === null || wss === null || proxyServer === null) throw new BridgeError('not_started', 'The session proxy did not start.');
  logger.info('Waiting for a notebook page.', { port: wss.port, list });
  // `dynamic` is exactly the reference's behaviour, which has no undo.
  const isJournalled = config.journal && pages.journal !== false && list === 'static';
  const undo: Middleware[] = isJournalled ? [new UndoMiddleware({ client, profileTools: profile.tools, logger })] : [];
  return { provider: proxyServer, middlewares: [...session.middleware, ...undo], close: () => session.cleanup() };
}
