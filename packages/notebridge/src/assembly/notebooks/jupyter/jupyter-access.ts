import { type Environment, pick } from '../../../processes/environment.js';

/** How the process that opens the notebook comes to its server. It goes over the proven link alone: a token is in no address and no file. */
export interface JupyterAccess {
  /** That the person has named. Left out: that of the server's own file. */
  token?: string | undefined;
  /** Variables that say where Jupyter's files are. */
  env?: Record<string, string> | undefined;
}

const names = ['APPDATA', 'JUPYTER_DATA_DIR', 'JUPYTER_RUNTIME_DIR', 'XDG_DATA_HOME'];

export function toJupyterAccess(env: Environment, token?: string | undefined): JupyterAccess {
  return { env: pick(env, names), ...(token === undefined ? {} : { token }) };
}
