// @module-tag P-055

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

it('imports nothing but its own files as built, and needs no package', () => {
  const built = readdirSync(folder('dist'), { recursive: true, encoding: 'utf8' }).filter((name) => /\.(js|d\.ts)$/.test(name));
  expect(built).toContain('index.js');
  for (const name of built) {
    const imported = [...readFileSync(folder(`dist/${name}`), 'utf8').matchAll(/(?:from|import\()\s*["']([^"']+)["']/g)];
    for (const [, path = ''] of imported) expect(built, `${name} imports ${path}`).toContain(join(dirname(name), path));
  }
  expect(JSON.parse(readFileSync(folder('package.json'), 'utf8'))).not.toHaveProperty('dependencies');
});
