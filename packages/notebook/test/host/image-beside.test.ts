// @module-tag deep
// @module-tag P-234

import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { maxImageBytes } from '../../src/host/image-beside.js';
import { imageTypeOf } from '../../src/outputs/image-type.js';
import { pixel } from '../ui/support/hostile-outputs.js';
import { temporaryFolder } from './support/folder.js';
import { startHost } from './support/hosts.js';
import { openWindow } from './support/window.js';

const png = Buffer.from(pixel, 'base64');
const svg = '<?xml version="1.0"?>\n<!-- a > b --><!DOCTYPE svg [<!ENTITY a "b">]>\n<svg xmlns="http://www.w3.org/2000/svg"/>';

/** A folder with a notebook in a folder, and a window on it. */
async function openFolder() {
  const outside = await temporaryFolder();
  const folder = join(outside, 'work');
  await mkdir(join(folder, 'images'), { recursive: true });
  await writeFile(join(outside, 'secret.png'), png);
  const host = await startHost({ file: join(folder, 'a.ipynb') });
  const window = await openWindow(host.url);
  const read = (path: string) => window.ask({ do: 'readImage', path });
  return { outside, folder, read };
}

describe('an image beside the notebook', () => {
  it('is read by its path from there, and is what its bytes say', async () => {
    const { folder, read } = await openFolder();
    await writeFile(join(folder, 'plot.png'), png);
    await writeFile(join(folder, 'images/no extension'), svg);
    expect(await read('plot.png')).toEqual({ type: 'image/png', data: pixel });
    expect(await read('./images//no extension')).toEqual({ type: 'image/svg+xml', data: Buffer.from(svg).toString('base64') });
  });

  it.each([
    ['above', '../secret.png', 'not below the folder'],
    ['above, on a way round', 'images/../../secret.png', 'not below the folder'],
    ['by an absolute path', '/etc/passwd', 'not below the folder'],
    ['by a path of Windows', 'C:\\secret.png', 'not below the folder'],
    ['by backslashes', '..\\secret.png', 'not below the folder'],
    ['with a zero in it', 'plot.png\0', 'not below the folder'],
    ['by nothing', '', 'not below the folder'],
    ['that is the folder', '.', 'not below the folder'],
    ['that is a folder', 'images', 'no file'],
    ['that is not there', 'none.png', 'no such file'],
    ['below a file', 'a.ipynb/x.png', 'no such file'],
    ['that is the notebook', 'a.ipynb', 'no image'],
    ['that is a page', 'page.svg', 'no image'],
    ['that is a secret by a name of an image', 'key.png', 'no image'],
    ['that is empty', 'empty.png', 'no image'],
    ['that is large', 'large.png', 'more than 10 MiB'],
    ['that is a link to a file', 'link.png', 'links are not followed'],
    ['below a link to a folder', 'out/secret.png', 'no such file|links are not followed'],
    ['that is a pipe', 'pipe.png', 'no file'],
  ])('an image %s is refused', async (_, path, reason) => {
    const { outside, folder, read } = await openFolder();
    await writeFile(join(folder, 'page.svg'), '<html><svg></svg><script>1</script></html>');
    await writeFile(join(folder, 'key.png'), '-----BEGIN PRIVATE KEY-----');
    await writeFile(join(folder, 'empty.png'), '');
    await writeFile(join(folder, 'large.png'), png);
    await truncate(join(folder, 'large.png'), maxImageBytes + 1);
    await symlink(join(outside, 'secret.png'), join(folder, 'link.png'));
    await symlink(outside, join(folder, 'out'));
    if (process.platform !== 'win32') execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(folder, 'pipe.png')]);
    await expect(read(path)).rejects.toMatchObject({ code: 'image_unreadable', message: expect.stringMatching(reason) });
  });

  it('no image comes from elsewhere, while a folder becomes a link and a folder again', async () => {
    const { outside, folder, read } = await openFolder();
    const secret = Buffer.concat([png, Buffer.from('secret')]);
    await writeFile(join(outside, 'secret.png'), secret);
    await writeFile(join(folder, 'images/secret.png'), png);
    await symlink(outside, join(folder, 'link'));
    const [images, kept] = [join(folder, 'images'), join(folder, 'kept')];
    let isDone = false;
    const swapping = (async () => {
      for (; !isDone; ) {
        await rename(images, kept);
        await symlink(outside, images);
        await rm(images);
        await rename(kept, images);
      }
    })();
    const found = await Promise.allSettled(Array.from({ length: 400 }, () => read('images/secret.png')));
    isDone = true;
    await swapping;
    const data = found.flatMap((each) => (each.status === 'fulfilled' ? [(each.value as { data: string }).data] : []));
    expect(data.filter((each) => each !== pixel)).toEqual([]);
    expect(await read('images/secret.png')).toEqual({ type: 'image/png', data: pixel });
  });

  it('is nothing for a notebook without a file', async () => {
    const window = await openWindow((await startHost()).url);
    await expect(window.ask({ do: 'readImage', path: 'a.png' })).rejects.toMatchObject({ code: 'image_unreadable' });
  });
});

it('the type of an image is told by its bytes', async () => {
  const types = ['\xff\xd8\xff\xe0', 'GIF89a', 'RIFF0000WEBPVP8 ', '\0\0\0 ftypavif', `\ufeff\n${svg}`].map((text) =>
    imageTypeOf(Buffer.from(text, text.includes('svg') ? 'utf8' : 'latin1')),
  );
  expect(types).toEqual(['image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml']);
  expect(imageTypeOf(await readFile(new URL(import.meta.url)))).toBeUndefined();
  expect(imageTypeOf(Buffer.from(`${'<!-- '.repeat(2000)}<svg`))).toBeUndefined();
});
