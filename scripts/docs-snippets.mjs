// Finds the code blocks of a Markdown file, so that a test can run what the documentation promises.
import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Snippet
 * @property {string} lang
 * @property {string} code
 * @property {number} line That of the first line of code.
 * @property {string | undefined} runs The NAME of a comment `<!-- runs: NAME -->` right above the block (blank lines between are fine).
 */

/**
 * The code blocks of a Markdown file that name a language.
 * @param {string} markdownFile
 * @returns {Snippet[]}
 */
export function snippetsOf(markdownFile) {
  /** @type {Snippet[]} */
  const snippets = [];
  /** @type {string | undefined} */
  let runs;
  /** @type {{ indent: string, fence: string, lang: string, line: number, lines: string[], runs: string | undefined } | undefined} */
  let open;
  for (const [index, text] of readFileSync(markdownFile, 'utf8').split(/\r?\n/).entries()) {
    if (open) {
      if (isFenceEnd(text, open.fence)) {
        if (open.lang !== '') snippets.push({ lang: open.lang, code: open.lines.join('\n'), line: open.line, runs: open.runs });
        open = undefined;
      } else {
        open.lines.push(text.startsWith(open.indent) ? text.slice(open.indent.length) : text.trimStart());
      }
      continue;
    }
    const fence = text.match(/^(\s*)(`{3,}|~{3,})\s*([^\s`]*)/);
    if (fence) {
      const [, indent = '', marks = '', lang = ''] = fence;
      open = { indent, fence: marks, lang, line: index + 2, lines: [], runs };
      runs = undefined;
    } else if (text.trim() !== '') {
      runs = text.match(/^\s*<!--\s*runs:\s*(.+?)\s*-->\s*$/)?.[1];
    }
  }
  if (open) throw new Error(`${markdownFile}:${open.line - 1}: the code block that begins here has no end.`);
  return snippets;
}

/**
 * A fence ends with at least as many of the same characters as it began with.
 * @param {string} text
 * @param {string} fence
 */
function isFenceEnd(text, fence) {
  const end = text.trim();
  return end.length >= fence.length && end === fence.charAt(0).repeat(end.length);
}
