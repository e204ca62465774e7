import { revOf } from '@notebridge/protocol/runs/cell-rev';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { colabProfile } from '../../../notebridge/src/notebooks/profiles/colab.js';
import { pixel, TinyKernel } from '../../test/fixtures/tiny-kernel.js';
import { preparePython, pythonTimeoutMs, pythonVerdicts } from '../../test/support/nbformat.js';
import { ann, bot, type OpenNotebook, openNotebook, whenBusy } from '../../test/support/open-notebook.js';
import { printNotebook } from '../model/nbformat.js';

const opened: OpenNotebook[] = [];
afterEach(async () => {
  for (const { session } of opened.splice(0)) await session.close();
});

function open(...args: Parameters<typeof openNotebook>): OpenNotebook {
  const notebook = openNotebook(...args);
  opened.push(notebook);
  return notebook;
}

/** The code and message that a call was refused with. */
async function refusalOf(notebook: OpenNotebook, name: string, args: unknown) {
  const { value, isError } = await notebook.call(name, args);
  expect(isError).toBe(true);
  return (value as { error: { code: string; message: string } }).error;
}

beforeAll(preparePython, pythonTimeoutMs);

describe('the tools', () => {
  it('run_code adds no cell where the kernel is dead, and says what to do', { tags: ['P-661'] }, async () => {
    const { call, session } = open(['die()']);
    await call('run_code_cell', { cellId: 'c0' });
    const { value, isError } = await call('run_code', { code: '1' });
    expect(isError).toBe(true);
    expect(value).toMatchObject({ error: { code: 'kernel_dead', message: expect.stringContaining('restart_kernel') } });
    expect(session.document.cells).toHaveLength(1);
  });

  it("have Colab's seven, with the same arguments", { tags: ['deep'] }, () => {
    const { tools } = open();
    // The arguments that our tools take besides Colab's are optional, and so are three of Colab's.
    const optional = ['add_code_cell.cellIndex', 'add_code_cell.language', 'add_text_cell.cellIndex'];
    const more = ['expected_rev', 'wait_seconds', 'get_cells.cellId', 'sourceFrom', 'sourceTo'];
    const shape = (tool: string, schema: { properties?: unknown; required?: unknown }) => {
      const properties = Object.entries(schema.properties as Record<string, { description?: string }>).filter(
        ([name]) => !more.includes(name) && !more.includes(`${tool}.${name}`),
      );
      return {
        required: (schema.required as string[]).filter((name) => !optional.includes(`${tool}.${name}`)),
        properties: Object.fromEntries(properties.map(([name, { description: _, ...rest }]) => [name, rest])),
      };
    };
    for (const colab of colabProfile.tools) {
      const own = tools.find(({ name }) => name === colab.name);
      expect(own && shape(own.name, own.inputSchema), colab.name).toEqual(shape(colab.name, colab.inputSchema as object));
    }
    expect(tools.map(({ name }) => name)).toEqual([
      ...['add_code_cell', 'add_text_cell', 'delete_cell', 'get_cells', 'move_cell', 'run_code_cell', 'update_cell'],
      ...['run_code', 'get_output', 'get_run', 'list_runs', 'interrupt_run', 'interrupt_execution'],
      ...['restart_kernel', 'get_notebook_info', 'undo_last_change'],
    ]);
  });

  it('write a notebook that a person sees grow, and that nbformat accepts', { tags: ['deep'] }, async () => {
    const { session, call } = open();
    const { value } = await call('add_code_cell', { cellIndex: 0, language: 'python', code: 'print("a")\n6 * 7' });
    const { newCellId } = value as { newCellId: string };
    await call('add_text_cell', { cellIndex: 0, content: '# Title' });
    expect((await call('run_code_cell', { cellId: newCellId })).value).toEqual({
      outputs: [
        { name: 'stdout', output_type: 'stream', text: ['a\n'] },
        { data: { 'text/plain': ['42'] }, execution_count: 1, metadata: {}, output_type: 'execute_result' },
      ],
    });
    expect((await call('move_cell', { cellId: newCellId, cellIndex: 0 })).value).toEqual({});
    expect((await call('update_cell', { cellId: newCellId, content: 'a\nb' })).value).toEqual({});
    expect((await call('get_cells', { cellIndexEnd: 0 })).value).toEqual({
      cells: [{ cell_type: 'code', id: newCellId, source: ['a\n', 'b'], rev: revOf({ type: 'code', source: 'a\nb' }) }],
    });
    const [code, text] = ((await call('get_cells', { includeOutputs: true })).value as { cells: { outputs?: unknown[] }[] }).cells;
    expect([code?.outputs?.length, text?.outputs]).toEqual([2, undefined]);
    expect(session.document.cells.map(({ changedBy }) => changedBy)).toEqual([bot, bot]);
    expect(await pythonVerdicts([printNotebook(session.document.toNotebook())])).toEqual([undefined]);
    expect((await call('delete_cell', { cellId: newCellId })).value).toEqual({});
    expect(session.document.cells).toHaveLength(1);
  });

  it('read ranges of cells as Colab does', { tags: ['deep'] }, async () => {
    const { call } = open(['a', 'b', 'c']);
    const sources = async (args: object) =>
      ((await call('get_cells', args)).value as { cells: { source: string[] }[] }).cells.map(({ source }) => source.join(''));
    expect(await sources({})).toEqual(['a', 'b', 'c']);
    expect(await sources({ cellIndexStart: 1, cellIndexEnd: 1 })).toEqual(['b']);
    expect(await sources({ cellIndexStart: 7 })).toEqual([]);
    expect(await refusalOf(open(), 'get_cells', { cellIndexStart: 2, cellIndexEnd: 1 })).toMatchObject({ code: 'bad_arguments' });
  });

  it('add, run and answer in one call', { tags: ['deep'] }, async () => {
    const { session, call } = open(['x = 2']);
    const { value, isError } = await call('run_code', { code: 'print("a")\nraise("ValueError", "no")', cellIndex: 0 });
    const { id } = session.document.cells[0] ?? {};
    expect(isError).toBe(false);
    expect(value).toEqual({
      newCellId: id,
      status: 'error',
      execution_count: 1,
      outputs: [
        { name: 'stdout', output_type: 'stream', text: ['a\n'] },
        { ename: 'ValueError', evalue: 'no', output_type: 'error', traceback: ['ValueError: no'] },
      ],
    });
    await call('run_code', { code: '1' });
    expect(session.document.cells).toHaveLength(3);
  });

  it('give images as blocks, and name them in the text', { tags: ['deep'] }, async () => {
    const { call } = open([], { maxImages: 1 });
    const { value, images } = await call('run_code', {
      code: 'image()\ndisplay("image/svg+xml", "<svg/>")\nimage()\ndisplay("image/jpeg", "no base64!")',
    });
    expect(images).toEqual([{ type: 'image', data: pixel, mimeType: 'image/png' }]);
    expect((value as { outputs: { data: object }[] }).outputs.map(({ data }) => data)).toEqual([
      { 'image/png': '[image block 1 of this result: 1×1 PNG, 70 bytes]', 'text/plain': ['<pixel>'] },
      { 'image/svg+xml': ['<svg/>'] },
      { 'image/png': `[left out: ${pixel.length + 1} characters of base64; get_output shows it]`, 'text/plain': ['<pixel>'] },
      { 'image/jpeg': 'no base64!' },
    ]);
  });

  it('give an error without the terminal codes that the document keeps', { tags: ['P-315'] }, async () => {
    const { session, call } = open();
    const coloured = '\x1b[0;31mwrong\x1b[39;49;00m \x1b]8;;file:///a.py\x07line 1\x1b]8;;\x07\x1b[?25h\x1b[K[1] 50%';
    const plain = { ename: 'ValueError', evalue: 'wrong line 1[1] 50%', traceback: ['ValueError: wrong line 1[1] 50%'] };
    const { value } = await call('run_code', { code: `raise("ValueError", ${JSON.stringify(coloured)})` });
    expect(value).toMatchObject({ status: 'error', outputs: [plain] });
    const { newCellId } = value as { newCellId: string };
    expect((await call('run_code_cell', { cellId: newCellId })).value).toMatchObject({ outputs: [plain] });
    expect((await call('get_cells', { includeOutputs: true })).value).toMatchObject({ cells: [{ outputs: [plain] }] });
    expect(session.document.cells[0]?.outputs).toMatchObject([{ evalue: coloured, traceback: [`ValueError: ${coloured}`] }]);
    expect((await call('run_code', { code: `print(${JSON.stringify('\x1b[1mbold')})` })).value).toMatchObject({
      outputs: [{ text: ['bold\n'] }],
    });
  });

  it('tell the last printed line while code runs, not too often, and the last one always', { tags: ['deep'] }, async () => {
    const { session, kernel, call } = open(['print("one")\nwrite("two\\nthr")\nwrite("ee")\nwait()'], { progressIntervalMs: 1 });
    const lines: string[] = [];
    let hearThird: () => void = () => {};
    const third = new Promise<void>((resolve) => {
      hearThird = resolve;
    });
    const progress = (line: string) => {
      lines.push(line);
      if (line === 'three') hearThird();
    };
    const busy = whenBusy(session.kernel);
    const run = call('run_code_cell', { cellId: 'c0' }, { progress });
    await busy;
    await third;
    kernel.release();
    await run;
    expect(lines).toEqual(['one', 'three']);
  });

  it('interrupt the kernel when the call is cancelled', { tags: ['P-104'] }, async () => {
    const { session, call } = open(['forever()']);
    const stop = new AbortController();
    const busy = whenBusy(session.kernel);
    const run = call('run_code_cell', { cellId: 'c0' }, { signal: stop.signal });
    await busy;
    stop.abort();
    expect((await run).value).toMatchObject({ outputs: [{ ename: 'KeyboardInterrupt' }] });
    expect(session.kernel.state).toBe('idle');
  });

  it('interrupt and restart', { tags: ['deep'] }, async () => {
    const { session, call } = open(['x = 1\nforever()']);
    expect((await call('interrupt_execution')).value).toEqual({ interrupted: null });
    const busy = whenBusy(session.kernel);
    const run = call('run_code_cell', { cellId: 'c0' });
    await busy;
    expect((await call('interrupt_execution', {})).value).toEqual({ interrupted: 'c0' });
    await run;
    expect((await call('restart_kernel', {})).value).toEqual({
      restarted: true,
      kernel: { name: 'tiny', display_name: 'Tiny', language: 'python', version: '1', state: 'idle' },
    });
    expect((await call('run_code', { code: 'x' })).value).toMatchObject({ status: 'error', execution_count: 1 });
  });

  it('tell about the notebook', { tags: ['deep'] }, async () => {
    const { session, call } = open(['forever()', '1']);
    session.document.update('c1', '2', { by: bot });
    const busy = whenBusy(session.kernel);
    const runs = [session.run('c0', { by: ann }), session.run('c1', { by: bot })];
    await busy;
    expect((await call('get_notebook_info')).value).toEqual({
      title: 'x.ipynb',
      cells: 2,
      cell_types: { code: 2, markdown: 0, raw: 0 },
      kernel: { name: 'tiny', display_name: 'Tiny', language: 'python', version: '1', state: 'busy' },
      running: { cellId: 'c0', started_by: ann },
      queued: [{ cellId: 'c1', started_by: bot }],
      read_only: false,
      undoable_changes: 1,
    });
    await session.interrupt({ by: ann });
    await Promise.all(runs);
  });

  it("undo the agent's own last change, and refuse after a person's", { tags: ['P-049'] }, async () => {
    const notebook = open(['a', 'b']);
    const { session, call } = notebook;
    await call('update_cell', { cellId: 'c0', content: 'x' });
    session.document.update('c1', 'other', { by: { kind: 'agent', name: 'Other' } });
    expect((await call('undo_last_change')).value).toEqual({ undone: { change: 'update', cellId: 'c0' } });
    expect(session.document.cells.map(({ source }) => source)).toEqual(['a', 'other']);
    await call('delete_cell', { cellId: 'c0' });
    await call('undo_last_change', {});
    expect(session.document.cells.map(({ id }) => id)).toEqual(['c0', 'c1']);
    await call('update_cell', { cellId: 'c0', content: 'y' });
    session.document.update('c0', 'mine', { by: ann });
    expect(await refusalOf(notebook, 'undo_last_change', {})).toMatchObject({
      code: 'changed_since',
      message: expect.stringContaining('Ann has changed the cell since'),
    });
  });
});

