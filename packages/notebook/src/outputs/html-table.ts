import { answerBudget } from '@notebridge/kit/answer-budget';
import { decodeEntities } from './entities.js';

/** Rows of a long table that are shown from its beginning, its head included, and from its end. */
const headRows = 21;
const tailRows = 10;
const [headColumns, tailColumns] = [12, 6];
const { tableCharacters: maxCharacters } = answerBudget;
const [leastCellCharacters, mostCellCharacters] = [8, 80];
/** More is not read: it would keep everyone else waiting. */
const maxHtml = 16_000_000;
/** More text beside the table than a caption has: then it is a page, not a table. */
const maxCaption = 400;

interface Table {
  head: string[][];
  tail: string[][];
  rows: number;
  /** Rows with a cell that is no heading. */
  bodyRows: number;
  columns: number;
  caption: string;
}

/** A tag, a comment, or what is not shown. */
const tag = /<(\/?)([a-z][a-z0-9]*)|<!--/giy;

/**
 * HTML that is one table, as pandas and others show their frames, in a few lines of text with its shape: the rows of both ends. Undefined
 * for other HTML. Takes time in proportion to the text, and keeps no more than what is shown.
 */
export function toCompactTable(html: string): string | undefined {
  if (html.length > maxHtml) return undefined;
  const table = readTable(html);
  return table && table.rows > 0 ? print(table) : undefined;
}

function readTable(html: string): Table | undefined {
  const table: Table = { head: [], tail: [], rows: 0, bodyRows: 0, columns: 0, caption: '' };
  let [depth, tables] = [0, 0];
  let row: string[] | undefined;
  let [cells, isBody] = [0, false];
  let cell: string | undefined;
  const endCell = (): void => {
    if (cell !== undefined && row && row.length < 1000) row.push(cell);
    cell = undefined;
  };
  const endRow = (): void => {
    endCell();
    if (row && row.length > 0) addRow(table, row, { cells, isBody });
    row = undefined;
  };
  const addText = (text: string): boolean => {
    if (depth > 0) {
      if (cell !== undefined && cell.length < 4 * mostCellCharacters) cell += text.slice(0, 4 * mostCellCharacters);
      return true;
    }
    table.caption += text.slice(0, 2 * maxCaption).replaceAll(/\s+/g, ' ');
    return table.caption.length <= maxCaption;
  };
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    if (!addText(html.slice(at, open === -1 ? undefined : open))) return undefined;
    if (open === -1) break;
    tag.lastIndex = open;
    const [matched, slash, name] = tag.exec(html) ?? [];
    if (matched === undefined) {
      if (!addText('<')) return undefined;
      at = open + 1;
      continue;
    }
    const end = endOf(html, open, name);
    if (end === undefined) break;
    at = end;
    const kind = `${slash ?? ''}${name?.toLowerCase() ?? ''}`;
    if (kind === 'table' && ++depth === 1) tables++;
    else if (kind === '/table' && --depth <= 0) {
      endRow();
      depth = 0;
    }
    if (tables > 1) return undefined;
    // A table within a cell is text of that cell.
    if (depth !== 1) continue;
    if (kind === 'tr') {
      endRow();
      [row, cells, isBody] = [[], 0, false];
    } else if (kind === '/tr') endRow();
    else if (kind === 'td' || kind === 'th') {
      endCell();
      row ??= [];
      cell = '';
      if (kind === 'td') [cells, isBody] = [cells + 1, true];
    } else if (kind === '/td' || kind === '/th') endCell();
    else if (kind === 'br') addText(' ');
  }
  endRow();
  return tables === 1 ? table : undefined;
}

/** Behind the tag, or behind what is not shown; undefined if it has no end. */
function endOf(html: string, open: number, name: string | undefined): number | undefined {
  const hidden = name === undefined ? '-->' : /^(style|script)$/i.test(name) ? `</${name}` : '>';
  const end = html.indexOf(hidden, open);
  if (end === -1) return undefined;
  if (!hidden.startsWith('</')) return end + hidden.length;
  const close = html.indexOf('>', end);
  return close === -1 ? undefined : close + 1;
}

function addRow(table: Table, row: string[], { cells, isBody }: { cells: number; isBody: boolean }): void {
  table.rows++;
  if (isBody) table.bodyRows++;
  table.columns = Math.max(table.columns, isBody ? cells : 0);
  const shown = row.length > headColumns + tailColumns + 1 ? [...row.slice(0, headColumns), '…', ...row.slice(-tailColumns)] : row;
  if (table.head.length < headRows) table.head.push(shown);
  else {
    table.tail.push(shown);
    if (table.tail.length > tailRows) table.tail.shift();
  }
}

function toCellText(text: string): string {
  return decodeEntities(text).replaceAll(/\s+/g, ' ').trim();
}

function print({ head, tail, rows, bodyRows, columns, caption }: Table): string {
  const lines = [...head, ...tail];
  const count = Math.max(
    1,
    lines.reduce((sum, row) => sum + row.length, 0),
  );
  const perCell = Math.min(mostCellCharacters, Math.max(leastCellCharacters, Math.floor(maxCharacters / count) - 3));
  const toRow = (row: string[]): string => row.map((text) => cut(toCellText(text), perCell)).join(' | ');
  const leftOut = rows - lines.length;
  const note = caption.trim() === '' ? '' : `, "${toCellText(caption)}"`;
  const shape = bodyRows === 0 ? `${rows} rows` : `${bodyRows} rows × ${columns} columns`;
  return [
    `[table: ${shape}${note}]`,
    ...head.map(toRow),
    ...(leftOut > 0 ? [`[${leftOut} rows left out here; get_output has them]`] : []),
    ...tail.map(toRow),
  ].join('\n');
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
