import { join } from 'node:path';
import { BridgeError } from '../../core/errors.js';
import { WholeOutputsMiddleware } from '../../notebooks/outputs/whole-outputs-middleware.js';
import { findPage, findProfile, type NamedPage, pageProfiles } from '../../notebooks/profiles/page-profiles.js';
import { realFileOf } from './notebook-file.js';
import { isFolder } from './notebook-name.js';
import { openColab } from './open-colab.js';
import type { NotebookSetup, OpenedNotebook, OpenNotebook } from './open-notebook.js';

/** What the option `notebook` asks for; undefined for none. Throws `bad_usage`. */
export function toNotebookOpener(notebook: string | OpenNotebook): OpenNotebook | undefined {
  if (typeof notebook === 'function') return notebook;
  if (notebook === 'none') return undefined;
  const profile = findProfile(notebook);
  const page = profile === undefined ? findPage(notebook) : { profile, url: profile.defaultUrl };
  if (page !== undefined) return (setup) => openPage(setup, page);
  if (notebook === 'local') return withOutputs((setup) => openHeld(setup, { file: undefined }));
  if (notebook === 'jupyter' || notebook.startsWith('jupyter='))
    return withOutputs((setup) => openJupyterHeld(setup, notebook.slice('jupyter='.length)));
  if (notebook.endsWith('.ipynb') && !URL.canParse(notebook)) return withOutputs((setup) => openHeld(setup, { file: notebook }));
  throw new BridgeError('bad_usage', `--notebook "${withoutToken(notebook)}" cannot be used: ${adviceOn(notebook)}`);
}

/** What a notebook of ours answers is fitted where it runs, unless the call says that it shall not be. */
function withOutputs(open: OpenNotebook): OpenNotebook {
  return async (setup) => {
    const opened = await open(setup);
    if (setup.pages.outputs !== 'whole') return opened;
    return { ...opened, middlewares: [...opened.middlewares, new WholeOutputsMiddleware()] };
  };
}

function adviceOn(notebook: string): string {
  if (
    /^https?:\/\/[^/]*(\/.*)?\/(lab|tree|notebooks|user)(\/|\?|$)/.test(notebook) ||
    /^https?:\/\/(localhost|127\.|\[::1\])/.test(notebook)
  )
    return `for a notebook of JupyterLab put "jupyter=" before its address: --notebook jupyter=${withoutToken(notebook)}`;
  if (!URL.canParse(notebook) && isFolder(notebook)) return `it is a folder. Name the notebook in it: ${join(notebook, 'work.ipynb')}`;
  const [names, links] = [pageProfiles.filter(({ newUrl }) => newUrl), pageProfiles.flatMap(({ links: known }) => known?.short ?? [])];
  return `give ${names.map(({ name }) => `"${name}"`).join(', ')}, "local", "jupyter" or "jupyter=ADDRESS", a file that ends in .ipynb, or the URL of a notebook on ${links.join(', ')}.`;
}

/** For texts: errors stand in logs of agent hosts. */
export function withoutToken(address: string): string {
  return address.replace(/token=[^&#]*/, 'token=…');
}

/** Notebooks of a Jupyter server are kept by the broker, for all agents that name them; else this process keeps what is used. */
async function openJupyterHeld(setup: NotebookSetup, where: string): Promise<OpenedNotebook> {
  if (setup.pages.hold === 'join') return (await import('./open-joined-jupyter.js')).openJoinedJupyter(setup, where);
  return (await import('./open-jupyter.js')).openJupyter(setup, where);
}

/** A page, held here or by the broker. */
async function openPage(setup: NotebookSetup, { profile, url }: NamedPage): Promise<OpenedNotebook> {
  const { hold, joinsPage = false } = setup.pages;
  if (hold === 'join' && joinsPage)
    return withOutputs(async (given) => (await import('./open-joined-page.js')).openJoinedPage(given, { profile: profile.name, url }))(
      setup,
    );
  return openColab(setup, { ...profile, defaultUrl: url });
}

/** The built-in notebook, in the process that is to hold it. Loaded only when it is asked for: an agent of Colab does not wait for it. */
async function openHeld(setup: NotebookSetup, { file }: { file: string | undefined }): Promise<OpenedNotebook> {
  const { hold = 'own' } = setup.pages;
  if (hold === 'join') return (await import('./open-joined.js')).openJoined(setup, { file, waitsForKernel: true });
  if (hold === 'shared') {
    const shared = await (await import('./share-built-in.js')).openShared(setup, { file });
    const { addSelection } = await import('./add-selection.js');
    return addSelection(setup, shared, { findId: () => shared.id, file: file && realFileOf(file) });
  }
  const [{ openBuiltIn }, { watchBuiltIn }] = await Promise.all([import('./open-built-in.js'), import('./watch-built-in.js')]);
  const opened = await openBuiltIn(setup, { file });
  return { ...opened, watched: watchBuiltIn(opened, { id: 'notebook', file, lease: undefined }) };
}
