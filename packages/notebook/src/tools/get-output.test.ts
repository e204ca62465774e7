// @module-tag P-271

import { parseJson } from '@notebridge/protocol/exact-json';
import { afterEach, describe, expect, it } from 'vitest';
import { pixel } from '../../test/fixtures/tiny-kernel.js';
import { ann, type OpenNotebook, openNotebook } from '../../test/support/open-notebook.js';
import { printNotebook } from '../model/nbformat.js';
import type { Output } from '../model/output.js';
import { readOutput } from './get-output.js';

interface OutputAnswer {
  text: string;
  characters: number;
  from: number;
  next_from?: number;
}

const opened: OpenNotebook[] = [];
afterEach(async () => {
  for (const { session } of opened.splice(0)) await session.close();
});

/** A notebook whose first cell has run. */
async function ran(source: string): Promise<OpenNotebook> {
  const notebook = openNotebook([source]);
  opened.push(notebook);
  await notebook.call('run_code_cell', { cellId: 'c0' });
  return notebook;
}

async function read({ call }: OpenNotebook, args: object = {}): Promise<OutputAnswer> {
  return (await call('get_output', { cellId: 'c0', ...args })).value as OutputAnswer;
}

describe('get_output', () => {
  it('keeps the digits of numbers, as get_cells and the file do', { tags: ['P-659'] }, async () => {
    const notebook = openNotebook(['x']);
    opened.push(notebook);
    const { document } = notebook.session;
    const digits = '{"id":1915883588174806058,"one":1.0}';
    const shown = { output_type: 'display_data', data: { 'application/json': parseJson(digits) }, metadata: {} } as const;
    document.setOutputs('c0', [shown], { by: ann });
    for (const [name, args] of Object.entries({ get_output: { cellId: 'c0' }, get_cells: { includeOutputs: true } })) {
      const result = await notebook.tools.find((tool) => tool.name === name)?.run(args);
      expect(JSON.stringify(result?.content).replaceAll('\\', '')).toContain(digits);
    }
    expect(printNotebook(document.toNotebook()).replaceAll(/\s/g, '')).toContain(digits);
  });

  it('reads in parts what one answer cannot hold, without a gap and without half a character', async () => {
    const long = `${'😀"\\'.repeat(10_000)}end`;
    const notebook = await ran(`write(${JSON.stringify(long)})`);
    let whole = '';
    let from: number | undefined = 0;
    for (let part: OutputAnswer; from !== undefined; from = part.next_from) {
      part = await read(notebook, { from });
      expect(JSON.stringify(part).length).toBeLessThanOrEqual(20_000);
      expect(part).toMatchObject({ from, characters: long.length });
      expect(part.text.isWellFormed()).toBe(true);
      whole += part.text;
    }
    expect(whole).toBe(long);
    expect(await read(notebook, { from: -3 })).toMatchObject({ text: 'end' });
    expect(await read(notebook, { from: -4 })).toMatchObject({ text: '\\end' });
    expect(await read(notebook, { from: 1 })).toMatchObject({ from: 0 });
    expect(await read(notebook, { from: 1_000_000 })).toMatchObject({ text: '' });
  });

  it('reads the type that is asked for, and images as image blocks', async () => {
    const notebook = await ran('display("text/html", "<b>x</b>")\nimage()');
    expect(await read(notebook, { outputIndex: 0, type: 'text/html' })).toMatchObject({ text: '<b>x</b>', types: ['text/html'] });
    const { value, images } = await notebook.call('get_output', { cellId: 'c0', outputIndex: 1, type: 'image/png' });
    expect(value).toMatchObject({ type: 'image/png', text: expect.stringContaining('image block 1') });
    expect(images).toEqual([{ type: 'image', data: pixel, mimeType: 'image/png' }]);
  });

  it('says what a script draws, and reads the script for who asks for its type', { tags: ['P-665'] }, async () => {
    const script = `<script>Plotly.newPlot("p", [{"y": [1, 2]}], {})</script>${'<!-- -->'.repeat(1000)}`;
    const notebook = await ran(`display("text/html", ${JSON.stringify(script)})`);
    expect(await read(notebook, {})).toMatchObject({ text: 'Plotly chart, 1 trace\nscatter, 2 points, y 1…2' });
    expect(await read(notebook, { type: 'text/html' })).toMatchObject({ text: script });
  });

  it('stays within its budget whatever names code gives to types, and takes no name for a type that is none', async () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`application/x-${index}`, 'v'.repeat(100)]));
    const outputs: Output[] = [
      { output_type: 'display_data', data: { ['x'.repeat(1_000_000)]: 'v', 'text/plain': 'p' }, metadata: {} },
      { output_type: 'display_data', data: many, metadata: {} },
    ];
    for (const outputIndex of [0, 1]) {
      const { value } = await readOutput(outputs, { cellId: 'c0', outputIndex }, {});
      expect(JSON.stringify(value).length).toBeLessThan(5000);
      for (const type of ['toString', '__proto__', 'y'.repeat(1000)])
        await expect(readOutput(outputs, { cellId: 'c0', outputIndex, type }, {})).rejects.toMatchObject({
          code: 'bad_arguments',
          message: expect.stringMatching(/^.{0,4000}$/s),
        });
    }
    const { value } = await readOutput(outputs, { cellId: 'c0', outputIndex: 1, type: 'application/x-19999' }, {});
    expect(value).toMatchObject({ type: 'application/x-19999', types_left_out: 19_980, characters: 100 });
  });

  it('says what there is instead', async () => {
    const notebook = await ran('print("a")');
    const errorOf = async (args: object) => ((await read(notebook, args)) as unknown as { error: { message: string } }).error.message;
    expect(await errorOf({ outputIndex: 3 })).toBe('The cell "c0" has the outputs 0 to 0, and none of index 3.');
    expect(await errorOf({ type: 'image/png' })).toBe('Output 0 does not have "image/png"; it has text/plain.');
    notebook.session.document.clear('c0', { by: { kind: 'person', name: 'Ann' } });
    expect(await errorOf({})).toBe('The cell "c0" has no outputs.');
  });
});
