import { python } from '@codemirror/lang-python';
import { defineLanguageFacet, Language, LanguageSupport } from '@codemirror/language';
import { parser as markdownParser } from '@lezer/markdown';
import type { CellType } from '../../model/cell.js';

/** The Markdown grammar alone: `@codemirror/lang-markdown` would bring HTML, CSS and JavaScript along, 150 KB of it. */
const markdownLanguage = new Language(defineLanguageFacet(), markdownParser, [], 'markdown');

export function languageOf(type: CellType): LanguageSupport | [] {
  if (type === 'code') return python();
  return type === 'markdown' ? new LanguageSupport(markdownLanguage) : [];
}
