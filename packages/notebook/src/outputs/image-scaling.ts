import type { ImageFacts } from './image-facts.js';

/** Part of an image, in its own pixels. */
export interface ImageRegion {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What an image has to keep to. */
export interface ImageBounds {
  maxBytes: number;
  /** Of the longer side, in pixels. */
  maxEdge: number;
  region?: ImageRegion | undefined;
}

/** An image as it is answered: base64, and what it is. */
export type ScaledImage = Omit<ImageFacts, 'isWhole'> & { data: string };

/** Decodes a PNG or JPEG, and encodes it within the bounds. Rejects with an `Error` that says why it cannot. */
export type ScaleImage = (image: { data: string; format: 'PNG' | 'JPEG' }, bounds: ImageBounds) => Promise<ScaledImage>;

/** Decoding takes four bytes for each, twice. */
export const maxDecodedPixels = 32_000_000;
