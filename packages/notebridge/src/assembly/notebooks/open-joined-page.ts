import { JoinedNotebook } from '../../broker/joined-notebook.js';
import { reachHost } from '../../broker/reach-host.js';
import { nameOfAgent } from '../../notebooks/call-notebook-tool.js';
import { AgentWatchMiddleware } from '../../notebooks/local/agent-watch.js';
import { ownVersion } from '../../state/own-files.js';
import { toHow } from './open-joined.js';
import type { NotebookSetup, OpenedNotebook } from './open-notebook.js';
import { toTerms } from './page-options.js';
import { createSelection, howForPage } from './select-notebooks.js';
import { startBroker } from './start-broker.js';

/**
 * A page that the user's broker holds: it stays connected when this process ends, and the next agent finds it. Agents that name one URL share
 * its page. Does not wait for the broker; calls do.
 */
export async function openJoinedPage(setup: NotebookSetup, { profile, url }: { profile: string; url: string }): Promise<OpenedNotebook> {
  const { stateDir: dir, logger, pages, env } = setup;
  const how = toHow(setup);
  const joined = new JoinedNotebook({
    connect: (createHandler) =>
      reachHost({ dir, version: ownVersion(), file: undefined, startBroker: () => startBroker(setup), logger }, createHandler),
    open: {
      address: { kind: 'page', profile, url },
      ...toTerms(pages, false),
      how: { ...how, ...howForPage(how, env) },
    },
    instructions: 'Works in a notebook that a person has open in a page. It stays connected when this agent ends.',
    windowTool: undefined,
    // Its page is no window of ours: a tool of the broker opens it.
    showWindow: () => Promise.resolve({ content: [] }),
    nameOfAgent,
    tools: undefined,
    logger,
  });
  joined.join().catch((error: unknown) => logger.warn(String(error)));
  const selection = createSelection(setup, { first: joined, readOnly: false, how });
  const close = async (): Promise<void> => {
    await Promise.all([selection.close(), joined.close()]);
  };
  return { provider: selection, middlewares: [new AgentWatchMiddleware((agents) => joined.showAgents(agents))], close };
}
