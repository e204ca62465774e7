import { Marked, type TokenizerAndRendererExtension } from 'marked';
import type { JsonObject } from '../../model/json.js';
import { sanitised } from './sanitise.js';

const marked = new Marked({ gfm: true, breaks: false });
marked.use({
  extensions: [math('blockMath', 'block', /^\$\$([\s\S]+?)\$\$/), math('inlineMath', 'inline', /^\$(?![\s$])([^$\n]*?[^\s$\\])\$(?!\d)/)],
});

/** Markdown as safe elements. Images come from the cell's attachments or from data addresses; others are named, not loaded. */
export function renderMarkdown(source: string, attachments: JsonObject = {}): DocumentFragment {
  const html = marked.parse(source, { async: false });
  return sanitised(html, { imageFor: (address) => attachedImage(address, attachments) });
}

/** LaTeX is shown as it is written: no maths library, but no Markdown inside it either. */
function math(name: string, level: 'block' | 'inline', pattern: RegExp): TokenizerAndRendererExtension {
  return {
    name,
    level,
    start: (source) => {
      const at = source.indexOf('$');
      return at === -1 ? undefined : at;
    },
    tokenizer: (source) => {
      const found = pattern.exec(source);
      return found ? { type: name, raw: found[0], text: (found[1] ?? '').trim() } : undefined;
    },
    renderer: (token) => {
      const tag = level === 'block' ? 'div' : 'span';
      return `<${tag} class="math">${escaped(String(token.text))}</${tag}>`;
    },
  };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function attachedImage(address: string, attachments: JsonObject): string | undefined {
  if (!address.startsWith('attachment:')) return undefined;
  const bundle = attachments[decodeURIComponent(address.slice('attachment:'.length))] as { [type: string]: unknown } | undefined;
  const [type, data] = Object.entries(bundle ?? {}).find(([mime]) => mime.startsWith('image/')) ?? [];
  if (!type || typeof data !== 'string') return undefined;
  return type === 'image/svg+xml' ? `data:${type};charset=utf-8,${encodeURIComponent(data)}` : `data:${type};base64,${data}`;
}
