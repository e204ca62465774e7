import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { deflateSync } from 'node:zlib';
import encodePng, { init } from '@jsquash/png/encode.js';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Output } from '../../src/model/output.js';
import { readImageFacts } from '../../src/outputs/image-facts.js';
import { maxDecodedPixels } from '../../src/outputs/image-scaling.js';
import { createImageScaler } from '../../src/outputs/scale-image.js';
import { readOutput } from '../../src/tools/get-output.js';
import { createImageCollector } from '../../src/tools/output-content.js';

const scaleImage = createImageScaler();

beforeAll(async () => {
  const file = createRequire(import.meta.url).resolve('@jsquash/png/codec/pkg/squoosh_png_bg.wasm');
  await init(new WebAssembly.Module(readFileSync(file)));
});

/** A plot that compresses badly: as many bytes as there are pixels, and more. */
async function plot(width: number, height: number): Promise<Buffer> {
  const data = new Uint8ClampedArray(4 * width * height);
  let seed = 1;
  for (let at = 0; at < data.length; at++) {
    seed = (seed * 48_271) % 2_147_483_647;
    data[at] = at % 4 === 3 ? 255 : (seed >> 8) & 255;
  }
  return Buffer.from(await encodePng({ data, width, height } as ImageData));
}

/** Drawn once for all. */
let drawn: Promise<Buffer> | undefined;
function largePlot(): Promise<Buffer> {
  drawn ??= plot(1000, 750);
  return drawn;
}

/** A chunk of a PNG; its checksum is wrong, which no reader of sizes looks at. */
function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
}

/** Says that it has so many pixels, and has no more than some zeros. */
function bomb(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.alloc(1_000_000))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A decoder finds the first size, behind a marker without a length; who takes what follows for its length finds the second, in a comment. */
function jpegOfTwoSizes(marker: number): Buffer {
  const size = (edge: number): Buffer => {
    const frame = Buffer.from('ffc00011080000000003011100021100031100', 'hex');
    frame.writeUInt16BE(edge, 5);
    frame.writeUInt16BE(edge, 7);
    return frame;
  };
  const comment = Buffer.alloc(2 + 0xffff);
  comment.set([0xff, 0xfe, 0xff, 0xff]);
  const start = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, marker]), size(14_000)]);
  comment.set(size(2000), 4 + 0xffc0 - start.length);
  return Buffer.concat([start, comment, Buffer.from('ffd9', 'hex')]);
}

const shown = (mimeType: string, image: Buffer | string): Output => ({
  output_type: 'display_data',
  metadata: {},
  data: { [mimeType]: typeof image === 'string' ? image : image.toString('base64') },
});

async function show(outputs: readonly Output[], options = {}) {
  const images = createImageCollector({ scaleImage, ...options });
  const collected = await images.collect(outputs);
  const notes = collected.map(({ data }) => Object.values(data as object)[0] as string);
  const blocks = images.blocks.map((block) => (block.type === 'image' ? block : undefined));
  return { notes, blocks };
}

