import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { pythonWith } from '../../../../../scripts/python-env.mjs';

/** The time that installing it may take on a slow line: it brings eighty packages along. */
export const installTimeoutMs = 8 * 60_000;

let python: Promise<string> | undefined;

/** Installs JupyterLab, if it is not there yet: for a `beforeAll`. */
export function prepareJupyterLab(): Promise<string> {
  python ??= pythonWith(['jupyterlab'], { environment: 'older' });
  return python;
}

const token = 'a-token-of-the-test';
const startTimeoutMs = 60_000;

/** What would reach out to the network stays off; loopback is all that it serves. */
const options = [
  '--no-browser',
  '--allow-root',
  '--ServerApp.ip=127.0.0.1',
  '--ServerApp.port=0',
  '--ServerApp.terminals_enabled=False',
  `--IdentityProvider.token=${token}`,
  '--LabApp.news_url=None',
  '--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate',
  '--LabApp.extension_manager=readonly',
  '--LabApp.expose_app_in_browser=True',
];

/** A real JupyterLab on a folder, with a home of its own. Answers with the URL of a file in it. */
export async function startJupyterLab(folder: string, home: string): Promise<(file: string) => string> {
  await mkdir(home, { recursive: true });
  const { PATH = '' } = process.env;
  const child = spawn(await prepareJupyterLab(), ['-m', 'jupyterlab', ...options, `--ServerApp.root_dir=${folder}`], {
    env: {
      ...{ PATH, HOME: home, TMPDIR: home },
      ...{ JUPYTER_NO_CONFIG: '1', JUPYTER_RUNTIME_DIR: join(home, 'runtime'), IPYTHONDIR: join(home, 'ipython') },
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => end(child));
  const origin = await originOf(child);
  return (file) => `${origin}/lab/tree/${file}?token=${token}`;
}

/** The address that it says on stderr. */
async function originOf(child: ChildProcess): Promise<string> {
  const said: string[] = [];
  const timer = setTimeout(() => child.kill('SIGKILL'), startTimeoutMs);
  child.on('error', (error) => said.push(error.message));
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stderr as NodeJS.ReadableStream })
      .on('line', (line) => {
        said.push(line);
        const [, origin] = /(http:\/\/127\.0\.0\.1:\d+)\/lab/.exec(line) ?? [];
        if (origin === undefined) return;
        clearTimeout(timer);
        resolve(origin);
      })
      .on('close', () => {
        clearTimeout(timer);
        reject(new Error(`JupyterLab ended before it said its address:\n${said.slice(-20).join('\n')}`));
      });
  });
}

/** By SIGTERM it ends its kernels too. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await exited;
  clearTimeout(timer);
}
