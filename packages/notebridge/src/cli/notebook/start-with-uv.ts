import { existsSync } from 'node:fs';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { loadNotebook } from '../../assembly/load-notebook.js';
import { isHeldElsewhere } from '../../assembly/notebooks/built-in/open-joined.js';
import { runInOurPlace } from '../../processes/foreground-program.js';
import { ownUserId } from '../../processes/own-user.js';
import { stateDir } from '../../processes/state-dir.js';
import { createTrustedFolders } from '../../state/trusted-folders.js';
import { ownProgramFile } from '../own-command.js';
import { withoutControls } from '../terminal-logger.js';
import { uvSettings } from './uv-settings.js';

/**
 * Where `auto` would take Pyodide because the environment of the folder lacks ipykernel, and uv is here: asks the person, and with a
 * yes this very command is run by uv, which keeps ipykernel beside the environment and changes nothing of it. Resolves to its exit code;
 * undefined to go on without.
 */
export async function startWithUv(file: string | undefined, words = process.argv.slice(2)): Promise<number | undefined> {
  const environment = hasUv() ? await findEnvironment(file) : undefined;
  if (environment === undefined || !(await isYes(questionOf(environment)))) return undefined;
  const { options, env } = uvSettings(process.env, process.cwd());
  const args = ['run', '--no-project', ...options, '--with', 'ipykernel', process.execPath, ownProgramFile()];
  return runInOurPlace({ command: 'uv', args, wordsForUs: words, env: { VIRTUAL_ENV: environment }, inherited: env });
}

/** Looked for first: to look at the kernels takes longer. */
function hasUv(): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.some((folder) => ['uv', 'uv.exe'].some((name) => existsSync(join(folder, name))));
}

async function findEnvironment(file: string | undefined): Promise<string | undefined> {
  const { lookAtKernels } = await loadNotebook(stateDir());
  try {
    if (file !== undefined && (await isHeldElsewhere({ stateDir: stateDir() }, file))) return undefined;
    const path = resolve(file ?? '.');
    const where = file === undefined || existsSync(path) ? path : dirname(path);
    const { kernels, auto } = await lookAtKernels({ where, trust: createTrustedFolders(stateDir(), { uid: ownUserId() }) });
    // A notebook that was Pyodide's stays so, without a notice.
    if (auto.kernel.id !== 'pyodide' || auto.proposal !== undefined || auto.notice === undefined) return undefined;
    // uv would run it outside of a sandbox.
    return kernels.find(({ problem, written }) => problem?.uvEnvironment !== undefined && written === undefined)?.problem?.uvEnvironment;
  } catch {
    // What is wrong with the notebook is said when it is opened.
    return undefined;
  }
}

function questionOf(environment: string): string {
  return `The Python of ${withoutControls(basename(environment))} has no ipykernel. uv can start it with one beside it: nothing is installed in it, and the project stays as it is. Code of that environment will run. Start it so? [y/N] `;
}

async function isYes(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
