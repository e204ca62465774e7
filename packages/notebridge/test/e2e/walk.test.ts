// @module-tag deep

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

interface Walk {
  name: string;
  files: number;
  functions: number;
  calls: number;
}

const script = fileURLToPath(new URL('../../../../scripts/walk.mjs', import.meta.url));

/**
 * How long the way of one warm call may be: source files, functions, calls of functions. Whoever shortens a way lowers its numbers; whoever
 * needs more on it says why. `npm run walk` lists the files.
 */
const budgets: [way: string, files: number, functions: number, calls: number][] = [
  ['agent on stdio → page', 51, 183, 290],
  ['agent on stdio → stdio server', 41, 151, 230],
  ["tool proxy → stdio server, with the owner's token", 51, 207, 273],
  ['tool proxy → stdio server, with a grant', 61, 256, 336],
];

it('the way of a warm call is no longer than it was', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--json'], { maxBuffer: 16 * 1024 * 1024 });
  const walks = JSON.parse(stdout) as Walk[];
  expect(walks.map(({ name }) => name)).toEqual(budgets.map(([way]) => way));
  const longer = walks.filter((walk, at) => {
    const [, files, functions, calls] = budgets[at] ?? ['', 0, 0, 0];
    return walk.files > files || walk.functions > functions || walk.calls > calls;
  });
  expect(longer.map(({ name, files, functions, calls }) => [name, files, functions, calls])).toEqual([]);
  // A call that was not found would be a short one.
  for (const { files } of walks) expect(files).toBeGreaterThan(20);
});
