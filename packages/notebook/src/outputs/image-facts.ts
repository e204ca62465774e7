/** What the first and last bytes of an image say. */
export interface ImageFacts {
  format: 'PNG' | 'JPEG' | 'GIF' | 'WebP';
  mimeType: string;
  width: number;
  height: number;
  bytes: number;
  /** False if its end is missing. */
  isWhole: boolean;
}

/** Multiples of four: whole bytes. The size of a JPEG may stand behind a colour profile. */
const jpegHeadCharacters = 400_000;
const tailCharacters = 96;

/** Reads base64 without line breaks. Undefined for what is no image of these formats. Nothing is decoded but both ends. */
export function readImageFacts(base64: string): ImageFacts | undefined {
  const bytes = Math.floor((base64.length * 3) / 4) - (/=*$/.exec(base64.slice(-2))?.[0].length ?? 0);
  const head = decode(base64.slice(0, base64.startsWith('/9j/') ? jpegHeadCharacters : 64));
  const tail = decode(base64.slice(Math.max(0, Math.ceil(base64.length / 4) * 4 - tailCharacters)));
  if (head === undefined || tail === undefined) return undefined;
  for (const read of [readPng, readJpeg, readGif, readWebp]) {
    const facts = read(head, tail, bytes);
    if (facts && facts.width > 0 && facts.height > 0) return { ...facts, bytes };
  }
  return undefined;
}

type Read = (head: string, tail: string, bytes: number) => Omit<ImageFacts, 'bytes'> | undefined;

/** Bytes as characters. */
function decode(base64: string): string | undefined {
  try {
    return atob(base64);
  } catch {
    return undefined;
  }
}

const readPng: Read = (head, tail) => {
  if (!head.startsWith('\x89PNG\r\n\x1a\n') || head.slice(12, 16) !== 'IHDR' || head.length < 24) return undefined;
  return { format: 'PNG', mimeType: 'image/png', width: big(head, 16, 4), height: big(head, 20, 4), isWhole: tail.includes('IEND') };
};

const readGif: Read = (head, tail) => {
  if (!/^GIF8[79]a/.test(head) || head.length < 10) return undefined;
  return { format: 'GIF', mimeType: 'image/gif', width: little(head, 6, 2), height: little(head, 8, 2), isWhole: tail.includes('\x3b') };
};

const readJpeg: Read = (head, tail) => {
  if (!head.startsWith('\xff\xd8\xff')) return undefined;
  for (let at = 2; at + 9 < head.length; ) {
    const marker = head.charCodeAt(at + 1);
    if (head.charCodeAt(at) !== 0xff) return undefined;
    // Filling.
    if (marker === 0xff) at++;
    // Without a length: a decoder goes on right behind it, and would find another size there than we do behind its "length".
    else if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd9)) return undefined;
    // SOF0 … SOF15, but for tables and codings that share the numbers.
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      const [height, width] = [big(head, at + 5, 2), big(head, at + 7, 2)];
      return { format: 'JPEG', mimeType: 'image/jpeg', width, height, isWhole: tail.includes('\xff\xd9') };
    } else at += 2 + Math.max(2, big(head, at + 2, 2));
  }
  return undefined;
};

const readWebp: Read = (head, _tail, bytes) => {
  if (!head.startsWith('RIFF') || head.slice(8, 12) !== 'WEBP' || head.length < 30) return undefined;
  const isWhole = bytes >= little(head, 4, 4) + 8;
  const size = webpSize(head);
  return size && { format: 'WebP', mimeType: 'image/webp', ...size, isWhole };
};

function webpSize(head: string): { width: number; height: number } | undefined {
  switch (head.slice(12, 16)) {
    case 'VP8X':
      return { width: little(head, 24, 3) + 1, height: little(head, 27, 3) + 1 };
    case 'VP8 ':
      return { width: little(head, 26, 2) % 0x4000, height: little(head, 28, 2) % 0x4000 };
    case 'VP8L': {
      const bits = little(head, 21, 4);
      return { width: (bits % 0x4000) + 1, height: (Math.floor(bits / 0x4000) % 0x4000) + 1 };
    }
    default:
      return undefined;
  }
}

function big(bytes: string, at: number, count: number): number {
  let value = 0;
  for (let index = at; index < at + count; index++) value = value * 256 + bytes.charCodeAt(index);
  return value;
}

function little(bytes: string, at: number, count: number): number {
  let value = 0;
  for (let index = at + count - 1; index >= at; index--) value = value * 256 + bytes.charCodeAt(index);
  return value;
}
