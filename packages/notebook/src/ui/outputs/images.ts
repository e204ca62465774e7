import { boundSvg, UnshownDrawing } from './bound-svg.js';
import { maxPixels, pixelsOf } from './image-size.js';

/** The longest address of an image that a browser is given. */
const maxAddress = 32_000_000;

/**
 * An image's `data:` address as it may be shown: a drawing written anew within its bounds, a picture of a size that is no burden.
 * Undefined for every other address. Throws `UnshownDrawing` for an image that is too much.
 */
export function safeImage(address: string): string | undefined {
  const [, type, options = '', data = ''] = /^data:(image\/[\w.+-]+)((?:;[^,;]*)*),([^]*)$/i.exec(address) ?? [];
  if (type === undefined) return undefined;
  if (address.length > maxAddress) throw new UnshownDrawing('it has too many bytes');
  if (/svg/i.test(type)) return svgAddress(/;base64/i.test(options) ? fromBase64(data) : fromPercents(data));
  if (!/^image\/(?:png|jpe?g|gif|webp|bmp|avif|x-icon)$/i.test(type)) return undefined;
  const pixels = pixelsOf(address);
  if (pixels > maxPixels) throw new UnshownDrawing(`it has ${Math.round(pixels / 1e6).toLocaleString('en')} megapixels`);
  return address;
}

export function svgAddress(source: string): string {
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(boundSvg(source))}`;
}

function fromBase64(data: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(fromPercents(data).replace(/\s/g, '')), (char) => char.charCodeAt(0)));
}

function fromPercents(data: string): string {
  try {
    return decodeURIComponent(data);
  } catch {
    return data;
  }
}
