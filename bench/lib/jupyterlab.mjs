// A JupyterLab with live collaboration, in a folder of its own, for measurements.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pythonWith } from '../../scripts/python-env.mjs';

/** Starts it below the folder `base`. `address` ends with a slash; notebooks are in `work`. */
export async function startJupyterLab(base) {
  const token = 'a-token-of-the-bench';
  const python = await pythonWith(['jupyterlab', 'jupyter-collaboration'], { environment: 'collaboration' });
  const port = await freePort();
  const folder = join(base, 'work');
  mkdirSync(folder);
  const options = [
    '--no-browser',
    '--allow-root',
    '--ServerApp.ip=127.0.0.1',
    `--ServerApp.port=${port}`,
    `--IdentityProvider.token=${token}`,
  ];
  const child = spawn(python, ['-m', 'jupyterlab', ...options, `--ServerApp.root_dir=${folder}`, '--LabApp.news_url=None'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: base, JUPYTER_CONFIG_DIR: join(base, 'config'), JUPYTER_RUNTIME_DIR: join(base, 'runtime') },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const close = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  for await (const line of createInterface({ input: child.stderr })) if (line.includes('is running at')) break;
  child.stderr.resume();
  return { address: `http://127.0.0.1:${port}/`, token, close };
}

export function writeNotebook(base, name, cells = []) {
  const kernelspec = { display_name: 'Python 3 (ipykernel)', language: 'python', name: 'python3' };
  writeFileSync(join(base, 'work', `${name}.ipynb`), JSON.stringify({ cells, metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 }));
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
