import { decodeEntities } from './entities.js';

/** A page that is the whole of an output. */
export interface PageWithin {
  /** Its markup, or where it is. */
  readonly page?: string;
  readonly address?: string;
  readonly heightPx: number;
}

const frame = /<iframe\b(?:[^>"']|"[^"]*"|'[^']*')*>/gi;
const defaultHeightPx = 480;

/** The page in an output of HTML that brings one and no scripts of its own, as maps and networks are shown; undefined for any other. */
export function pageWithin(html: string): PageWithin | undefined {
  if (!/<iframe/i.test(html)) return undefined;
  const frames = html.match(frame) ?? [];
  const [tag] = frames;
  if (tag === undefined || frames.length > 1 || /<script/i.test(html.replace(tag, () => ''))) return undefined;
  const heightPx = Math.min(2000, Number(/^(\d{2,4})(?:px)?$/.exec(attributeOf(tag, 'height') ?? '')?.[1] ?? defaultHeightPx));
  const srcdoc = attributeOf(tag, 'srcdoc');
  if (srcdoc !== undefined) return { page: decodeEntities(srcdoc), heightPx };
  const src = attributeOf(tag, 'src');
  return src === undefined ? undefined : { address: decodeEntities(src), heightPx };
}

function attributeOf(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag);
  return found?.[1] ?? found?.[2];
}
