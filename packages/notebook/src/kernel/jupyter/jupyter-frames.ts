/** The frames between us and the helper (python/notebridge_jupyter/frames.py): two lengths, a header as JSON, then bytes as they are. */
import type { Readable } from 'node:stream';

export interface Frame {
  readonly header: { readonly [key: string]: unknown };
  readonly parts: readonly Buffer[];
}

const lengthBytes = 8;
/** The helper sends no larger output than 256 MB. */
const maxFrameBytes = 512 * 1024 * 1024;

export function toHelperFrame(header: object, parts: readonly Uint8Array[] = []): Buffer {
  const head = Buffer.from(JSON.stringify({ ...header, sizes: parts.map((part) => part.byteLength) }));
  const lengths = Buffer.alloc(lengthBytes);
  lengths.writeUInt32BE(head.byteLength, 0);
  lengths.writeUInt32BE(
    parts.reduce((sum, part) => sum + part.byteLength, 0),
    4,
  );
  return Buffer.concat([lengths, head, ...parts]);
}

/** `onFault` is called once, and nothing afterwards. */
export function readFrames(stream: Readable, onFrame: (frame: Frame) => void, onFault: (reason: string) => void): void {
  let chunks: Buffer[] = [];
  let length = 0;
  let wanted = lengthBytes;
  let isFaulty = false;
  stream.on('data', (chunk: Buffer) => {
    if (isFaulty) return;
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length < wanted) return;
    let data = chunks.length === 1 ? chunk : Buffer.concat(chunks);
    try {
      for (wanted = sizeOf(data); data.byteLength >= wanted && data.byteLength >= lengthBytes; wanted = sizeOf(data)) {
        const frame = toFrame(data.subarray(0, wanted));
        data = data.subarray(wanted);
        onFrame(frame);
      }
    } catch (error) {
      isFaulty = true;
      chunks = [];
      return onFault(`it sent something that is not a frame (${error instanceof Error ? error.message : String(error)})`);
    }
    chunks = [data];
    length = data.byteLength;
  });
}

function sizeOf(data: Buffer): number {
  if (data.byteLength < lengthBytes) return lengthBytes;
  const size = lengthBytes + data.readUInt32BE(0) + data.readUInt32BE(4);
  if (size > maxFrameBytes) throw new RangeError(`${size} bytes`);
  return size;
}

function toFrame(data: Buffer): Frame {
  let at = lengthBytes + data.readUInt32BE(0);
  const header: unknown = JSON.parse(data.toString('utf8', lengthBytes, at));
  if (typeof header !== 'object' || header === null) throw new TypeError('no header');
  const { sizes } = header as { sizes?: unknown };
  if (!Array.isArray(sizes)) throw new TypeError('no sizes');
  const parts = sizes.map((size: unknown) => {
    const part = data.subarray(at, at + Number(size));
    at += Number(size);
    return part;
  });
  if (at !== data.byteLength) throw new RangeError('sizes that do not match');
  return { header: header as Frame['header'], parts };
}
