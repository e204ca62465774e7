import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { argumentsOf, notebookKinds } from './kinds.js';
import { isFolder } from './notebook-name.js';
import type { OpenNotebook } from './open-notebook.js';

/** What the option `notebook` asks for; undefined for none. Throws `bad_usage`. */
export function toNotebookOpener(notebook: string | OpenNotebook): OpenNotebook | undefined {
  if (typeof notebook === 'function') return notebook;
  if (notebook === 'none') return undefined;
  for (const kind of notebookKinds) {
    const open = kind.opener(notebook);
    if (open !== undefined) return open;
  }
  throw new BridgeError('bad_usage', `--notebook "${withoutToken(notebook)}" cannot be used: ${adviceOn(notebook)}`);
}

function adviceOn(notebook: string): string {
  if (
    /^https?:\/\/[^/]*(\/.*)?\/(lab|tree|notebooks|user)(\/|\?|$)/.test(notebook) ||
    /^https?:\/\/(localhost|127\.|\[::1\])/.test(notebook)
  )
    return `for a notebook of JupyterLab put "jupyter=" before its address: --notebook jupyter=${withoutToken(notebook)}`;
  if (!URL.canParse(notebook) && isFolder(notebook)) return `it is a folder. Name the notebook in it: ${join(notebook, 'work.ipynb')}`;
  return `give ${argumentsOf(notebookKinds)}.`;
}

/** For texts: errors stand in logs of agent hosts. */
export function withoutToken(address: string): string {
  return address.replace(/token=[^&#]*/, 'token=…');
}
