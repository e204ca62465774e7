import { describe, expect, it } from 'vitest';
import { readPng } from './png.js';

/** One red pixel of 8-bit RGB. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

describe('readPng', () => {
  it('gives the size of a whole image', () => {
    expect(readPng(pixel)).toEqual({ width: 1, height: 1, bytes: 69 });
  });

  it('refuses what is no PNG, what was cut off, and what has a wrong byte', () => {
    expect(() => readPng(Buffer.from('<svg/>').toString('base64'))).toThrow('expected the signature of a PNG image');
    const bytes = Buffer.from(pixel, 'base64');
    expect(() => readPng(bytes.subarray(0, -12).toString('base64'))).toThrow('expected a last chunk "IEND"; found "IDAT"');
    expect(() => readPng(bytes.subarray(0, -3).toString('base64'))).toThrow();
    bytes[45] = 0xff ^ (bytes[45] ?? 0);
    expect(() => readPng(bytes.toString('base64'))).toThrow('expected a "IDAT" chunk with the checksum');
  });
});
