import { type FoundPart, folded, replaceFound, toView, unescaped, type View } from './text-views.js';

/** A text that says less than this would be found everywhere. Bytes. */
const shortestSecret = 6;

/** What is looked for in place of a secret, whatever spells it. */
export interface SoughtSecret {
  /** What it says: unescaped and folded. */
  meanings: Buffer[];
  /** Its bytes in the encodings that are not UTF-8. */
  otherBytes: Buffer[];
  mark: string;
}

/** None is looked for of a secret that says too little. A letter behind a backslash of its own may be read as an escape, or not. */
export function toSought(secret: string, mark: string): SoughtSecret {
  const trimmed = secret.trim();
  const texts = new Set([trimmed, trimmed.replaceAll('\\', '')]);
  const meanings = [...texts].map((text) => meant(toView(Buffer.from(text))).bytes).filter(({ length }) => length >= shortestSecret);
  const little = Buffer.from(secret, 'utf16le');
  return { meanings, otherBytes: [little, Buffer.from(little).swap16()], mark };
}

/** The text with a mark in place of each secret, however JSON, URLs, forms and line breaks have spelled it. Linear in the text. */
export function hideSpelled(text: string, sought: readonly SoughtSecret[]): string {
  const source = Buffer.from(text);
  const found = findIn(toView(source), sought, false).map(({ from, to, secret }) => ({ from, to, mark: Buffer.from(secret.mark) }));
  return found.length === 0 ? text : replaceFound(source, found).toString();
}

/** Bytes with a mark in place of each secret, also in UTF-16. */
export function hideInBytes(bytes: Buffer, sought: readonly SoughtSecret[]): Buffer {
  const found: FoundPart[] = findIn(toView(bytes), sought, true).map(({ from, to, secret }) => ({
    from,
    to,
    mark: Buffer.from(secret.mark),
  }));
  return found.length === 0 ? bytes : replaceFound(bytes, found);
}

/** Where a view says a secret, by its own bytes. */
export function findIn(
  view: View,
  sought: readonly SoughtSecret[],
  inAnyEncoding: boolean,
): { from: number; to: number; secret: SoughtSecret }[] {
  const own = toView(view.bytes);
  const said = meant(own);
  const found: { from: number; to: number; secret: SoughtSecret }[] = [];
  const look = (where: View, bytes: Buffer, secret: SoughtSecret): void => {
    for (let at = where.bytes.indexOf(bytes); at >= 0; at = where.bytes.indexOf(bytes, at + bytes.length)) {
      const [from, to] = where.range(at, at + bytes.length);
      found.push({ from, to, secret });
    }
  };
  for (const secret of sought) {
    for (const meaning of secret.meanings) look(said, meaning, secret);
    if (inAnyEncoding) for (const bytes of secret.otherBytes) look(own, bytes, secret);
  }
  return found;
}

function meant(view: View): View {
  return folded(unescaped(view));
}
