// A thread of its own: decoding takes a second for a large plot, and all memory of it goes when the thread ends.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import decodeJpeg, { init as initJpegDecoder } from '@jsquash/jpeg/decode.js';
import encodeJpeg, { init as initJpegEncoder } from '@jsquash/jpeg/encode.js';
import decodePng, { init as initPngDecoder } from '@jsquash/png/decode.js';
import encodePng, { init as initPngEncoder } from '@jsquash/png/encode.js';
import type { ImageBounds, ImageRegion } from './image-scaling.js';
import { flatten, type Pixels, scaleDown } from './pixels.js';

export interface ImageTask extends ImageBounds {
  bytes: Uint8Array;
  format: 'PNG' | 'JPEG';
}

export interface EncodedImage {
  bytes: Uint8Array;
  format: 'PNG' | 'JPEG';
  width: number;
  height: number;
}

const require = createRequire(import.meta.url);
const maxTries = 6;

parentPort?.postMessage(await fit(workerData as ImageTask));

async function fit({ bytes, format, maxBytes, maxEdge, region }: ImageTask): Promise<EncodedImage> {
  const image = crop(await decode(bytes, format), region);
  let scale = Math.min(1, maxEdge / Math.max(image.width, image.height));
  for (let attempt = 0; attempt < maxTries; attempt++) {
    const scaled = scaleDown(image, toSize(image, scale));
    const { width, height } = scaled;
    // A photograph would only cost the time: a PNG shrinks with its pixels.
    const mayFit = (bytes.byteLength * width * height) / (image.width * image.height) < 4 * maxBytes;
    const png = format === 'PNG' && attempt === 0 && (mayFit || region !== undefined) ? await toPng(scaled) : undefined;
    if (png && png.byteLength <= maxBytes) return { bytes: png, format: 'PNG', width, height };
    const jpeg = await toJpeg(scaled);
    if (jpeg.byteLength <= maxBytes) return { bytes: jpeg, format: 'JPEG', width, height };
    scale *= Math.min(0.8, Math.sqrt(maxBytes / jpeg.byteLength));
  }
  throw new Error(`it cannot be brought below ${maxBytes} bytes`);
}

async function decode(bytes: Uint8Array, format: 'PNG' | 'JPEG'): Promise<Pixels> {
  const buffer = bytes.slice().buffer;
  if (format === 'JPEG') {
    await initJpegDecoder(load('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'));
    return decodeJpeg(buffer);
  }
  await initPngDecoder(load('@jsquash/png/codec/pkg/squoosh_png_bg.wasm'));
  return decodePng(buffer);
}

async function toPng(image: Pixels): Promise<Uint8Array> {
  await initPngEncoder(load('@jsquash/png/codec/pkg/squoosh_png_bg.wasm'));
  return new Uint8Array(await encodePng(image as ImageData));
}

/** Transparent plots are drawn on white paper. */
async function toJpeg(image: Pixels): Promise<Uint8Array> {
  await initJpegEncoder(load('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'));
  return new Uint8Array(await encodeJpeg(flatten(image) as ImageData, { quality: 80, progressive: false }));
}

function load(file: string): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(require.resolve(file)));
}

function toSize({ width, height }: Pixels, scale: number): { width: number; height: number } {
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

function crop(image: Pixels, region: ImageRegion | undefined): Pixels {
  if (!region) return image;
  const [x, y] = [Math.min(region.x, image.width - 1), Math.min(region.y, image.height - 1)];
  const [width, height] = [Math.min(region.width, image.width - x), Math.min(region.height, image.height - y)];
  const data = new Uint8ClampedArray(4 * width * height);
  for (let row = 0; row < height; row++) {
    const start = 4 * ((y + row) * image.width + x);
    data.set(image.data.subarray(start, start + 4 * width), 4 * row * width);
  }
  return { data, width, height };
}
