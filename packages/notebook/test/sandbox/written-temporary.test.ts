// @module-tag P-706
// @runs process

/** `TMPDIR` names a folder that code in a sandbox may write to. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRelay } from '@notebridge/sandbox/relay/sandbox-relay';
import { recordWritten } from '@notebridge/sandbox/written-folders';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { rescue } from '../../src/host/copies.js';
import { HeadlessWindow } from '../../src/host/headless-window.js';
import { type LaunchOptions, launchHelper } from '../../src/kernel/jupyter/jupyter-process.js';

let top: string;
let project: string;
let temporary: string;
beforeAll(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-written-temporary-')));
  project = join(top, 'project');
  temporary = join(project, 'tmp');
  mkdirSync(temporary, { recursive: true });
  await recordWritten(project);
});
afterAll(() => rmSync(top, { recursive: true, force: true }));
beforeEach(() => void vi.stubEnv('TMPDIR', temporary));
afterEach(() => {
  vi.unstubAllEnvs();
  expect(readdirSync(temporary)).toEqual([]);
});

/** A program that says with which words it was started. Returns its path, and theirs. */
function makeProgram(name: string): [program: string, log: string] {
  const [program, log] = [join(top, name), join(top, `${name}.log`)];
  writeFileSync(program, `#!/bin/sh\necho "$@" > '${log}'\n`, { mode: 0o755 });
  return [program, log];
}

const refusal = () =>
  `Nothing of Notebridge is kept in "${temporary}", the folder for temporary files: code in a sandbox may write to "${project}". Set TMPDIR`;

test('no kernel begins outside of the sandbox, whose key and sockets would lie there', async () => {
  const [python, log] = makeProgram('python');
  const options: LaunchOptions = {
    ...{ python, folder: top, sandbox: 'off', files: undefined, kernelName: undefined },
    programUrl: new URL(`file://${top}/`),
  };
  await expect(launchHelper(options)).rejects.toThrow(refusal());
  expect(existsSync(log)).toBe(false);
  vi.stubEnv('TMPDIR', top);
  const { child } = await launchHelper(options);
  await new Promise((resolve) => child.once('close', resolve));
  expect(readFileSync(log, 'utf8')).toBe(`-B ${top}/start.py ${top}\n`);
});

test('nor a relay, whose socket reaches servers', async () => {
  await expect(openRelay({ allow: ['example.org'] })).rejects.toThrow(refusal());
});

test('no browser begins that draws charts: its profile would lie there', async () => {
  const [program, log] = makeProgram('browser');
  const open = async () => {
    const window = new HeadlessWindow({ program, newUrl: () => 'http://127.0.0.1:9/#x' });
    const isOpen = await window.open();
    await window.close();
    return isOpen;
  };
  expect(await open()).toBe(false);
  expect(existsSync(log)).toBe(false);
  vi.stubEnv('TMPDIR', top);
  expect(await open()).toBe(false);
  expect(readFileSync(log, 'utf8')).toContain(`--user-data-dir=${top}/`);
});

test('a notebook that cannot be saved in its folder is not saved there', async () => {
  const file = join(top, 'gone/one.ipynb');
  expect(await rescue(file, Buffer.from('{}'))).toBeUndefined();
  vi.stubEnv('TMPDIR', top);
  expect(await rescue(file, Buffer.from('{}'))).toMatch(/one\.unsaved-.*\.ipynb$/);
});
