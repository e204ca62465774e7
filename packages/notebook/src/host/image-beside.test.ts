import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readImageBeside } from './image-beside.js';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('an image of the notebook’s folder is read, and by no path or link another file', { tags: ['P-234'] }, async () => {
  const base = await mkdtemp(join(tmpdir(), 'notebook-image-'));
  const folder = join(base, 'work');
  await mkdir(join(folder, 'images'), { recursive: true });
  for (const path of [join(base, 'secret.png'), join(folder, 'images', 'plot.png')]) await writeFile(path, Buffer.from(pixel, 'base64'));
  await writeFile(join(folder, 'key.png'), '-----BEGIN PRIVATE KEY-----');
  await symlink(join(base, 'secret.png'), join(folder, 'link.png'));
  await symlink(base, join(folder, 'out'));
  const read = (path: string) => readImageBeside(join(folder, 'a.ipynb'), path);
  try {
    expect(await read('./images//plot.png')).toEqual({ type: 'image/png', data: pixel });
    const outside = ['../secret.png', 'images/../../secret.png', join(base, 'secret.png'), '..\\secret.png', 'out/secret.png', 'link.png'];
    for (const path of [...outside, 'key.png', 'images', '.', ''])
      await expect(read(path), path).rejects.toMatchObject({ code: 'image_unreadable' });
  } finally {
    await rm(base, { recursive: true });
  }
});
