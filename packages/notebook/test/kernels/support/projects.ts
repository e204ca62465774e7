import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { pythonWith } from '../../../../../scripts/python-env.mjs';

const science = ['ipykernel', 'jupyter_client', 'numpy', 'pandas', 'matplotlib', 'scikit-learn', 'ipywidgets'];

/** A real Python with ipykernel and more. Shared: nothing in it is changed. */
export function sciencePython(): Promise<string> {
  return pythonWith(science);
}

/** A folder of the test's own by its real path; gone when it has finished. */
export function temporaryProject(): string {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'notebridge-kernels-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A real virtual environment, without pip, and with the real ipykernel of another where it is wanted. Returns its Python. */
export async function makeVenv(folder: string, { ipykernel }: { ipykernel: boolean }): Promise<string> {
  const python = await sciencePython();
  await run(python, ['-m', 'venv', '--without-pip', folder]);
  if (ipykernel) {
    const [from, to] = [sitePackages(dirname(dirname(python))), sitePackages(folder)];
    for (const name of readdirSync(from)) if (!existsSync(join(to, name))) symlinkSync(join(from, name), join(to, name));
  }
  return join(folder, 'bin', 'python');
}

/**
 * What somebody could put into a repository: an environment that looks whole, whose Python leaves a mark when it runs, and files
 * beside the notebook with the names of what a kernel imports. Returns the path of the mark.
 */
export function makeHostileRepository(folder: string): string {
  const mark = join(folder, 'was-run');
  const packages = join(folder, '.venv', 'lib', 'python3.11', 'site-packages');
  mkdirSync(join(folder, '.git'));
  mkdirSync(join(packages, 'ipykernel-7.0.0.dist-info'), { recursive: true });
  mkdirSync(join(folder, '.venv', 'bin'));
  writeFileSync(join(folder, '.venv', 'pyvenv.cfg'), 'home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.4\n');
  writeProgram(join(folder, '.venv', 'bin', 'python'), `touch '${mark}'`);
  const code = `open(${JSON.stringify(mark)}, "w").close()\n`;
  for (const name of ['ipykernel_launcher', 'ipykernel', 'jupyter_client', 'sitecustomize', 'json', 'zmq', 'traitlets'])
    writeFileSync(join(folder, `${name}.py`), code);
  return mark;
}

export function writeProgram(path: string, script: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

export interface SpecParts {
  argv: readonly string[];
  display_name?: string;
  language?: string;
  env?: Readonly<Record<string, string>>;
}

/** Installs a kernelspec below a data folder of Jupyter. */
export function writeSpec(dataFolder: string, name: string, spec: SpecParts): void {
  const folder = join(dataFolder, 'kernels', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'kernel.json'), JSON.stringify({ display_name: name, language: 'python', ...spec }));
}

/** Variables of a user who has nothing: no Python on PATH, no environment, an empty home. */
export function bareUser(home: string, variables: Readonly<Record<string, string>> = {}): Record<string, string> {
  mkdirSync(join(home, 'bin'), { recursive: true });
  return { HOME: home, PATH: join(home, 'bin'), ...variables };
}

export function run(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${program} ended with code ${code}`))));
  });
}

function sitePackages(folder: string): string {
  const [library = ''] = readdirSync(join(folder, 'lib')).filter((name) => name.startsWith('python3'));
  return join(folder, 'lib', library, 'site-packages');
}