describe('a tool that cannot do what it is asked', () => {
  it.each<[string, unknown, string]>([
    [
      'move_cell',
      { cellId: 'c0', toIndex: 1 },
      'Invalid arguments for move_cell: cellIndex is required: an integer of 0 or more; there is no argument "toIndex" (did you mean cellIndex?); it takes cellId, cellIndex.',
    ],
    [
      'move_cell',
      { cellId: 'c0', cellIndex: '1' },
      'Invalid arguments for move_cell: cellIndex has to be an integer of 0 or more, and is "1".',
    ],
    [
      'move_cell',
      { cellId: 'c0', cellIndex: -1 },
      'Invalid arguments for move_cell: cellIndex has to be an integer of 0 or more, and is -1.',
    ],
    [
      'move_cell',
      { cellId: 'c0', cellIndex: 0.5 },
      'Invalid arguments for move_cell: cellIndex has to be an integer of 0 or more, and is 0.5.',
    ],
    [
      'add_code_cell',
      { cellIndex: 0, language: 'perl', code: '' },
      'Invalid arguments for add_code_cell: language has to be one of "python", "r", "julia", and is "perl".',
    ],
    ['get_cells', { includeOutputs: 'yes' }, 'Invalid arguments for get_cells: includeOutputs has to be true or false, and is "yes".'],
    ['delete_cell', [], 'Invalid arguments for delete_cell: an object is wanted, and an empty list was given.'],
    [
      'update_cell',
      { cellId: null, content: 1 },
      'Invalid arguments for update_cell: cellId has to be a string, and is null; content has to be a string, and is 1.',
    ],
    ['interrupt_execution', { cellId: 'c0' }, 'Invalid arguments for interrupt_execution: there is no argument "cellId"; it takes none.'],
    [
      'add_code_cell',
      { cellIndex: 0, language: 'r', code: '' },
      'The kernel of this notebook runs python, not r. Add the cell with language "python".',
    ],
  ])('names the argument: %s %j', { tags: ['deep'] }, async (name, args, message) => {
    expect(await refusalOf(open(['a']), name, args)).toMatchObject({ code: 'bad_arguments', message });
  });

  it('refuses a stale expected_rev with what the cell is now, and leaves it alone', { tags: ['P-102'] }, async () => {
    const notebook = open(['a', 'b']);
    notebook.session.document.update('c0', 'mine', { by: ann });
    for (const [name, more] of [
      ['update_cell', { content: 'x' }],
      ['delete_cell', {}],
    ] as const) {
      expect(await refusalOf(notebook, name, { cellId: 'c0', expected_rev: 1, ...more })).toMatchObject({
        code: 'stale_cell',
        currentRev: revOf({ type: 'code', source: 'mine' }),
        currentSource: 'mine',
        changedBy: ann,
      });
    }
    expect(notebook.session.document.cells.map(({ source }) => source)).toEqual(['mine', 'b']);
    expect(
      (await notebook.call('update_cell', { cellId: 'c0', content: 'x', expected_rev: revOf({ type: 'code', source: 'mine' }) })).isError,
    ).toBe(false);
  });

  it.each(['update_cell', 'delete_cell', 'move_cell', 'run_code_cell'])(
    'lists near ids for one that is not there: %s',
    { tags: ['deep'] },
    async (name) => {
      const more = { update_cell: { content: '' }, move_cell: { cellIndex: 0 } }[name] ?? {};
      expect(await refusalOf(open(['a']), name, { cellId: 'c', ...more })).toMatchObject({ code: 'unknown_cell', near: ['c0'] });
    },
  );

  it('refuses to write or run while the notebook is read-only, until the person allows it', { tags: ['P-106', 'P-112'] }, async () => {
    const notebook = open(['a'], { readOnly: true });
    const before = notebook.session.document.snapshot();
    const reading = ['get_cells', 'get_notebook_info', 'list_runs'];
    const withNames = ['get_run', 'get_output'];
    for (const { name } of notebook.tools.filter((tool) => ![...reading, ...withNames].includes(tool.name))) {
      expect((await refusalOf(notebook, name, {})).code, name).toBe('read_only');
    }
    for (const name of reading) expect((await notebook.call(name)).isError).toBe(false);
    expect(notebook.session.document.snapshot()).toBe(before);
    notebook.session.document.update('c0', 'by hand', { by: ann });
    notebook.session.readOnly = false;
    expect((await notebook.call('delete_cell', { cellId: 'c0' })).isError).toBe(false);
  });

  it('says that a text cell cannot be run', { tags: ['deep'] }, async () => {
    const notebook = open(['a']);
    notebook.session.document.setType('c0', 'markdown', { by: ann });
    expect(await refusalOf(notebook, 'run_code_cell', { cellId: 'c0' })).toMatchObject({ code: 'not_code_cell' });
  });

  it('names the new cell of run_code even if the kernel does not start', { tags: ['deep'] }, async () => {
    const notebook = open([], { kernel: new TinyKernel({ startFaults: ['no memory'] }) });
    const refusal = await refusalOf(notebook, 'run_code', { code: '1' });
    expect(refusal).toMatchObject({ code: 'kernel_failed', newCellId: notebook.session.document.cells[0]?.id });
  });

  it('keeps a fault of ours to itself, and reports it to the host', { tags: ['deep'] }, async () => {
    const faults: unknown[] = [];
    const notebook = open(['a'], { onFault: (error) => faults.push(error) });
    Object.defineProperty(notebook.kernel, 'info', { get: fail });
    expect(await refusalOf(notebook, 'get_notebook_info', {})).toEqual({ code: 'internal', message: 'Internal error' });
    expect(faults).toMatchObject([{ message: 'secret' }]);
  });
});

function fail(): never {
  throw new Error('secret');
}
