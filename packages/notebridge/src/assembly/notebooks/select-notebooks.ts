import { dirname } from 'node:path';
import type { JsonObject } from '@notebridge/kit/json';
import type { NotebookLink, NotebookReference } from '../../notebooks/selection/notebook-directory.js';
import { NotebookSelection } from '../../notebooks/selection/notebook-selection.js';
import type { Environment } from '../../processes/environment.js';
import { createJoined } from './create-joined.js';
import type { NotebookSetup } from './open-notebook.js';
import { UserNotebooks } from './user-notebooks.js';

export interface SelectNotebooksOptions {
  /** The notebook of the command line. */
  first: NotebookLink;
  /** Its file, with links resolved. */
  file?: string | undefined;
  readOnly: boolean;
  /** How others are opened: as the first. */
  how: JsonObject;
}

/** All notebooks that the agents of this process may use, beginning with that of the command line. */
export function createSelection(setup: NotebookSetup, { first, file, readOnly, how }: SelectNotebooksOptions): NotebookSelection {
  const { stateDir: dir, pages, env } = setup;
  const directory = new UserNotebooks({
    dir,
    env,
    folder: folderOfAgent(file),
    linkTo: (reference, place) => {
      const open = reference.kind === 'open' ? { id: reference.id } : { address: reference };
      return createJoined(setup, { open, place, readOnly, how: { ...how, ...howFor(reference, how, env) } });
    },
  });
  return new NotebookSelection({ first, directory, isListed: pages.list !== 'dynamic' });
}

/** Where Jupyter's files are. No token: that of the server's own file is found by who opens it. */
const jupyterNames = ['APPDATA', 'JUPYTER_DATA_DIR', 'JUPYTER_RUNTIME_DIR', 'XDG_DATA_HOME'];
/** Where a browser shows itself to the person of this process: the broker has no screen of its own. */
const screenNames = ['BROWSER', 'DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'SSH_CONNECTION', 'SSH_TTY', 'WSL_DISTRO_NAME'];

function howFor({ kind }: NotebookReference, how: JsonObject, env: Environment): JsonObject {
  if (kind === 'jupyter') return { jupyter: { env: pick(env, jupyterNames) } };
  return kind === 'page' ? howForPage(how, env) : {};
}

/** What a page needs beside what every notebook does. */
export function howForPage({ env: given }: JsonObject, env: Environment): JsonObject {
  return { env: { ...(given as JsonObject), ...pick(env, screenNames) } };
}

function pick(env: Environment, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const])));
}

/** Where an agent was started, unless that is the root of all files, as some hosts have it: then the folder of its notebook. */
function folderOfAgent(file: string | undefined): string | undefined {
  const cwd = process.cwd();
  if (dirname(cwd) !== cwd) return cwd;
  return file === undefined || dirname(file) === cwd ? undefined : dirname(file);
}
