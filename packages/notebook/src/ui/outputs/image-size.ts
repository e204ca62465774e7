import { readImageFacts } from '../../outputs/image-facts.js';

/** More would take hundreds of megabytes when it is drawn. */
export const maxPixels = 64_000_000;

/** Enough for the head of every kind, and for a profile that a JPEG carries before its size. */
const headCharacters = 400_000;

/** How many pixels an image of a `data:` address declares; 0 if unknown: a browser finds out for itself. */
export function pixelsOf(address: string): number {
  const start = address.indexOf(';base64,');
  if (start === -1) return 0;
  const head = address.slice(start + 8, start + 8 + headCharacters).replace(/[^\w+/]/g, '');
  const { width, height } = readImageFacts(head.slice(0, head.length - (head.length % 4))) ?? { width: 0, height: 0 };
  return width * height;
}
