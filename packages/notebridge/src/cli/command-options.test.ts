import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toWholeKernel } from './command-options.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-kernel-argument-'));
  for (const name of ['.venv', 'python3']) mkdirSync(join(folder, name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('toWholeKernel', () => {
  it.each([
    ['.venv/bin/python', '.venv/bin/python'],
    ['./python3', 'python3'],
    ['.venv', '.venv'],
    ['../other/bin/python', '../other/bin/python'],
  ])('makes %j a whole path', { tags: ['P-266'] }, (kernel, path) => {
    expect(toWholeKernel(kernel, folder)).toBe(join(folder, path));
  });

  // A folder of the project must not take the place of a kernel that is installed.
  it.each(['auto', 'pyodide', 'python3', '.conda', '/opt/python/bin/python3'])('leaves %j as it is', (kernel) => {
    expect(toWholeKernel(kernel, folder)).toBe(kernel);
  });
});
