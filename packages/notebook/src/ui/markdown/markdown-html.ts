import { Marked, type TokenizerAndRendererExtension } from 'marked';

const marked = new Marked({ gfm: true, breaks: false });
marked.use({
  extensions: [
    math('blockMath', 'block', '$$', /^\$\$([\s\S]+?)\$\$/),
    math('inlineMath', 'inline', '$', /^\$(?![\s$])([^$\n]*?[^\s$\\])\$(?!\d)/),
  ],
  renderer: {
    // The sanitiser lets no form through; what is ticked can be said without one.
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
});

/** Markdown as HTML that nobody has checked. */
export function toHtml(source: string): string {
  return marked.parse(source, { async: false });
}

/** LaTeX is shown as it is written: no maths library, but no Markdown inside it either. */
function math(name: string, level: 'block' | 'inline', mark: string, pattern: RegExp): TokenizerAndRendererExtension {
  return {
    name,
    level,
    start: (source) => {
      const at = source.indexOf(mark);
      return at === -1 ? undefined : at;
    },
    tokenizer: (source) => {
      const found = source.startsWith(mark) ? pattern.exec(source) : null;
      return found ? { type: name, raw: found[0], text: (found[1] ?? '').trim() } : undefined;
    },
    renderer: (token) => {
      const tag = level === 'block' ? 'pre' : 'span';
      return `<${tag}><tt>${escaped(String(token.text))}</tt></${tag}>`;
    },
  };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
