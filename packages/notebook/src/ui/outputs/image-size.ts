/** More would take hundreds of megabytes when it is drawn. */
export const maxPixels = 64_000_000;

/** Enough for the head of every kind, and for a profile that a JPEG carries before its size. */
const headCharacters = 400_000;

/** How many pixels an image of a `data:` address declares; 0 if unknown: a browser finds out for itself. */
export function pixelsOf(address: string): number {
  const start = address.indexOf(';base64,');
  if (start === -1) return 0;
  const bytes = bytesOf(address.slice(start + 8, start + 8 + headCharacters));
  const view = new DataView(bytes.buffer);
  try {
    return sizeOfPng(view) ?? sizeOfGif(view) ?? sizeOfWebp(view) ?? sizeOfJpeg(view) ?? 0;
  } catch (error) {
    if (error instanceof RangeError) return 0;
    throw error;
  }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const clean = base64.replace(/[^\w+/]/g, '');
  try {
    return Uint8Array.from(atob(clean.slice(0, clean.length - (clean.length % 4))), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function sizeOfPng(view: DataView): number | undefined {
  return view.getUint32(0) === 0x89504e47 ? view.getUint32(16) * view.getUint32(20) : undefined;
}

function sizeOfGif(view: DataView): number | undefined {
  return view.getUint32(0) === 0x47494638 ? view.getUint16(6, true) * view.getUint16(8, true) : undefined;
}

function sizeOfWebp(view: DataView): number | undefined {
  if (view.getUint32(0) !== 0x52494646 || view.getUint32(8) !== 0x57454250) return undefined;
  const kind = view.getUint32(12);
  const threeBytes = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 65_536;
  if (kind === 0x56503858) return (threeBytes(24) + 1) * (threeBytes(27) + 1);
  if (kind === 0x5650384c) {
    const bits = view.getUint32(21, true);
    return ((bits & 0x3fff) + 1) * (((bits >>> 14) & 0x3fff) + 1);
  }
  return (view.getUint16(26, true) & 0x3fff) * (view.getUint16(28, true) & 0x3fff);
}

/** The size stands in the first segment of a frame (SOF); what comes before it is passed over. */
function sizeOfJpeg(view: DataView): number | undefined {
  if (view.getUint16(0) !== 0xffd8) return undefined;
  for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (view.getUint8(at) !== 0xff) return undefined;
    if (isFrame) return view.getUint16(at + 5) * view.getUint16(at + 7);
  }
}
