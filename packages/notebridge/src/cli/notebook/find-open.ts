import { basename } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import { ownVersion } from '@notebridge/system/files/own-files';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { realFileOf } from '../../assembly/notebooks/notebook-file.js';
import { notebooksOf, type OpenNotebookState } from '../../broker/ask-host.js';
import { type HostPlace, readHostPlaces } from '../../broker/host-place.js';
import { onOneLine } from '../terminal-logger.js';

interface FoundNotebook {
  /** The process that holds it. */
  place: HostPlace;
  notebook: OpenNotebookState;
}

/** The open notebook that a person names by its id, its address as `ps` shows it, or its file. Rejects with `bad_usage` where there is none such. */
export async function findOpen(named: string): Promise<FoundNotebook> {
  const open: FoundNotebook[] = [];
  for (const place of readHostPlaces(stateDir())) {
    // One that cannot be asked can be told nothing either; `doctor` says why.
    const notebooks = await notebooksOf(place, ownVersion()).catch(() => []);
    for (const notebook of notebooks) open.push({ place, notebook });
  }
  const isMeant = matcherOf(named);
  const found = open.find(({ notebook }) => isMeant(notebook));
  if (found !== undefined) return found;
  const namesake = open.find(({ notebook: { file } }) => file !== null && !isAddress(named) && basename(file) === basename(named));
  const there = open.map(({ notebook: { id, file } }) => `${id} (${file ?? 'in memory'})`).join(', ');
  const hint = namesake === undefined ? '' : ` ${namesake.notebook.id} is another of that name.`;
  throw new BridgeError(
    'bad_usage',
    onOneLine(`No notebook ${quote(named)} of yours is open.${there === '' ? ' None is open.' : `${hint} Open: ${there}.`}`),
  );
}

function matcherOf(named: string): (notebook: OpenNotebookState) => boolean {
  if (isAddress(named)) {
    const wanted = toComparable(named);
    return ({ file }) => file !== null && isAddress(file) && toComparable(file) === wanted;
  }
  const file = realFileOf(named);
  return (notebook) => notebook.id === named || notebook.file === file;
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** A server of this machine has several names, and people copy its token along with its address. */
function toComparable(address: string): string {
  const url = new URL(address);
  if (url.hostname === 'localhost' || url.hostname === '[::1]') url.hostname = '127.0.0.1';
  url.searchParams.delete('token');
  return url.href;
}
