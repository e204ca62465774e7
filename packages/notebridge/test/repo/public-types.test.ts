import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The packages that a declaration file and those that it leads to import. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const named = Array.from(readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"]([^'"]+)['"]/g), ([, name = '']) => name);
  const found = named.flatMap((name) => {
    if (name.startsWith('.')) return [...packagesOf(join(dirname(file), name.replace(/\.js$/, '.d.ts')), seen)];
    return name.startsWith('node:') ? [] : [/^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name];
  });
  return new Set(found);
}

it('the types of the library need no package that is bundled and not installed, as the library of our schemas is', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining([...packagesOf(join(root, 'dist/index.d.ts'))]));
});
