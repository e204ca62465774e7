import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { BindingsInput } from '@notebridge/bindings';
import { emitPython } from '@notebridge/bindings/python';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { pythonWith } from '../../../../scripts/python-env.mjs';

/** A folder that holds the package `generated`, and is gone after. */
export interface PythonPackage extends Disposable {
  folder: string;
  write(input: BindingsInput): Promise<void>;
}

export async function pythonPackage(input: BindingsInput): Promise<PythonPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-package-'));
  const write = async (next: BindingsInput): Promise<void> => {
    rmSync(join(folder, 'generated'), { recursive: true, force: true });
    for (const [path, text] of (await emitPython(next)).files) {
      const file = join(folder, 'generated', path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  };
  await write(input);
  return { folder, write, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Servers as the bindings take them: sorted by name, and their tools too. */
export function inputOf(servers: Record<string, readonly Tool[]>): BindingsInput {
  const byName = <Named extends { name: string }>(one: Named, other: Named) => (one.name < other.name ? -1 : 1);
  const list = Object.entries(servers).map(([name, tools]) => ({ name, description: undefined, tools: [...tools].sort(byName) }));
  return { servers: list.sort(byName), skills: false, hubUrl: undefined };
}

/** The Python that type checkers and kernels run on. */
export function bindingsPython(...packages: string[]): Promise<string> {
  return pythonWith(packages);
}

/** Runs a program to its end and answers with what it printed; with what it said if that was a failure. */
export async function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const env = { ...process.env, PYTHONUTF8: '1', ...options.env };
  const ran = promisify(execFile)(command, [...args], { ...options, env, maxBuffer: 1 << 28 });
  const { stdout } = await ran.catch((error: { stdout?: string; stderr?: string; message: string }) => {
    throw new Error(`${command} failed (${error.message.slice(0, 200)}):\n${error.stdout?.slice(-6000)}\n${error.stderr?.slice(-6000)}`);
  });
  return stdout;
}

const versions = ['3.9', '3.10', '3.11', '3.12', '3.13', '3.14'];

/** The CPythons of this machine that we promise, by version: those on the PATH, and those of pyenv. */
export async function pythonsHere(): Promise<{ version: string; python: string }[]> {
  const ask = 'import sys; print("%d.%d" % sys.version_info[:2], sys.executable)';
  const asked = [
    { command: process.env.NOTEBRIDGE_PYTHON ?? 'python3', env: {} },
    // pyenv's own command for a version works only where that version is chosen.
    ...versions.map((version) => ({ command: `python${version}`, env: { PYENV_VERSION: version } })),
  ];
  const answers = await Promise.all(asked.map(({ command, env }) => run(command, ['-c', ask], { env }).catch(() => '')));
  const found = answers.map((answer) => answer.trim().split(' ')).map(([version = '', python = '']) => ({ version, python }));
  return [...new Map(found.filter(({ version }) => versions.includes(version)).map((each) => [each.version, each])).values()];
}
