import { expect, it } from 'vitest';
import { sortFiles, toFileBlocks } from './file-blocks.js';

const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const files = [
  { path: 'table.csv', data: Buffer.from('name\nü\n') },
  { path: 'dot.txt', data: Buffer.from(dot, 'base64') },
  { path: 'deep/data', data: Buffer.from([0, 255]) },
  { path: 'long.txt', data: Buffer.from('x'.repeat(100)) },
];

it('files of code are texts, pictures or others by what they are, whole or left out with the reason', { tags: ['P-456'] }, () => {
  const sorted = sortFiles(files);
  expect(sorted.pictures).toEqual([{ path: 'dot.txt', mimeType: 'image/png', data: dot }]);
  const { blocks, notes } = toFileBlocks(sorted, { leftOut: [{ path: 'large', bytes: 99, why: 'bytes' }], more: 2 }, 99);
  expect(blocks).toEqual([
    { type: 'resource', resource: { uri: 'sandbox://out/table.csv', mimeType: 'text/csv', text: 'name\nü\n' } },
    { type: 'resource', resource: { uri: 'sandbox://out/deep/data', mimeType: 'application/octet-stream', blob: 'AP8=' } },
  ]);
  expect(notes).toEqual([
    expect.stringMatching(
      /^Not in this answer.*\n- \/out\/long\.txt \(100 characters\): more text .*\n- \/out\/large \(99 bytes\): more bytes .*\n- 2 more$/,
    ),
  ]);
});
