import { askToRelease } from '../../broker/ask-host.js';
import { ownVersion } from '../../state/own-files.js';
import { quote } from '../../util/quote.js';
import { onOneLine } from '../terminal-logger.js';
import { findOpen } from './find-open.js';

/** Ends the hold of whichever agent has the notebook; the next that writes gets it. Rejects with `bad_usage` where no such notebook is open. */
export async function releaseNotebook(named: string): Promise<void> {
  const { place, notebook } = await findOpen(named);
  const holder = await askToRelease(place, ownVersion(), notebook.id);
  process.stdout.write(`${onOneLine(toText(notebook.id, holder))}\n`);
}

function toText(id: string, holder: string | null): string {
  if (holder === null) return `${id} is free: no agent holds it.`;
  return `${id} is free: ${quote(holder)} holds it no more. Whichever agent writes next holds it.`;
}
