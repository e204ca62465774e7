import { openSelection } from '../add-selection.js';
import { createJoined } from '../create-joined.js';
import type { NotebookSetup, OpenedNotebook } from '../open-notebook.js';
import { UserNotebooks } from '../user-notebooks.js';

const instructions = 'Works in a notebook that a person has open in a page. It stays connected when this agent ends.';

/**
 * A page that the user's broker holds: it stays connected when this process ends, and the next agent finds it. Agents that name one URL share
 * its page. Does not wait for the broker; calls do.
 */
export async function openJoinedPage(setup: NotebookSetup, { profile, url }: { profile: string; url: string }): Promise<OpenedNotebook> {
  const open = { address: { kind: 'page', profile, url } } as const;
  const first = createJoined(setup, { open, instructions });
  first.join().catch((error: unknown) => setup.logger.warn(String(error)));
  return openSelection(setup, { first, directory: new UserNotebooks(setup) });
}
