import { answerBudget } from '@notebridge/protocol/runs/answer-budget';
import { shortText } from './chart-data.js';
import { decodeEntities } from './entities.js';
import { MarkupReader } from './markup-tokens.js';

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
  const reader = new MarkupReader(html);
  for (let token = reader.next(); token; token = reader.next()) {
    if (token.kind === 'text' && !addText(html.slice(token.from, token.to))) return undefined;
    if (token.kind === 'text' || token.kind === 'literal') continue;
    const name = token.name.toLowerCase();
    if (token.kind === 'open' && (name === 'style' || name === 'script')) reader.rawText(name);
    const kind = token.kind === 'close' ? `/${name}` : name;
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
  const toRow = (row: string[]): string => row.map((text) => shortText(toCellText(text), perCell)).join(' | ');
  const note = caption.trim() === '' ? '' : `, "${toCellText(caption)}"`;
  const shape = bodyRows === 0 ? `${rows} rows` : `${bodyRows} rows × ${columns} columns`;
  const [first, last] = [head.map(toRow), tail.map(toRow)];
  const toText = (): string => {
    const leftOut = rows - first.length - last.length;
    const gap = leftOut > 0 ? [`[${leftOut} rows left out here; get_output has them]`] : [];
    return [`[table: ${shape}${note}]`, ...first, ...gap, ...last].join('\n');
  };
  let text = toText();
  // Many columns take more than all of it with the least of each cell, and a caption takes its part.
  while (text.length > maxCharacters && first.length + last.length > 1) {
    if (2 * last.length > first.length) last.shift();
    else first.pop();
    text = toText();
  }
  return text;
}
