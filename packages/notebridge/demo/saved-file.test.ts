// @module-tag deep

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyNotebook, printNotebook } from '@notebridge/notebook';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkSavedFile } from './saved-file.js';

const whole = printNotebook(emptyNotebook);
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-saved-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const check = (text: string, seen?: Parameters<typeof checkSavedFile>[1]): Promise<number> => {
  const file = join(folder, 'saved.ipynb');
  writeFileSync(file, text);
  return checkSavedFile(file, seen);
};

describe('checkSavedFile', () => {
  it('counts the cells of a whole notebook', async () => {
    expect(await check(whole, { cells: [], images: [] })).toBe(0);
    expect(await check(whole)).toBe(0);
  });

  it.each([
    ['cut off', whole.slice(0, -4), /JSON/],
    ['of an older format', whole.replace('"nbformat_minor": 5', '"nbformat_minor": 4'), 'expected nbformat "4.5"; found "4.4"'],
    ['without its metadata', whole.replace('"metadata"', '"metadate"'), /lacks .*metadata/],
    ['written in another way', JSON.stringify(JSON.parse(whole)), /as Jupyter's own nbformat writes it/],
  ])('refuses one that is %s', async (_, text, complaint) => {
    await expect(check(text)).rejects.toThrow(complaint);
  });

  it('refuses one that is not what the agent has seen', async () => {
    await expect(check(whole, { cells: [{ id: 'a', source: '1' }], images: [] })).rejects.toThrow('the cells that the agent has seen');
    await expect(check(whole, { cells: [], images: ['AAAA'] })).rejects.toThrow('the images that the agent has seen');
  });
});
