// @module-tag P-169

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findSmallDisk } from '../../../notebridge/test/support/small-disk.js';

const disk = findSmallDisk();
if (disk.why !== undefined) process.stdout.write(`Skipped: ${disk.why}\n`);
const built = new URL('../../dist/files/contained-folder.js', import.meta.url).href;

it.skipIf(disk.launch === undefined)('reads nothing where /proc is not that of the system, and says what to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-no-proc-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'a.txt'), 'A');
  const program = `
    const { ContainedFolder } = await import(${JSON.stringify(built)});
    await ContainedFolder.open(${JSON.stringify(folder)}).then(
      (opened) => opened.read('a.txt', 10).then(({ kind }) => console.log(kind)),
      (error) => console.log(error.code, error.message),
    );
  `;
  const run = (launch: readonly string[]): string => {
    const [command = '', ...args] = [...launch, process.execPath, '--input-type=module', '-e', program];
    return execFileSync(command, args, { encoding: 'utf8' });
  };
  expect(run([])).toBe('read\n');
  // An empty disk in its place.
  expect(run(disk.launch?.('/proc', '16k') ?? [])).toMatch(
    /^write_failed Nothing is read from ".*": "\/proc\/self\/fd\/\d+" does not lead to it, so nothing proves where a file lies\. Mount \/proc/,
  );
});
