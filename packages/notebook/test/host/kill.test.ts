// @module-tag deep
// @module-tag P-097

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseNotebook } from '../../src/model/nbformat.js';
import { pythonVerdicts } from '../support/nbformat.js';
import { temporaryFolder } from './support/folder.js';
import { bundle, exitOf, onLine, startProgram } from './support/programs.js';
import { openStore } from './support/stores.js';

const times = 100;

it(`leaves a whole notebook when it is killed while it saves, ${times} times`, { timeout: 600_000 }, async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'a.ipynb');
  const program = await bundle('./edit-and-save.ts');
  const texts: string[] = [];
  let saves = 0;
  let halfDone = 0;
  for (let round = 0; round < times; round++) {
    const child = startProgram(process.execPath, [program, path]);
    let isKilled = false;
    // At another moment of another save each time.
    onLine(child, () => {
      saves++;
      if (isKilled) return;
      isKilled = true;
      setTimeout(() => child.kill('SIGKILL'), (round * 7.3) % 40);
    });
    await exitOf(child);
    expect(child.signalCode).toBe('SIGKILL');
    if ((await readdir(folder)).some((name) => name.endsWith('.tmp'))) halfDone++;
    const text = await readFile(path, 'utf8');
    expect(parseNotebook(text).mended).toEqual([]);
    if (round % 10 === 0) texts.push(text);
  }
  expect(await pythonVerdicts(texts)).toEqual(texts.map(() => undefined));
  expect(saves).toBeGreaterThan(times);
  // The test is worth something only if it hits the middle of a save.
  expect(halfDone).toBeGreaterThan(times / 20);
  if (process.env.NOTEBRIDGE_MEASURE) process.stdout.write(`killed in the middle of a save: ${halfDone} of ${times}\n`);
  // What the last one left is taken over and swept by the next that opens the file.
  const store = await openStore({ path });
  await store.close();
  expect(await readdir(folder)).toEqual(['a.ipynb']);
});
