import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Environment } from '@notebridge/system/processes/environment';
import { runInOurPlace } from '@notebridge/system/processes/foreground-program';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { writtenBy } from '@notebridge/system/processes/written-rule';
import { findCodePlaces } from '@notebridge/system/starts/code-places';
import { loadNotebook } from '../../assembly/load-notebook.js';
import { isHeldElsewhere } from '../../assembly/notebooks/built-in/open-joined.js';
import { createTrustedFolders } from '../../assembly/trusted-folders.js';
import { ownProgramFile } from '../own-command.js';
import { withoutControls } from '../terminal-logger.js';

/**
 * Where `auto` would take Pyodide because the environment of the folder lacks ipykernel, and uv is here: asks the person, and with a
 * yes this very command is run by uv, which keeps ipykernel beside the environment and changes nothing of it. Resolves to its exit code;
 * undefined to go on without.
 */
export async function startWithUv(file: string | undefined): Promise<number | undefined> {
  const environment = hasUv() ? await findEnvironment(file) : undefined;
  if (environment === undefined || !(await isYes(questionOf(environment)))) return undefined;
  const { options, env } = uvSettings(process.env, process.cwd());
  const args = ['run', '--no-project', ...options, '--with', 'ipykernel', process.execPath, ownProgramFile()];
  return runInOurPlace({ command: 'uv', args, wordsForUs: process.argv.slice(2), env: { VIRTUAL_ENV: environment }, inherited: env });
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

/**
 * How uv is started in this folder, so that it takes no settings from where code in a sandbox could write: they name Pythons, and packages to
 * install. Its variables that lead there are left out; where one of its files lies there, it reads none.
 */
export function uvSettings(env: Environment, cwd: string): { options: string[]; env: Environment } {
  const home = env.HOME || homedir();
  const names = ['uv.toml', 'pyproject.toml', '.python-version', '.python-versions'];
  const inFolders = foldersUpFrom(cwd).flatMap((folder) => names.map((name) => join(folder, name)));
  const ofUser = names.map((name) => join(env.XDG_CONFIG_HOME || join(home, '.config'), 'uv', name));
  const isFree = [...inFolders, ...ofUser].every((path) => writtenBy(path) === undefined);
  const kept = Object.entries(env).filter(([name, text = '']) => !name.startsWith('UV_') || !leadsThere(text, name, cwd));
  return { options: isFree ? [] : ['--no-config'], env: Object.fromEntries(kept) };
}

function leadsThere(text: string, name: string, cwd: string): boolean {
  const named = /_(FILE|DIR|DIRECTORY|CONSTRAINT|OVERRIDE|PROJECT|FIND_LINKS)$/.test(name) ? [resolve(cwd, text)] : [];
  return [...named, ...findCodePlaces({ argv: [], env: { [name]: text }, cwd })].some((path) => writtenBy(path) !== undefined);
}

function foldersUpFrom(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUpFrom(above)];
}
