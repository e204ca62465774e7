import { expect, it } from 'vitest';
import { sealFiles } from './seal-files.js';

const files: [string, string][] = [
  ['mcp/b.py', 'b = 1\n'],
  ['mcp/a.py', 'a = 1\n'],
  ['B.py', ''],
];

it('files that were made in another order are the same package', { tags: ['P-087'] }, () => {
  const [one, other] = [sealFiles(new Map(files), []), sealFiles(new Map(files.toReversed()), [])];
  expect([...one.files.keys()]).toEqual(['B.py', 'mcp/a.py', 'mcp/b.py']);
  expect([...other.files]).toEqual([...one.files]);
  expect(other.contentHash).toBe(one.contentHash);
});

it('another text, or the same at another place, is another package', { tags: ['P-087'] }, () => {
  const hashOf = (...all: [string, string][]) => sealFiles(new Map(all), []).contentHash;
  const hashes = [hashOf(['a', 'bc']), hashOf(['a', 'bd']), hashOf(['ab', 'c']), hashOf(['a', 'b'], ['c', '']), hashOf()];
  expect(new Set(hashes).size).toBe(hashes.length);
});
