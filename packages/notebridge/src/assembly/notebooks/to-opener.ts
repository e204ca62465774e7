import { BridgeError } from '../../core/errors.js';
import { colabProfile } from '../../notebooks/profiles/colab.js';
import { openColab } from './open-colab.js';
import type { NotebookSetup, OpenedNotebook, OpenNotebook } from './open-notebook.js';

/** What the option `notebook` asks for; undefined for none. Throws `bad_usage`. */
export function toNotebookOpener(notebook: string | OpenNotebook): OpenNotebook | undefined {
  if (typeof notebook === 'function') return notebook;
  if (notebook === 'none') return undefined;
  if (notebook === 'colab') return (setup) => openColab(setup, colabProfile);
  if (notebook === 'local') return (setup) => openHeld(setup, { file: undefined });
  if (notebook === 'jupyter' || notebook.startsWith('jupyter='))
    return async (setup) => (await import('./open-jupyter.js')).openJupyter(setup, notebook.slice('jupyter='.length));
  if (notebook.endsWith('.ipynb') && !URL.canParse(notebook)) return (setup) => openHeld(setup, { file: notebook });
  if (URL.canParse(notebook) && colabProfile.origins.includes(new URL(notebook).origin))
    return (setup) => openColab(setup, { ...colabProfile, defaultUrl: notebook });
  throw new BridgeError(
    'bad_usage',
    `--notebook "${notebook}" cannot be used: give "colab", "local", "jupyter" or "jupyter=ADDRESS", a file that ends in .ipynb, or the URL of a notebook on ${colabProfile.origins.join(' or ')}.`,
  );
}

/** The built-in notebook, in the process that is to hold it. Loaded only when it is asked for: an agent of Colab does not wait for it. */
async function openHeld(setup: NotebookSetup, { file }: { file: string | undefined }): Promise<OpenedNotebook> {
  const { hold = 'own' } = setup.pages;
  if (hold === 'join') return (await import('./open-joined.js')).openJoined(setup, { file });
  if (hold === 'shared' && file !== undefined) return (await import('./share-built-in.js')).openShared(setup, { file });
  return (await import('./open-built-in.js')).openBuiltIn(setup, { file });
}
