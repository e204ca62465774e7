import { describe, expect, test } from 'vitest';
import { isMadeOf, packSnapshot, unpackSnapshot } from './snapshot-file.js';

const fingerprint = new Uint8Array(32).fill(7);
const page = 4096;

function memoryWith(length: number, ...places: number[]): Uint8Array {
  const memory = new Uint8Array(length);
  for (const place of places) memory[place] = 1 + (place % 255);
  return memory;
}

describe('a snapshot', () => {
  test.each([
    ['of nothing', memoryWith(0), 0],
    ['of zeros', memoryWith(10 * page), 0],
    ['of some pages', memoryWith(10 * page, 0, page - 1, 5 * page, 10 * page - 1), 3],
    ['that ends within a page', memoryWith(3 * page + 5, 2 * page, 3 * page + 4), 2],
  ])('%s comes back as it was, and is as large as what is in it', (_name, memory, pages) => {
    const file = packSnapshot(fingerprint, memory);
    expect(unpackSnapshot(fingerprint, file)).toEqual(memory);
    expect(file.length).toBeLessThanOrEqual(40 + pages * (page + 4));
  });

  test('is taken from anywhere in a buffer, and shares nothing with it', () => {
    const memory = memoryWith(page, 3);
    const buffer = Buffer.concat([Buffer.from('odd'), packSnapshot(fingerprint, memory)]);
    const unpacked = unpackSnapshot(fingerprint, buffer.subarray(3));
    buffer.fill(9);
    expect(unpacked).toEqual(memory);
  });

  test('of other files, or not whole, is refused', () => {
    const file = packSnapshot(fingerprint, memoryWith(2 * page, 1, page));
    const other = new Uint8Array(32).fill(8);
    expect(isMadeOf(other, file)).toBe(false);
    expect(() => unpackSnapshot(other, file)).toThrow(/made of other files/);
    for (const length of [0, 20, 39]) expect(() => unpackSnapshot(fingerprint, file.subarray(0, length))).toThrow(/made of other files/);
    for (const length of [42, 60, file.length - 1]) expect(() => unpackSnapshot(fingerprint, file.subarray(0, length))).toThrow();
    expect(() => unpackSnapshot(fingerprint, Buffer.concat([file, Buffer.of(0)]))).toThrow(/not whole/);
  });
});
