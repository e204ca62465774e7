import { oneJupyterInstructions } from '../../../notebooks/jupyter/jupyter-notebook.js';
import type { NotebookLink } from '../../../notebooks/selection/notebook-directory.js';
import { loadLab } from '../../load-notebook.js';
import { openSelection } from '../add-selection.js';
import { createJoined } from '../create-joined.js';
import type { NotebookSetup, OpenedNotebook } from '../open-notebook.js';
import { UserNotebooks } from '../user-notebooks.js';
import { JupyterDirectory } from './jupyter-directory.js';
import { JupyterLink } from './jupyter-link.js';
import { toLabTarget } from './open-jupyter.js';

/**
 * The notebooks of a Jupyter server, kept open by the user's broker, beside all others of the user. `where`: as `--notebook jupyter=` takes
 * it. Nothing is connected before the first call. Rejects with `bad_usage` for what is no address.
 */
export async function openJoinedJupyter(setup: NotebookSetup, where: string): Promise<OpenedNotebook> {
  const { env, redactor } = setup;
  const { LabWorkspace, parseLabAddress } = await loadLab();
  const target = toLabTarget(where, parseLabAddress);
  const workspace = new LabWorkspace({ target, env, onSecret: (secret) => redactor.add(secret) });
  const token = target.baseUrl === undefined ? undefined : (target.token ?? env.JUPYTER_TOKEN);
  const linkTo = ({ baseUrl, path }: { baseUrl: string; path: string }): NotebookLink =>
    createJoined(setup, {
      open: { address: { kind: 'jupyter', where: baseUrl, notebook: path } },
      jupyterToken: token,
      instructions: oneJupyterInstructions,
    });
  return openSelection(setup, {
    first: new JupyterLink({ workspace, linkTo }),
    beginsWithNone: target.path === undefined && target.file === undefined,
    directory: new JupyterDirectory(new UserNotebooks(setup), { workspace, linkTo }),
  });
}
