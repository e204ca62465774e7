import { crc32, inflateSync } from 'node:zlib';
import { expectSame, expectThat } from './expect.js';

const signature = '89504e470d0a1a0a';

/** Takes a PNG image of 8-bit RGB to pieces and gives its size. Throws for anything else, and for one that lacks a byte or has a wrong one. */
export function readPng(base64: string): { width: number; height: number; bytes: number } {
  const bytes = Buffer.from(base64, 'base64');
  expectSame('the signature of a PNG image,', bytes.subarray(0, 8).toString('hex'), signature);
  const chunks = chunksOf(bytes.subarray(8));
  const [head] = chunks;
  expectThat(head?.kind === 'IHDR' && head.data.length === 13, 'a PNG image that begins with its size', head?.kind);
  expectSame('a last chunk', chunks.at(-1)?.kind, 'IEND');
  const [width, height] = [head.data.readUInt32BE(0), head.data.readUInt32BE(4)];
  const packed = chunks.filter(({ kind }) => kind === 'IDAT').map(({ data }) => data);
  // Each row has a byte that says how it is packed, and three for each pixel.
  expectSame('bytes of pixels:', inflateSync(Buffer.concat(packed)).length, height * (1 + 3 * width));
  return { width, height, bytes: bytes.length };
}

/** Length, kind, data, checksum; until the end. */
function chunksOf(bytes: Buffer): { kind: string; data: Buffer }[] {
  const chunks: { kind: string; data: Buffer }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    const kind = bytes.toString('latin1', at + 4, at + 8);
    expectSame(`a "${kind}" chunk with the checksum`, bytes.readUInt32BE(end), crc32(bytes.subarray(at + 4, end)));
    chunks.push({ kind, data: bytes.subarray(at + 8, end) });
    at = end + 4;
  }
  return chunks;
}
