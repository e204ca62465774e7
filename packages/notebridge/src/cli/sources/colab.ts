import { BridgeError } from '../../core/errors.js';
import type { PageProfile } from '../../notebooks/profiles/profile.js';
import { ColabSessionProxy } from '../../reference/colab-session-proxy.js';
import { browserSwitchedOff, type HubSetup, type NotebookSource } from '../hub-setup.js';

/** A notebook page in the browser, of the profile. Rejects with `port_in_use`. */
export async function openColab(
  { options, config, logger, redactor, serverInfo }: HubSetup,
  profile: PageProfile,
): Promise<NotebookSource> {
  const { maxInFlight: _, ...limits } = config.limits;
  const session = new ColabSessionProxy({
    ...limits,
    profile,
    logger,
    clientInfo: serverInfo,
    port: options.port,
    list: options.list,
    allowHosts: options.allowHost,
    allowOrigins: options.allowOrigin,
    ...(options.browser ? {} : { openBrowser: async () => browserSwitchedOff }),
  });
  await session.startProxyServer();
  if (session.wss === null || session.proxyServer === null) throw new BridgeError('not_started', 'The session proxy did not start.');
  redactor.add(session.wss.token);
  logger.info('Waiting for a notebook page.', { port: session.wss.port, list: options.list });
  return { provider: session.proxyServer, middlewares: session.middleware, close: () => session.cleanup() };
}
