import { createNotebookHost, type NotebookHost } from '@notebridge/notebook/host';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import { answer, type Middleware } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import { revOf } from '@notebridge/protocol/runs/cell-rev';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { TinyKernel } from '../../../notebook/test/fixtures/tiny-kernel.js';
import { LayeredProvider } from '../../src/middleware/layered-provider.js';
import { LocalNotebook } from '../../src/notebooks/local/local-notebook.js';
import { editingTools, ReadBeforeWriteMiddleware } from '../../src/notebooks/reads/read-before-write.js';
import { createContext } from '../support/create-context.js';

const by = { kind: 'person', name: 'Ann' } as const;
const code = (source: string) => revOf({ type: 'code', source });
let host: NotebookHost;
let notebook: LayeredProvider;

beforeEach(async () => {
  host = createNotebookHost({ kernel: new TinyKernel() });
  await host.start();
  notebook = new LayeredProvider(new LocalNotebook({ host, writeAddress: async () => '' }), [new ReadBeforeWriteMiddleware()]);
});
afterEach(async () => {
  notebook.close();
  await host.close();
});

type Answer = JsonObject & { error?: JsonObject; newCellId?: string; cells?: JsonObject[] };

function agent(sessionId = 'one', more: JsonObject = {}) {
  return async (name: string, args: JsonObject = {}): Promise<Answer> => {
    const message = { name, arguments: args };
    const caller = { sessionId, door: 'library', era: 'legacy', clientInfo: { name: sessionId } } as const;
    const result = (await notebook.request('tools/call', message, createContext('tools/call', message, { caller, ...more }))) as ToolResult;
    return JSON.parse(String(result.content?.[0]?.text)) as Answer;
  };
}

const typed = (source: string): string => host.session.document.insert(0, { type: 'code', source }, { by }).id;
const sourceOf = (cellId: string): string | undefined => host.session.document.find(cellId)?.source;
const type = (cellId: string, source: string): void => host.session.document.update(cellId, source, { by });

describe('an edit of what the agent has not read', { tags: ['P-632'] }, () => {
  it('is refused with the text, which counts as read then', async () => {
    const call = agent();
    const cellId = typed('mine');
    const { error } = await call('update_cell', { cellId, content: 'theirs' });
    expect(error).toMatchObject({ code: 'stale_cell', currentSource: 'mine', currentRev: code('mine'), changedBy: by });
    expect(error?.message).toContain('You have not read');
    expect(sourceOf(cellId)).toBe('mine');
    expect(await call('update_cell', { cellId, content: 'theirs' })).toEqual({});
    type(cellId, 'mine again');
    const refused = await call('delete_cell', { cellId });
    expect(refused.error).toMatchObject({ code: 'stale_cell', currentSource: 'mine again' });
    expect(refused.error?.message).toContain('The last to change or move it was Ann.');
    expect(await call('delete_cell', { cellId })).toEqual({});
  });

  it('is another for each session, and for a person who calls a tool it is none', async () => {
    const cellId = typed('mine');
    await agent('one')('get_cells');
    expect(await agent('two')('update_cell', { cellId, content: 'two' })).toMatchObject({ error: { code: 'stale_cell' } });
    expect(await agent('person', { isTyped: true })('update_cell', { cellId, content: 'x' })).toEqual({});
  });

  it('is made where it names the revision of the cell, and refused where it names another', async () => {
    const call = agent();
    const cellId = typed('mine');
    expect(await call('update_cell', { cellId, content: 'x', expected_rev: 7 })).toMatchObject({
      error: { expectedRev: 7, currentSource: 'mine' },
    });
    expect(await agent('two')('update_cell', { cellId, content: 'x', expected_rev: code('mine') })).toEqual({});
    // A session knows what it wrote itself, though it never read the cell.
    expect(await agent('two')('update_cell', { cellId, content: 'y' })).toEqual({});
  });

  it('is refused for what stands there by now, not for runs, moves, metadata and outputs', async () => {
    const call = agent();
    const cellId = typed('print("a")');
    typed('other');
    await call('get_cells');
    const { document } = host.session;
    await host.session.run(cellId, { by });
    document.move(cellId, 0, { by });
    document.setMetadata(cellId, { tags: ['x'] }, { by });
    expect(await call('move_cell', { cellId, cellIndex: 1 })).toEqual({});
    expect(await agent('two')('move_cell', { cellId, cellIndex: 0 })).toEqual({});
    expect(await call('update_cell', { cellId, content: 'print("b")' })).toEqual({});
  });

  it('shows what has changed in a text that is too long, or how it is read, and cut texts are not read', { tags: ['P-637'] }, async () => {
    const call = agent();
    const lines = Array.from({ length: 2000 }, (_, at) => `line ${at} = "0123456789"`);
    const long = lines.join('\n');
    const cellId = typed(long);
    const update = () => call('update_cell', { cellId, content: 'short' });
    const { error } = await update();
    expect(error).toMatchObject({ code: 'stale_cell', currentCharacters: long.length });
    expect(error).not.toHaveProperty('currentSource');
    expect((await update()).error?.message).toContain('sourceFrom 0');
    let parts = 0;
    for (let from: unknown = 0; from !== undefined; parts++) {
      expect((await update()).error, `after ${parts} parts`).toBeDefined();
      from = (await call('get_cells', { cellId, sourceFrom: from as number })).cells?.[0]?.next_source_from;
      // A look back takes nothing away.
      await call('get_cells', { cellId, sourceFrom: 0, sourceTo: 5 });
    }
    expect(parts).toBeGreaterThan(1);
    type(cellId, lines.with(1000, 'typed').join('\n'));
    const changed = await update();
    expect(changed.error).toMatchObject({ code: 'stale_cell', diff: '@@ -1001,1 +1001,1 @@\n-line 1000 = "0123456789"\n+typed' });
    expect(await update()).toEqual({});
  });

  it('is refused too where a part of the source was lost on its way to the agent', { tags: ['P-637'] }, async () => {
    const cellId = typed('first line\nsecond line');
    const cutting: Middleware = {
      onCallTool: async (context, callNext) => {
        const result = await callNext(context);
        const [block] = result.content ?? [];
        return answer({ ...result, content: [{ type: 'text', text: String(block?.text).replace('second line', '…') }] });
      },
    };
    const whole = notebook;
    onTestFinished(() => whole.close());
    notebook = new LayeredProvider(whole, [new ReadBeforeWriteMiddleware(), cutting]);
    const call = agent();
    expect((await call('get_cells')).cells).toEqual([expect.not.objectContaining({ rev: expect.anything() })]);
    expect(await call('update_cell', { cellId, content: 'x' })).toMatchObject({ error: { code: 'stale_cell' } });
    expect(sourceOf(cellId)).toBe('first line\nsecond line');
  });

  it('goes on where an answer cut several sources, each to its end, which has its revision', { tags: ['P-634', 'P-637'] }, async () => {
    const call = agent();
    const sources = ['a', 'b', 'c'].map((letter) => `${letter}${'0123456789\n'.repeat(1200)}`);
    for (const source of sources) typed(source);
    const { cells = [], rev_note: note } = await call('get_cells');
    expect(cells).toHaveLength(3);
    for (const cell of cells) expect(cell).not.toHaveProperty('rev');
    expect(note).toContain('sourceFrom 0');
    const next = new Map(cells.map(({ id, next_source_from: from }) => [String(id), from]));
    for (const [cellId, from] of next) {
      const { cells: [cell] = [], ...rest } = await call('get_cells', { cellId, sourceFrom: from as number });
      next.set(cellId, cell?.next_source_from);
      if (cell?.next_source_from !== undefined) throw new Error('The rest was expected to fit.');
      expect(rest).toEqual({});
      expect(cell?.rev).toBe(code(String(sourceOf(cellId))));
      expect(await call('update_cell', { cellId, content: 'short', expected_rev: cell?.rev as number })).toEqual({});
    }
  });

  it('names every tool that takes a revision, and each of them says so', async () => {
    const { tools } = await notebook.request('tools/list', {}, createContext('tools/list'));
    const taking = (tools as { name: string; description: string; inputSchema: { properties: JsonObject } }[]).filter(
      ({ inputSchema }) => 'expected_rev' in inputSchema.properties,
    );
    expect(new Set(taking.map(({ name }) => name))).toEqual(editingTools);
    const sentence = 'Refused, with its text, if the cell is not as you last read or wrote it.';
    for (const { description } of taking) expect(description.split(sentence)).toHaveLength(2);
  });
});