describe('images of an answer', () => {
  it('are scaled to the size of a block, whole, and say from what', { tags: ['P-311'] }, async () => {
    const large = await largePlot();
    expect(large.length).toBeGreaterThan(1_000_000);
    const { notes, blocks } = await show([shown('image/png', large)]);
    expect(notes).toEqual([
      expect.stringMatching(/^\[image block 1 of this result: \d+×\d+ JPEG, \d+ bytes, scaled from 1000×750 PNG, \d+ bytes\]$/),
    ]);
    const facts = readImageFacts(blocks[0]?.data ?? '');
    expect(facts).toMatchObject({ format: 'JPEG', isWhole: true });
    expect(facts?.bytes).toBeLessThanOrEqual(256 * 1024);
    expect(Math.max(facts?.width ?? 0, facts?.height ?? 0)).toBeGreaterThan(500);
  });

  it('stay as they are where they fit', async () => {
    const small = await plot(100, 80);
    const { notes, blocks } = await show([shown('image/png', small)]);
    expect(notes).toEqual([`[image block 1 of this result: 100×80 PNG, ${small.length} bytes]`]);
    expect(blocks[0]?.data).toBe(small.toString('base64'));
  });

  it('stay as they are where outputs are wanted whole', { tags: ['deep'] }, async () => {
    const large = await largePlot();
    const { blocks } = await show([shown('image/png', large)], { whole: true });
    expect(blocks[0]?.data).toBe(large.toString('base64'));
  });

  it('an image of a type that a host cannot know is sent as what it is', async () => {
    const { blocks } = await show([shown('image/jpeg', await plot(10, 10))]);
    expect(blocks[0]?.mimeType).toBe('image/png');
  });

  it('are read as a region in full size by get_output', { tags: ['P-311'] }, async () => {
    const large = await largePlot();
    const args = { cellId: 'c', type: 'image/png', region: '900,10,400,50' };
    const { value, images } = await readOutput([shown('image/png', large)], args, { scaleImage });
    expect(value).toMatchObject({
      text: expect.stringMatching(/^\[image block 1 of this result: 100×50 PNG, \d+ bytes, a region of 1000×750 PNG/),
    });
    expect(readImageFacts(String((images?.[0] as { data?: string } | undefined)?.data))).toMatchObject({ width: 100, height: 50 });
    await expect(readOutput([shown('image/png', large)], { ...args, region: '1,2,3' }, { scaleImage })).rejects.toThrow('region has to be');
  });

  it('together take no more than four of the largest', { tags: ['P-313'] }, async () => {
    const image = shown('image/png', await plot(280, 230));
    const { blocks, notes } = await show(Array.from({ length: 10_000 }, () => image));
    const bytes = blocks.reduce((sum, block) => sum + Buffer.byteLength(block?.data ?? '', 'base64'), 0);
    expect(bytes).toBeLessThanOrEqual(4 * 256 * 1024);
    expect(blocks.length).toBeGreaterThan(3);
    expect(notes.at(-1)).toMatch(/^\[left out: \d+ characters of base64; get_output shows it\]$/);
  });
});

describe('hostile images', () => {
  const png = async () => plot(600, 600);

  it.each([
    ['a bomb of 10,000,000,000 pixels', async () => bomb(100_000, 100_000), `more than ${maxDecodedPixels} pixels are not decoded here`],
    ['a bomb that is small enough to be tried', async () => bomb(5000, 5000), 'its data is damaged'],
    ['a truncated PNG', async () => (await png()).subarray(0, 30_000), 'its data is damaged'],
    ['a small truncated PNG', async () => (await plot(20, 20)).subarray(0, 200), 'its data is damaged'],
    ['a JPEG without an end', async () => Buffer.from('ffd8ffc0001108004000400301220002110103110100', 'hex'), 'its data is damaged'],
    ['a GIF without an end', async () => Buffer.from('47494638396110001000f70000000000', 'hex'), 'its end is missing'],
    [
      'a WebP without an end',
      async () => Buffer.concat([Buffer.from('RIFF\xff\xff\x00\x00WEBPVP8X', 'latin1'), Buffer.alloc(14)]),
      'its end is missing',
    ],
    [
      'a GIF that is too large',
      async () => Buffer.concat([Buffer.from('474946383961ff0fff0f', 'hex'), Buffer.alloc(300_000), Buffer.from(';')]),
      'it is too large for an answer',
    ],
  ])('%s is named, and never shown', { tags: ['P-312'] }, async (_, make, why) => {
    const { notes, blocks } = await show([shown('image/png', await make())]);
    expect(notes).toEqual([expect.stringMatching(/^\[not shown: \d+×\d+ (PNG|JPEG|GIF|WebP), \d+ bytes; .*\]$/)]);
    expect(notes[0]).toContain(why);
    expect(blocks).toEqual([]);
  });

  it.each([0x00, 0x01, 0xd0, 0xd7])(
    'an image that says two sizes, behind marker %i, is not decoded',
    { tags: ['deep'] },
    async (marker) => {
      const decoded: unknown[] = [];
      const scale: typeof scaleImage = (image, bounds) => {
        decoded.push(image);
        return scaleImage(image, bounds);
      };
      const image = jpegOfTwoSizes(marker);
      const { notes, blocks } = await show([shown('image/jpeg', image)], { scaleImage: scale });
      expect(notes).toEqual([expect.stringMatching(/^\[not shown: \d+ characters of base64 that are no PNG/)]);
      expect(blocks).toEqual([]);
      expect(decoded).toEqual([]);
    },
  );

  it('base64 that is none makes no image blocks', { tags: ['P-312'] }, async () => {
    const { notes, blocks } = await show([shown('image/png', Buffer.alloc(5000).toString('base64')), shown('image/png', '<svg/>')]);
    expect(notes).toEqual(['[not shown: 6668 characters of base64 that are no PNG, JPEG, GIF or WebP image]', '<svg/>']);
    expect(blocks).toEqual([]);
  });

  it('do not keep the next one from being scaled', { tags: ['deep'] }, async () => {
    const { notes } = await show([shown('image/png', bomb(5000, 5000)), shown('image/png', await png())]);
    expect(notes[0]).toMatch(/^\[not shown/);
    expect(notes[1]).toMatch(/^\[image block 1/);
  });
});
