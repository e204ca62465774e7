import { BridgeError } from '../../core/errors.js';
import type { Middleware } from '../../core/middleware.js';
import { UndoMiddleware } from '../../notebooks/changes/undo-middleware.js';
import type { PageProfile } from '../../notebooks/profiles/profile.js';
import { ColabSessionProxy } from '../../reference/colab-session-proxy.js';
import { browserSwitchedOff, type HubSetup, type NotebookSource } from '../hub-setup.js';

/** A notebook page in the browser, of the profile. Rejects with `port_in_use`. */
export async function openColab(
  { options, config, logger, redactor, serverInfo, pages, onRefused }: HubSetup,
  profile: PageProfile,
): Promise<NotebookSource> {
  const { maxInFlight: _, ...limits } = config.limits;
  const session = new ColabSessionProxy({
    ...limits,
    profile,
    logger,
    secrets: redactor,
    clientInfo: serverInfo,
    port: options.port,
    at: pages,
    onRefused,
    list: options.list,
    allowHosts: options.allowHost,
    allowOrigins: options.allowOrigin,
    ...(options.browser ? {} : { openBrowser: async () => browserSwitchedOff }),
  });
  await session.startProxyServer();
  const { client, wss, proxyServer } = session;
  if (client === null || wss === null || proxyServer === null) throw new BridgeError('not_started', 'The session proxy did not start.');
  logger.info('Waiting for a notebook page.', { port: wss.port, list: options.list });
  // `dynamic` is the reference's behaviour to the letter, which has no undo.
  const isJournalled = config.journal && options.journal && options.list === 'static';
  const undo: Middleware[] = isJournalled ? [new UndoMiddleware({ client, profileTools: profile.tools, logger })] : [];
  return { provider: proxyServer, middlewares: [...session.middleware, ...undo], close: () => session.cleanup() };
}
