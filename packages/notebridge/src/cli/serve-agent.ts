import { serveStdio } from '../doors/mcp/stdio.js';
import { openAgentHub } from './agent-hub.js';
import { type HubSetup, type NotebookSource, untilSignal } from './hub-setup.js';

/** Serves one agent on stdio until it closes its end, a signal comes, or a person ends it; then closes everything. */
export async function serveAgent(setup: HubSetup, openSource: (setup: HubSetup) => Promise<NotebookSource>): Promise<void> {
  const { config, logger } = setup;
  const { host, source, close } = await openAgentHub(setup, openSource);
  try {
    const door = serveStdio(host, { maxMessageLength: config.limits.maxMessageBytes, maxInFlight: config.limits.maxInFlight });
    logger.info('Serving an agent over stdio.');
    await Promise.race([door.closed, untilSignal(), ...(source.ended === undefined ? [] : [source.ended])]);
    door.close();
    await door.closed;
  } finally {
    await close();
  }
}
