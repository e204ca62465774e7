import { pythonWith } from '../../../../../scripts/python-env.mjs';

/** The Python of a JupyterLab whose documents are not shared. Apart: only files that ask for it wait for its environment. */
export function labAlone(): Promise<string> {
  return pythonWith(['jupyterlab'], { environment: 'older' });
}
