import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { bundle } from '../scripts/bundle.mjs';

const folder = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const maxBytes = 15 * 1024;

it('the bundle stays small, and stands alone', async () => {
  const text = await bundle();
  expect(gzipSync(text, { level: 9 }).length).toBeLessThanOrEqual(maxBytes);
  expect(text).not.toMatch(/\bimport\s*[("'{*\w]/);
});

it('imports nothing but its own files, and needs no package', () => {
  const sources = readdirSync(folder('src')).filter((name) => !name.endsWith('.test.ts'));
  for (const name of sources) {
    const imported = [...readFileSync(folder(`src/${name}`), 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)];
    for (const [, path] of imported) expect(path, name).toMatch(/^\.\/[\w-]+\.js$/);
  }
  expect(JSON.parse(readFileSync(folder('package.json'), 'utf8'))).not.toHaveProperty('dependencies');
});
