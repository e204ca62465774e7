import type { RunPlace } from '@notebridge/notebook/host';
import type { JsonObject } from '@notebridge/protocol/json';
import { pick } from '@notebridge/system/processes/environment';
import { findRunPlaces } from '../run-places.js';
import { realFileOf } from './notebook-file.js';
import type { NotebookSetup } from './open-notebook.js';

/** How the process that opens the notebook comes to its server. It goes over the proven link alone: a token is in no address and no file. */
export interface JupyterAccess {
  /** That the person has named. Left out: that of the server's own file. */
  token?: string | undefined;
  /** Variables that say where Jupyter's files are. */
  env?: Record<string, string> | undefined;
}

/** What the process that opens the notebook needs of us. */
export interface HowToOpen {
  pages: NotebookSetup['pages'];
  audit: NotebookSetup['config']['audit'];
  limits: NotebookSetup['config']['limits'];
  /** Variables that say which Python the person has switched on. */
  env: Record<string, string>;
  /** Of the agent's process; see `BuiltInOptions`. */
  configFile?: string | undefined;
  runs: readonly RunPlace[];
  /** Where a browser shows itself to the person: a process without a terminal has no screen of its own. */
  screen: Record<string, string>;
  jupyter: JupyterAccess;
}

const pythonNames = [
  'CONDA_DEFAULT_ENV',
  'CONDA_PREFIX',
  'JUPYTER_CONFIG_DIR',
  'JUPYTER_DATA_DIR',
  'JUPYTER_PATH',
  'PATH',
  'PYENV_VERSION',
  'VIRTUAL_ENV',
];

const jupyterNames = ['APPDATA', 'JUPYTER_DATA_DIR', 'JUPYTER_RUNTIME_DIR', 'XDG_DATA_HOME'];

const screenNames = ['BROWSER', 'DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'SSH_CONNECTION', 'SSH_TTY', 'WSL_DISTRO_NAME'];

/** How the notebook is to be opened by the process that holds it. `jupyterToken`: that a person has named for its Jupyter server. */
export function toHow({ pages, config, env }: NotebookSetup, jupyterToken?: string | undefined): JsonObject {
  const { audit, limits, file } = config;
  const how: HowToOpen = {
    pages,
    audit,
    limits,
    env: pick(env, pythonNames),
    runs: findRunPlaces(config),
    screen: pick(env, screenNames),
    jupyter: { env: pick(env, jupyterNames), token: jupyterToken },
    ...(file === undefined ? {} : { configFile: realFileOf(file) }),
  };
  return JSON.parse(JSON.stringify(how)) as JsonObject;
}
