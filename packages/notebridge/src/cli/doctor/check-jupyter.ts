import { loadLab } from '../../assembly/load-notebook.js';
import { type Check, note, ok } from './check.js';

/** The Jupyter servers that `--notebook jupyter` would find. None is no fault: many never use it. */
export async function checkJupyter(): Promise<Check[]> {
  const { lookAtServers } = await loadLab();
  const found = await lookAtServers();
  if (found.length === 0) return [ok('JupyterLab', 'no server of yours runs; for --notebook jupyter: jupyter lab')];
  return found.map(({ baseUrl, folder, problem }) => {
    const where = `${baseUrl}, folder ${folder}`;
    return problem ? note('JupyterLab', `${where}: ${problem.reason}`, problem.fix) : ok('JupyterLab', where);
  });
}
