import { existsSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import type { NamedNotebook } from '../../../notebooks/selection/notebook-directory.js';
import { loadLab } from '../../load-notebook.js';
import { realFileOf } from '../notebook-file.js';
import type { NotebookKind } from '../notebook-kind.js';
import { assertNotebookName } from '../notebook-name.js';
import type { NotebookSetup, OpenedNotebook } from '../open-notebook.js';
import { withOutputs } from '../with-outputs.js';

/** The notebook that comes with us: on a file, or in memory. Asked last: any path may be one of its own. */
export const builtInKind: NotebookKind = {
  name: 'built-in',
  arguments: ['"local"', 'a file that ends in .ipynb'],
  opener: (argument) => {
    const isFile = argument.endsWith('.ipynb') && !URL.canParse(argument);
    return argument === 'local' || isFile ? withOutputs((setup) => openHeld(setup, isFile ? argument : undefined)) : undefined;
  },
  find: async (named) => (named.text === 'local' ? { kind: 'built-in' } : { kind: 'built-in', file: toFile(named) }),
  /** A file may be open in a Jupyter server, too: two kernels that write one file would overwrite each other. */
  locationsOf: async (reference, open, env) => {
    if (reference.kind !== 'built-in' || reference.file === undefined) return [];
    if (!open.some(({ kind }) => kind === 'jupyter')) return [reference.file];
    const { findLabAddresses } = await loadLab();
    return [reference.file, ...(await findLabAddresses(reference.file, env))];
  },
  held: (options) => ({ open: async (opening) => (await import('./broker-built-in.js')).openBrokerBuiltIn(opening, options) }),
};

/** In the process that is to hold it. Loaded only when it is asked for: an agent of Colab does not wait for it. */
async function openHeld(setup: NotebookSetup, file: string | undefined): Promise<OpenedNotebook> {
  const { hold = 'own' } = setup.pages;
  if (hold === 'join') return (await import('./open-joined.js')).openJoined(setup, { file, waitsForKernel: true });
  if (hold === 'shared') {
    const shared = await (await import('./share-built-in.js')).openShared(setup, { file });
    const { addSelection } = await import('../add-selection.js');
    return addSelection(setup, shared, { findId: () => shared.id, file: file && realFileOf(file) });
  }
  const [{ openBuiltIn }, { watchBuiltIn }] = await Promise.all([import('./open-built-in.js'), import('./watch-built-in.js')]);
  const opened = await openBuiltIn(setup, { file });
  return { ...opened, watched: watchBuiltIn(opened, { id: 'notebook', file, lease: undefined }) };
}

/** Links are followed first: one that leads out of the folder is outside of it. */
function toFile({ text, create, folder: of }: NamedNotebook): string {
  assertNotebookName(text);
  const folder = of === undefined ? undefined : realFileOf(of);
  if (folder === undefined)
    throw new BridgeError('bad_notebook', `${quote(text)} cannot be opened by an agent: this one was started in no folder of its own.`);
  const file = realFileOf(resolve(folder, text));
  if (!isBelow(file, folder))
    throw new BridgeError(
      'bad_notebook',
      `${quote(text)} is outside of this agent's folder ${quote(folder)}. A person can open it: notebridge notebook ${text}. Then it is in list_notebooks.`,
    );
  if (!existsSync(dirname(file))) throw new BridgeError('bad_notebook', `There is no folder ${quote(dirname(file))}.`);
  if (!create && !existsSync(file)) throw new BridgeError('bad_notebook', `There is no ${quote(file)}. "create": true makes it, empty.`);
  return file;
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
