import { realFileOf } from '../../assembly/notebooks/notebook-file.js';
import { stateDir } from '../../assembly/state-dir.js';
import { askHost, notebooksOf } from '../../broker/ask-host.js';
import { readHostPlaces } from '../../broker/host-place.js';
import { BridgeError } from '../../core/errors.js';
import { ownVersion } from '../../state/own-files.js';
import { quote } from '../../util/quote.js';
import { onOneLine } from '../terminal-logger.js';

/** Ends the hold of whichever agent has the notebook; the next that writes gets it. Rejects with `bad_usage` where no such notebook is open. */
export async function releaseNotebook(named: string): Promise<void> {
  const file = named.endsWith('.ipynb') ? realFileOf(named) : undefined;
  const open: string[] = [];
  for (const place of readHostPlaces(stateDir())) {
    // One that cannot be asked holds nothing that could be released by us; `doctor` says why.
    for (const notebook of await notebooksOf(place, ownVersion()).catch(() => [])) {
      open.push(`${notebook.id} (${notebook.file ?? 'in memory'})`);
      if (notebook.id !== named && (file === undefined || notebook.file !== file)) continue;
      const { holder } = await askHost(place, ownVersion(), ['host/release', { id: notebook.id }]);
      process.stdout.write(`${onOneLine(toText(notebook.id, holder))}\n`);
      return;
    }
  }
  const there = open.length === 0 ? 'None is open.' : `Open: ${open.join(', ')}.`;
  throw new BridgeError('bad_usage', `No notebook ${quote(named)} of yours is open. ${onOneLine(there)}`);
}

function toText(id: string, holder: unknown): string {
  if (typeof holder !== 'string') return `${id} is free: no agent holds it.`;
  return `${id} is free: ${quote(holder)} holds it no more. Whichever agent writes next holds it.`;
}
