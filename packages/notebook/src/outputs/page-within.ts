import { decodeEntities } from './entities.js';

/** A page that is the whole of an output. */
export interface PageWithin {
  /** Its markup, or where it is. */
  readonly page?: string;
  readonly address?: string;
  readonly heightPx: number;
}

const defaultHeightPx = 480;

/** The page in an output of HTML that brings one and no scripts of its own, as maps and networks are shown; undefined for any other. */
export function pageWithin(html: string): PageWithin | undefined {
  const at = html.search(/<iframe\b/i);
  const tag = at < 0 ? '' : tagAt(html, at);
  if (tag === '' || /<(?:iframe|script)\b/i.test(html.slice(0, at) + html.slice(at + tag.length))) return undefined;
  const heightPx = Math.min(2000, Number(/^(\d{2,4})(?:px)?$/.exec(attributeOf(tag, 'height') ?? '')?.[1] ?? defaultHeightPx));
  const srcdoc = attributeOf(tag, 'srcdoc');
  if (srcdoc !== undefined) return { page: decodeEntities(srcdoc), heightPx };
  const src = attributeOf(tag, 'src');
  return src === undefined ? undefined : { address: decodeEntities(src), heightPx };
}

/** Empty if it does not end. */
function tagAt(html: string, at: number): string {
  for (const { 0: part, index } of html.slice(at).matchAll(/"[^"]*"?|'[^']*'?|>/g)) if (part === '>') return html.slice(at, at + index + 1);
  return '';
}

function attributeOf(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag);
  return found?.[1] ?? found?.[2];
}
