import type { Cell } from '../../model/cell.js';

export interface Heading {
  readonly cellId: string;
  /** 1 to 6. */
  readonly level: number;
  readonly text: string;
}

const maxHeadings = 2000;

/** The headings of all text cells, in their order. */
export function headingsOf(cells: readonly Pick<Cell, 'id' | 'type' | 'source'>[]): Heading[] {
  const headings: Heading[] = [];
  for (const { id, type, source } of cells) {
    if (type !== 'markdown' || !source.includes('#')) continue;
    let fence: string | undefined;
    for (const line of source.split('\n')) {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) fence = fence === undefined ? mark : undefined;
      const found = fence === undefined ? /^ {0,3}(#{1,6})[ \t]+(.+)$/.exec(line) : null;
      if (found) headings.push({ cellId: id, level: found[1]?.length ?? 1, text: plain(found[2] ?? '') });
      if (headings.length >= maxHeadings) return headings;
    }
  }
  return headings;
}

/** Without the marks of Markdown. */
function plain(text: string): string {
  const words = text
    .slice(0, 300)
    .replace(/[ \t]+#+[ \t]*$/, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*`]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '');
  return words.trim();
}
