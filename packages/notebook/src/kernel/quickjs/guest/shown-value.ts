import { show } from './show.js';

/** A value in every form that it has, by mime type. */
export type ShownValue = { [mimeType: string]: string };

/** Bytes that a tool returned as an image are shown as one. */
export function shownValue(value: unknown): ShownValue {
  try {
    const { type, mimeType, block } = (value ?? {}) as { type?: unknown; mimeType?: unknown; block?: { data?: unknown } };
    if (
      type === 'image' &&
      typeof mimeType === 'string' &&
      /^image\/(png|jpeg|gif|webp)$/.test(mimeType) &&
      typeof block?.data === 'string'
    )
      return { [mimeType]: block.data, 'text/plain': `[${mimeType}]` };
  } catch {
    // Shown as whatever else it is.
  }
  return { 'text/plain': show(value) };
}
