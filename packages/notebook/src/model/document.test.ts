import { ExactNumber, type JsonObject } from '@notebridge/protocol/json';
import { revOf } from '@notebridge/protocol/runs/cell-rev';
import { describe, expect, it } from 'vitest';
import type { Actor } from './cell.js';
import { createDocument, createReplica, type DocumentEvent, type NotebookDocument } from './document.js';
import { NotebookError } from './errors.js';
import { printNotebookJson } from './json-printer.js';
import type { Output } from './output.js';
import { toText } from './text.js';

const ann: Actor = { kind: 'person', name: 'Ann' };
const bot: Actor = { kind: 'agent', name: 'Bot' };

function documentOf(...sources: string[]): NotebookDocument {
  const cells = sources.map((source, index) => ({
    id: `c${index}`,
    type: 'code' as const,
    source,
    metadata: {},
    outputs: [],
    executionCount: null,
  }));
  return createDocument({ metadata: {}, minor: 5, cells });
}

function faultOf(act: () => unknown): NotebookError {
  try {
    act();
  } catch (error) {
    if (error instanceof NotebookError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown');
}

function eventsOf(document: NotebookDocument): DocumentEvent[] {
  const events: DocumentEvent[] = [];
  document.onChange((event) => events.push(event));
  return events;
}

function print(document: NotebookDocument, text: string, name = 'stdout'): void {
  document.appendOutput('c0', { output_type: 'stream', name, text }, { by: bot });
}

function textOf(output: Output | undefined): string {
  return output?.output_type === 'stream' ? toText(output.text) : '';
}

describe('a document', () => {
  it('keeps order, and tells of each change who made it and what was before', () => {
    const document = documentOf('a', 'b');
    const events = eventsOf(document);
    const { id } = document.insert(1, { type: 'markdown', source: '# m' }, { by: bot });
    document.move('c0', 99, { by: ann });
    document.delete('c1', { by: ann });
    expect(document.cells.map(({ source }) => source)).toEqual(['# m', 'a']);
    expect(events.map(({ change }) => [change.version, change.op.type, change.by.name])).toEqual([
      [2, 'insert', 'Bot'],
      [3, 'move', 'Ann'],
      [4, 'delete', 'Ann'],
    ]);
    expect(events[1]).toMatchObject({ before: { index: 0 }, after: { index: 2, previousId: 'c1' } });
    expect(events[2]).toMatchObject({ before: { cell: { id: 'c1', source: 'b' } } });
    expect(events[2]?.after).toBeUndefined();
    expect(id).toMatch(/^[0-9a-f]{8}$/);
  });

  it('makes no change where nothing changes', () => {
    const document = documentOf('a', 'b');
    const events = eventsOf(document);
    document.update('c0', 'a', { by: bot });
    document.move('c1', 5, { by: bot });
    document.setType('c0', 'code', { by: bot });
    document.clear('c0', { by: bot });
    expect(events).toEqual([]);
  });

  it('tells all listeners in the order of the changes, even when one of them makes a change', () => {
    const document = documentOf('a');
    document.onChange(({ change }) => change.version === 2 && document.update('c0', 'c', { by: ann }));
    const events = eventsOf(document);
    document.update('c0', 'b', { by: bot });
    expect(events.map(({ change }) => change.version)).toEqual([2, 3]);
  });

  it('refuses a stale revision, and says what the cell is now and by whom', () => {
    const document = documentOf('a');
    const [rev, mine] = ['a', 'mine'].map((source) => revOf({ type: 'code', source }));
    document.update('c0', 'mine', { by: ann });
    const fault = faultOf(() => document.update('c0', 'theirs', { by: bot, expectedRev: rev }));
    expect(fault).toMatchObject({
      code: 'stale_cell',
      message: `The cell "c0" has changed since revision ${rev}: revision ${mine} is by Ann. Look at the current source, then decide again.`,
      data: { cellId: 'c0', expectedRev: rev, currentRev: mine, currentSource: 'mine', changedBy: ann },
    });
    expect(document.get('c0').cell.source).toBe('mine');
    expect(faultOf(() => document.delete('c0', { by: bot, expectedRev: rev })).code).toBe('stale_cell');
    document.update('c0', 'ours', { by: bot, expectedRev: mine });
  });

  it('does not make an edit stale by runs, moves and metadata, nor by what was put back', { tags: ['P-631'] }, () => {
    const document = documentOf('a', 'b');
    print(document, 'x');
    document.setExecutionCount('c0', 1, { by: ann });
    document.move('c0', 1, { by: ann });
    document.setMetadata('c0', { tags: ['x'] }, { by: ann });
    document.update('c0', 'other', { by: ann });
    document.update('c0', 'a', { by: ann });
    document.update('c0', 'b', { by: bot, expectedRev: revOf({ type: 'code', source: 'a' }) });
    expect(document.get('c0').cell).toMatchObject({ source: 'b', executionCount: 1 });
    document.setType('c0', 'markdown', { by: ann });
    expect(faultOf(() => document.delete('c0', { by: bot, expectedRev: revOf({ type: 'code', source: 'b' }) })).code).toBe('stale_cell');
  });

  it('names near ids, and who deleted a cell', () => {
    const document = documentOf('a', 'b');
    expect(faultOf(() => document.get('c9')).message).toBe(
      'No cell has the id "c9". Nearest: "c0" (index 0), "c1" (index 1). get_cells lists all 2.',
    );
    document.delete('c1', { by: ann });
    expect(faultOf(() => document.update('c1', 'x', { by: bot })).message).toMatch('The cell "c1" was deleted by Ann.');
  });

  it('drops outputs of a code cell that becomes text, and attachments of a text cell that becomes code', () => {
    const document = documentOf('a');
    print(document, 'x');
    document.setType('c0', 'markdown', { by: ann });
    expect(document.get('c0').cell).toMatchObject({ type: 'markdown', outputs: [], executionCount: null });
    expect(faultOf(() => print(document, 'y')).code).toBe('not_code_cell');
  });

  it('refuses a cell or source beyond the limits', () => {
    const document = createDocument(undefined, { maxCells: 1, maxSourceLength: 3 });
    expect(faultOf(() => document.insert(0, { type: 'code', source: '1234' }, { by: bot })).code).toBe('too_large');
    document.insert(0, { type: 'code', source: '123' }, { by: bot });
    expect(faultOf(() => document.insert(0, { type: 'code', source: '' }, { by: bot })).code).toBe('too_large');
  });
});

describe('outputs of a document', () => {
  it('run on in one stream output, and begin a new one for another stream', () => {
    const document = documentOf('a');
    for (const [text, name] of [
      ['a', 'stdout'],
      ['b\n', 'stdout'],
      ['!', 'stderr'],
      ['c', 'stdout'],
    ] as const)
      print(document, text, name);
    expect(document.get('c0').cell.outputs.map((output) => textOf(output))).toEqual(['ab\n', '!', 'c']);
  });

  it.each([
    ['a progress bar', ['10%', '\r20%', '\r30%\n', 'done'], '30%\ndone'],
    ['a shorter line over a longer one', ['long line\rshort'], 'shortline'],
    ['a carriage return at the end of a chunk', ['abc\r', 'd'], 'dbc'],
    ['Windows line ends', ['a\r\nb\r\n'], 'a\nb\n'],
    ['backspaces', ['abc\b\bX', '\bY'], 'aYc'],
    ['a line that is erased', ['loading data', '\r\x1b[', 'Kdone\n'], 'done\n'],
    ['a screen that is cleared', ['one\ntwo\n', '\x1b[H\x1b[2J', 'three'], 'three'],
    ['colours, each row for itself', ['\x1b[1;31mred\n', 'too\x1b[0m plain'], '\x1b[1;31mred\x1b[0m\n\x1b[1;31mtoo\x1b[0m plain'],
    ['a coloured bar', ['\x1b[32m50%\x1b[0m |##  |', '\r\x1b[32m99%\x1b[0m |####|'], '\x1b[32m99%\x1b[0m |####|'],
    ['bars of tqdm, one within the other', ['\rA 0%', '\n', '\rB 0%', '\x1b[A', '\rA 1%', '\n', '\rB 1%', '\x1b[A'], 'A 1%\nB 1%'],
    ['a backspace at the start of a line', ['a\n\bb'], 'a\nb'],
    ['a line break in the middle of a line that is rewritten', ['abc\rX\nY'], 'Xbc\nY'],
  ])('show %s as a terminal does', { tags: ['P-658'] }, (_, chunks, text) => {
    const document = documentOf('a');
    for (const chunk of chunks) print(document, chunk);
    expect(textOf(document.get('c0').cell.outputs[0])).toBe(text);
  });

  it('are cut with a note beyond the limit of text, and keep the last lines', { tags: ['P-145'] }, () => {
    const document = createDocument({ metadata: {}, minor: 5, cells: documentOf('a').cells }, { maxStreamBytes: 100 });
    for (let line = 0; line < 10_000; line++) print(document, `line ${line} 😀\n`);
    document.appendOutput('c0', { output_type: 'error', ename: 'E', evalue: 'v', traceback: [] }, { by: bot });
    document.finishOutputs('c0', { by: bot });
    const [head, note, error, tail] = document.get('c0').cell.outputs;
    expect(textOf(head)).toMatch(/^line 0 😀\n/);
    expect(new TextEncoder().encode(textOf(head)).length).toBeLessThanOrEqual(100);
    expect(textOf(head)).not.toMatch(/[\ud800-\udbff]$/);
    expect(textOf(note)).toMatch(/^\[Left out: 1[\d,]+ bytes of printed text\. A cell keeps 100 bytes of printed text, /);
    expect(error?.output_type).toBe('error');
    expect(textOf(tail)).toMatch(/^\[The last lines of it:\]\nline \d+ 😀\n[^]*line 9999 😀\n$/);
  });

  it('count a progress bar only by what it leaves', () => {
    const document = createDocument({ metadata: {}, minor: 5, cells: documentOf('a').cells }, { maxStreamBytes: 50 });
    for (let step = 0; step < 1000; step++) print(document, `\r${'█'.repeat(10)} ${step}`);
    print(document, '\n');
    expect(document.get('c0').cell.outputs).toHaveLength(1);
    expect(textOf(document.get('c0').cell.outputs[0])).toBe(`${'█'.repeat(10)} 999\n`);
  });

  it('keep an image whole or not at all, and its text', () => {
    const document = createDocument({ metadata: {}, minor: 5, cells: documentOf('a').cells }, { maxRichBytes: 100 });
    const image = (size: number): Output => ({
      output_type: 'display_data',
      data: { 'image/png': 'A'.repeat(size), 'text/plain': '<png>' },
      metadata: {},
    });
    document.appendOutput('c0', image(50), { by: bot });
    document.appendOutput('c0', image(60), { by: bot });
    document.appendOutput('c0', image(61), { by: bot });
    document.finishOutputs('c0', { by: bot });
    const { outputs } = document.get('c0').cell;
    expect(outputs.map((output) => ('data' in output ? output.data : textOf(output)))).toEqual([
      { 'image/png': 'A'.repeat(50), 'text/plain': '<png>' },
      { 'text/plain': '<png>' },
      expect.stringMatching(/^\[Left out: 2 × image\/png \(121 bytes\)\./),
      { 'text/plain': '<png>' },
    ]);
  });

  it('are bounded in number, and errors are kept', { tags: ['P-145'] }, () => {
    const document = createDocument({ metadata: {}, minor: 5, cells: documentOf('a').cells }, { maxOutputs: 3 });
    for (let count = 0; count < 50; count++) print(document, 'x', count % 2 ? 'stdout' : 'stderr');
    document.appendOutput(
      'c0',
      { output_type: 'error', ename: 'E', evalue: 'x'.repeat(1_000_000), traceback: Array(2000).fill('y'.repeat(100)) },
      { by: bot },
    );
    const { outputs } = document.get('c0').cell;
    expect(outputs.map(({ output_type }) => output_type)).toEqual(['stream', 'stream', 'stream', 'stream', 'error']);
    expect(JSON.stringify(outputs[4]).length).toBeLessThan(100_000);
    expect(JSON.stringify(outputs[4])).toMatch(/\[\d+ entries of the traceback left out\]/);
  });

  it('output that no notebook can hold becomes an error that says so', () => {
    const document = documentOf('a');
    document.appendOutput('c0', { output_type: 'display_data', data: { 'image/png': 1 }, metadata: {} }, { by: bot });
    expect(document.get('c0').cell.outputs).toMatchObject([{ output_type: 'error', ename: 'BadOutputError' }]);
  });

  it('hold nothing that Python could not write again', () => {
    const document = documentOf('a');
    let deep: unknown = 1;
    for (let level = 0; level < 1000; level++) deep = [deep];
    const show = (data: JsonObject) => document.appendOutput('c0', { output_type: 'display_data', data, metadata: {} }, { by: bot });
    show({ 'application/json': deep });
    show({ 'application/json': { 'half \ud800': ['\udc00', '😀', 12345678901234567890n] } });
    const [tooDeep, mended] = document.get('c0').cell.outputs;
    expect(tooDeep).toMatchObject({ ename: 'BadOutputError', evalue: expect.stringContaining('deeper than 200 levels') });
    expect(printNotebookJson(mended?.data)).toBe(
      printNotebookJson({ 'application/json': { 'half \ufffd': ['\ufffd', '😀', new ExactNumber('12345678901234567890')] } }),
    );
    document.update('c0', 'print("\ud800")', { by: bot });
    expect(document.get('c0').cell.source).toBe('print("\ufffd")');
  });

  it('lose what is for the session only', () => {
    const document = documentOf('a');
    document.appendOutput(
      'c0',
      { output_type: 'display_data', data: { b: '', a: '' }, metadata: {}, transient: { display_id: 'x' } },
      { by: bot },
    );
    expect(JSON.stringify(document.get('c0').cell.outputs)).toBe('[{"data":{"a":"","b":""},"metadata":{},"output_type":"display_data"}]');
  });

  it('take 100,000 prints in a moment', () => {
    const document = documentOf('a');
    const start = performance.now();
    for (let line = 0; line < 100_000; line++) print(document, `line ${line}\n`);
    expect(textOf(document.get('c0').cell.outputs[0])).toMatch(/line 70000\n/);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});

describe('a replica', () => {
  it('refuses a change that does not follow the last', () => {
    const document = documentOf('a');
    const replica = createReplica(document.snapshot());
    const events = eventsOf(document);
    document.update('c0', 'b', { by: ann });
    document.update('c0', 'c', { by: ann });
    const [first, second] = events;
    expect(faultOf(() => second && replica.apply(second.change)).code).toBe('out_of_step');
    for (const event of [first, second]) if (event) replica.apply(event.change);
    expect(replica.snapshot()).toEqual(document.snapshot());
  });
});
