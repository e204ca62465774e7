// @module-tag P-314

import { describe, expect, it } from 'vitest';
import { toCompactTable } from './html-table.js';

/** As pandas prints a frame. */
function pandas(rows: number, { columns = 2, note = '' }: { columns?: number; note?: string } = {}): string {
  const cells = Array.from({ length: columns }, (_, index) => index);
  const head = `<tr style="text-align: right;"><th></th>${cells.map((index) => `<th>c${index}</th>`).join('')}</tr>`;
  const line = (row: number) => `<tr>\n<th>${row}</th>\n${cells.map((index) => `<td>${row * 10 + index}</td>`).join('\n')}\n</tr>`;
  const body = Array.from({ length: rows }, (_, row) => line(row)).join('\n');
  return `<div>\n<style scoped>\n.dataframe tbody tr th { vertical-align: top; }\n</style>\n<table border="1" class="dataframe">\n<thead>\n${head}\n</thead>\n<tbody>\n${body}\n</tbody>\n</table>\n${note}</div>`;
}

describe('toCompactTable', () => {
  it('prints a small frame whole', () => {
    expect(toCompactTable(pandas(2))).toBe('[table: 2 rows × 2 columns]\n | c0 | c1\n0 | 0 | 1\n1 | 10 | 11');
  });

  it('prints both ends of 100,000 rows, and what is between them', () => {
    const text = toCompactTable(pandas(100_000)) ?? '';
    expect(text).toMatch(/^\[table: 100000 rows × 2 columns\]\n/);
    expect(text).toContain('\n[99970 rows left out here; get_output has them]\n');
    expect(text).toMatch(/\n99999 \| 999990 \| 999991$/);
    expect(text.length).toBeLessThan(2000);
  });

  it('keeps the shape that the frame itself says', () => {
    expect(toCompactTable(pandas(3, { note: '<p>100000 rows × 2 columns</p>' }))).toMatch(
      /^\[table: 3 rows × 2 columns, "100000 rows × 2 columns"\]/,
    );
  });

  it('keeps to its size with many columns and long cells', () => {
    expect((toCompactTable(pandas(1000, { columns: 500 })) ?? '').length).toBeLessThanOrEqual(6000);
    const long = `<table><tr><td>${'x'.repeat(100_000)}</td><td>&lt;b&gt; &amp; &#x1F600; &nope;</td></tr></table>`;
    expect(toCompactTable(long)).toBe(`[table: 1 rows × 2 columns]\n${'x'.repeat(79)}… | <b> & 😀 &nope;`);
  });

  it('takes a table within a cell for text of that cell', () => {
    expect(toCompactTable('<table><tr><td>a<table><tr><td>b</td></tr></table></td></tr></table>')).toBe('[table: 1 rows × 1 columns]\nab');
  });

  it.each([
    ['no table', '<p>text</p>'],
    ['two tables', `${pandas(1)}${pandas(1)}`],
    ['a page around a table', `<p>${'text '.repeat(200)}</p>${pandas(1)}`],
    ['a table without rows', '<table></table>'],
    ['nothing', ''],
  ])('leaves %s alone', (_, html) => {
    expect(toCompactTable(html)).toBeUndefined();
  });

  // Anything quadratic would take hours: these end, or the test times out.
  it.each([
    ['rows that never end', '<table>'.concat('<tr><td>'.repeat(1_900_000))],
    ['tables within tables', '<table><tr><td>'.repeat(1_000_000)],
    ['comments that never end', `<table>${'<!--'.repeat(3_000_000)}`],
    ['tags that never end', `<table>${'<td '.repeat(3_000_000)}`],
    ['angles', `<table><tr><td>${'<'.repeat(10_000_000)}`],
    ['styles that never end', `<table>${'<style>'.repeat(2_000_000)}`],
    ['one row of a million cells', `<table><tr>${'<td>x'.repeat(1_000_000)}`],
    ['entities', `<table><tr><td>${'&#'.repeat(5_000_000)}`],
  ])('takes little time and text: %s', { tags: ['deep'] }, (_, html) => {
    expect((toCompactTable(html) ?? '').length).toBeLessThanOrEqual(6000);
  });
});
