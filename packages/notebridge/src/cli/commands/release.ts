import { quote } from '@notebridge/protocol/util/quote';
import { ownVersion } from '@notebridge/system/files/own-files';
import { askToRelease } from '../../broker/ask-host.js';
import { defineCommand } from '../define-command.js';
import { findOpen } from '../notebook/find-open.js';
import { onOneLine } from '../terminal-logger.js';

/** `notebridge release NOTEBOOK`: ends the hold of the agent that alone changes and runs a notebook. */
export const releaseCommand = defineCommand({
  arguments: [['<notebook>', 'its id or address in "notebridge ps", or its .ipynb file']],
  run: releaseNotebook,
});

/** The next agent that writes gets it. Rejects with `bad_usage` where no such notebook is open. */
async function releaseNotebook(named: string): Promise<void> {
  const { place, notebook } = await findOpen(named);
  const holder = await askToRelease(place, ownVersion(), notebook.id);
  const was = holder === null ? 'no agent holds it.' : `${quote(holder)} holds it no more. Whichever agent writes next holds it.`;
  process.stdout.write(`${onOneLine(`${notebook.id} is free: ${was}`)}\n`);
}
