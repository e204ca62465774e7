/** A project that code may write to: what stays possible in it, and what happens when somebody outside replaces what was kept from the code. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toKernelSpec } from '@notebridge/sandbox/kernel-spec';
import { findPythonPlaces } from '@notebridge/sandbox/python-places';
import { writtenFolderOf } from '@notebridge/sandbox/written-folders';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runInside, sandboxOfLinux, whyNoSandbox } from './support/sandboxed.js';

const python = '/usr/bin/python3';
const missing = (await whyNoSandbox()) ?? (existsSync(python) ? undefined : 'there is no /usr/bin/python3');

let project: string;
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-project-')));
  execFileSync(python, ['-m', 'venv', '--without-pip', join(project, '.venv')]);
  execFileSync('git', ['init', '-q', project]);
  writeFileSync(join(project, 'package.json'), '{"name": "mine"}');
  writeFileSync(join(project, 'helpers.py'), 'answer = 42\n');
  mkdirSync(join(project, 'data'));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const specFor = (source: string, files: 'ro' | 'rw' = 'rw') =>
  toKernelSpec({ python: join(project, '.venv/bin/python'), args: ['-c', source], folder: project, files });

describe.skipIf(missing !== undefined)('a project that code may write to', { tags: ['P-628'] }, () => {
  const work = `
import csv, json, os, subprocess, sys
sys.path.insert(0, os.getcwd())
import helpers
with open("out.csv", "a") as file:
    csv.writer(file).writerow(["a", helpers.answer])
about = json.load(open("package.json"))
about["version"] = "1.0.0"
json.dump(about, open("package.json", "w"))
os.makedirs("data/deep", exist_ok=True)
os.replace("out.csv", "data/deep/out.csv")
open("out.csv", "w").write(open("data/deep/out.csv").read())
print(sys.prefix == os.path.join(os.getcwd(), ".venv"), subprocess.run(["git", "-c", "safe.directory=*", "status", "--short"], capture_output=True, text=True).returncode)
`;

  test('is worked in as before, with the Python of its own, also after restarts and when it is only read', async () => {
    expect(writtenFolderOf(project)).toBeUndefined();
    for (const lines of [1, 2]) {
      const { stdout, stderr } = await runInside(await specFor(work));
      expect([stdout, stderr]).toEqual(['True 0\n', '']);
      expect(readFileSync(join(project, 'out.csv'), 'utf8').split('\n').filter(Boolean)).toHaveLength(lines);
      expect(writtenFolderOf(join(project, 'x'))).toBe(project);
    }
    expect(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))).toEqual({ name: 'mine', version: '1.0.0' });
    const { stdout } = await runInside(await specFor('import sys; print(sys.prefix, open("out.csv").read().count("42"))', 'ro'));
    expect(stdout).toBe(`${join(project, '.venv')} 2\n`);
  });

  test('whose environment code has made is a Python of the sandbox, which was not asked outside', async () => {
    rmSync(join(project, '.venv'), { recursive: true });
    const mark = join(project, '..', `${project.split('/').at(-1)}-ran`);
    const make = `
import os
for folder in ["bin", "lib/python3.11/site-packages"]:
    os.makedirs(".venv/" + folder)
open(".venv/pyvenv.cfg", "w").write("home = /usr/bin\\n")
open(".venv/bin/python", "w").write("#!/bin/sh\\ntouch '${mark}' 2>/dev/null; echo inside; exec /usr/bin/python3 \\"$@\\"\\n")
os.chmod(".venv/bin/python", 0o755)
`;
    await runInside(await toKernelSpec({ python, args: ['-c', make], folder: project, files: 'rw' }));
    const { prefix } = await findPythonPlaces(join(project, '.venv/bin/python'));
    expect(prefix).toBe(join(project, '.venv'));
    expect((await runInside(await specFor('print(1)'))).stdout).toBe('inside\n1\n');
    expect(existsSync(mark)).toBe(false);
  });
});

describe.skipIf(missing !== undefined)('a kernel that may write to a folder', { tags: ['P-630'] }, () => {
  async function endedBy(act: () => void): Promise<string | undefined> {
    const launched = sandboxOfLinux().launch(await specFor('print(1, flush=True); input()'));
    const ended = new Promise((resolve) => launched.child.once('close', resolve));
    await new Promise((resolve) => launched.child.stdout.once('data', resolve));
    act();
    await ended;
    await launched.gone;
    return launched.breach?.();
  }
  const replace = (path: string) => {
    renameSync(path, `${path}-before`);
    mkdirSync(path);
  };

  test.each(['.git', '.venv'])('ends when its %s is made anew outside, and says so', async (name) => {
    expect(await endedBy(() => rmSync(join(project, name), { recursive: true }))).toContain(
      `"${join(project, name)}" was replaced from outside`,
    );
  });

  test('ends when the folder is moved', async () => {
    const reason = await endedBy(() => replace(project));
    rmSync(project, { recursive: true });
    renameSync(`${project}-before`, project);
    expect(reason).toContain(`"${project}", to which its code may write, was moved or replaced`);
  });
});