describe('ordinary work meets no refusal', { tags: ['P-633'] }, () => {
  it('add, then update, delete, undo and update again', async () => {
    const call = agent();
    for (const [tool, content] of [
      ['add_code_cell', { code: 'a', language: 'python' }],
      ['add_text_cell', { content: '# A' }],
      ['run_code', { code: 'print("a")' }],
    ] as const) {
      const { newCellId: cellId } = await call(tool, { cellIndex: 0, ...content });
      for (const name of [
        'update_cell',
        'undo_last_change',
        'update_cell',
        'update_cell',
        'delete_cell',
        'undo_last_change',
        'update_cell',
      ]) {
        const args = name === 'undo_last_change' ? {} : name === 'delete_cell' ? { cellId } : { cellId, content: `${name} 😀 \ud800` };
        expect(await call(name, args as JsonObject), `${tool}: ${name}`).not.toHaveProperty('error');
      }
    }
  });

  it('run, then update', async () => {
    const call = agent();
    const cellId = typed('print("a")');
    await call('get_cells');
    for (let turn = 0; turn < 3; turn++) {
      expect(await call('run_code_cell', { cellId })).not.toHaveProperty('error');
      expect(await call('update_cell', { cellId, content: `print(${turn})` })).toEqual({});
    }
  });

  it('many calls at once, of which none waits for another', async () => {
    const call = agent();
    const cellId = typed('a');
    await call('get_cells');
    for (let turn = 0; turn < 3; turn++) {
      const answers = await Promise.all([
        call('get_cells'),
        call('update_cell', { cellId, content: `b${turn}` }),
        call('update_cell', { cellId, content: `c${turn}` }),
        call('run_code_cell', { cellId }),
        call('update_cell', { cellId, content: `d${turn}` }),
        call('get_cells'),
      ]);
      expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
      expect(sourceOf(cellId)).toBe(`d${turn}`);
    }
  });

  it('two agents in turn that each read first', async () => {
    const cellId = typed('a');
    for (let turn = 0; turn < 6; turn++) {
      const call = agent(turn % 2 === 0 ? 'one' : 'two');
      await call('get_cells');
      expect(await call('update_cell', { cellId, content: `turn ${turn}` })).toEqual({});
    }
  });
});
