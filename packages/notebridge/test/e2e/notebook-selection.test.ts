import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { type BrokerFile, isAlive, SharedHome, until } from '../support/broker.js';
import { Program } from '../support/program.js';

/** Kernels start several times, each time in seconds, and on a busy machine in many. */
const slow = 240_000;

interface Answer extends JsonObject {
  isError: boolean;
  /** The errors' code, where it is one of ours. */
  code: string | undefined;
  text: string;
}

/** The answer of a tool: what its text holds, if that is JSON. */
async function call(program: Program, name: string, args: JsonObject = {}): Promise<Answer> {
  const { result } = (await program.callTool(name, args)) as {
    result: { content: { text: string }[]; isError?: boolean; _meta?: JsonObject };
  };
  const text = result.content[0]?.text ?? '';
  const found = text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {};
  return { ...found, isError: result.isError === true, code: result._meta?.['notebridge/error_code'] as string | undefined, text };
}

async function toolsOf(program: Program): Promise<{ name: string; inputSchema: { properties?: JsonObject } }[]> {
  const { result } = (await program.request('tools/list')) as { result: { tools: { name: string; inputSchema: JsonObject }[] } };
  return result.tools;
}

async function sourcesIn(program: Program, notebook?: string): Promise<string[]> {
  const { cells } = await call(program, 'get_cells', notebook === undefined ? {} : { notebook });
  return (cells as { source: string[] }[]).map(({ source }) => source.join(''));
}

const text = (content: string, more: JsonObject = {}): JsonObject => ({ cellIndex: 0, content, ...more });

describe.runIf(process.platform === 'linux')('an agent with several notebooks', () => {
  it('selects for itself alone, and each call reaches the notebook that it names', {
    timeout: slow,
    tags: ['P-273', 'P-695'],
  }, async () => {
    await using home = new SharedHome();
    await using first = await Program.open({ args: ['--notebook', 'a.ipynb'], env: home.env, cwd: home.folder });
    await using second = await Program.open({ args: ['--notebook', 'b.ipynb'], env: home.env, cwd: home.folder });
    expect(await call(second, 'add_text_cell', text('second in b'))).toHaveProperty('newCellId');
    const { notebooks } = (await call(first, 'list_notebooks')) as unknown as { notebooks: JsonObject[] };
    expect(notebooks).toHaveLength(2);
    const a = notebooks.find(({ title }) => title === 'a.ipynb') as JsonObject;
    const b = notebooks.find(({ title }) => title === 'b.ipynb') as JsonObject;
    expect(a).toMatchObject({ kind: 'built-in', connected: true, selected: true, location: home.path('a.ipynb') });
    expect(b).toMatchObject({ connected: false, selected: false, state: expect.any(String), kernel: expect.any(String) });
    expect(await call(first, 'connect_notebook', { notebook: 'c.ipynb', create: true })).toMatchObject({
      status: 'connected',
      title: 'c.ipynb',
      selected: true,
      isolation: expect.stringContaining('Python in WebAssembly'),
    });
    expect(a).not.toHaveProperty('isolation');
    await call(first, 'add_text_cell', text('first in c'));
    await call(first, 'add_text_cell', text('first in a', { notebook: String(a.id) }));
    expect(await sourcesIn(first, String(b.id))).toEqual(['second in b']);
    // Naming one selects nothing, and another agent's selection is its own.
    expect(await sourcesIn(first)).toEqual(['first in c']);
    expect(await sourcesIn(second)).toEqual(['second in b']);
    expect(await sourcesIn(second, String(a.id))).toEqual(['first in a']);
    const calls = Array.from({ length: 60 }, (_, at) =>
      sourcesIn(at % 2 === 0 ? first : second, String([a, b][at % 3 === 0 ? 0 : 1]?.id)).then((sources) => [
        at % 3 === 0 ? 'first in a' : 'second in b',
        sources,
      ]),
    );
    for (const [wanted, sources] of await Promise.all(calls)) expect(sources).toEqual([wanted]);
  });

  it('is told which there are where a call does not say which is meant, and nothing is called', {
    timeout: slow,
    tags: ['deep', 'P-274'],
  }, async () => {
    await using home = new SharedHome();
    await using agent = await Program.open({ args: ['--notebook', 'a.ipynb'], env: home.env, cwd: home.folder });
    for (const notebook of ['b.ipynb', 'c.ipynb']) await call(agent, 'connect_notebook', { notebook, create: true });
    const left = await call(agent, 'disconnect_notebook');
    expect(left).toMatchObject({ status: 'disconnected', notebooks: [{}, {}, { selected: false }] });
    const refused = await call(agent, 'add_text_cell', text('lost'));
    expect(refused).toMatchObject({ isError: true, code: 'which_notebook' });
    for (const name of ['a.ipynb', 'b.ipynb']) expect(refused.text).toContain(home.path(name));
    expect(refused.text).not.toContain('c.ipynb');
    const { notebooks } = (await call(agent, 'list_notebooks')) as unknown as { notebooks: { id: string; connected: boolean }[] };
    for (const { id } of notebooks) expect(await sourcesIn(agent, id)).toEqual([]);
    await call(agent, 'connect_notebook', { notebook: notebooks.find(({ connected }) => connected)?.id });
    expect(await call(agent, 'add_text_cell', text('meant'))).toHaveProperty('newCellId');
  });

  it('asks in one breath for a notebook and for a change of it: the change is not made in the one before', {
    timeout: slow,
    tags: ['deep', 'P-273'],
  }, async () => {
    await using home = new SharedHome();
    await using agent = await Program.open({ args: ['--notebook', 'a.ipynb'], env: home.env, cwd: home.folder });
    const names = ['b.ipynb', 'c.ipynb'];
    for (const notebook of names) await call(agent, 'connect_notebook', { notebook, create: true });
    for (let turn = 0; turn < 20; turn++) {
      const notebook = names[turn % 2] ?? '';
      await Promise.all([call(agent, 'connect_notebook', { notebook }), call(agent, 'add_text_cell', text(`for ${notebook}`))]);
    }
    for (const notebook of names) {
      await call(agent, 'connect_notebook', { notebook });
      expect(await sourcesIn(agent)).toEqual(Array.from({ length: 10 }, () => `for ${notebook}`));
    }
  });

  it('names a notebook for the first time in several calls at once, and uses it from then on', {
    timeout: slow,
    tags: ['deep'],
  }, async () => {
    await using home = new SharedHome();
    await using other = await Program.open({ args: ['--notebook', 'b.ipynb'], env: home.env, cwd: home.folder });
    await call(other, 'get_cells');
    await using agent = await Program.open({ args: ['--notebook', 'a.ipynb'], env: home.env, cwd: home.folder });
    const { notebooks } = (await call(agent, 'list_notebooks')) as unknown as { notebooks: JsonObject[] };
    const notebook = String(notebooks.find(({ title }) => title === 'b.ipynb')?.id);
    const named = () => call(agent, 'get_cells', { notebook });
    for (const answers of [await Promise.all([named(), named(), named()]), [await named()]])
      expect(answers).toMatchObject(answers.map(() => ({ isError: false, cells: [] })));
    const connected = () => call(agent, 'connect_notebook', { notebook: 'c.ipynb', create: true });
    expect(await Promise.all([connected(), connected()])).toMatchObject([{ status: 'connected' }, { status: 'connected' }]);
    expect(await call(agent, 'add_text_cell', text('in c'))).toHaveProperty('newCellId');
  });

  it('gives arguments as text, null or not at all, and is taken at its word', { timeout: slow, tags: ['P-744'] }, async () => {
    await using home = new SharedHome();
    await using agent = await Program.open({ args: ['--notebook', 'a.ipynb'], env: home.env, cwd: home.folder });
    await toolsOf(agent);
    for (const args of [{ code: 'second', cellIndex: null, notebook: null }, { code: 'third' }, { code: 'first', cellIndex: '0' }])
      expect(await call(agent, 'add_code_cell', args)).toHaveProperty('newCellId');
    expect(await sourcesIn(agent)).toEqual(['first', 'second', 'third']);
    const { cells } = await call(agent, 'get_cells', { cellIndexStart: '1', cellIndexEnd: '1', includeOutputs: 'true' });
    const [{ id, rev }] = cells as [{ id: string; rev: number }];
    expect(await call(agent, 'update_cell', { cellId: id, content: 'new', expected_rev: String(rev) })).toMatchObject({ isError: false });
    expect(await call(agent, 'add_code_cell', { code: 'x', cellIndex: 'one' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('cellIndex has to be an integer of 0 or more, and is \\"one\\"'),
    });
    expect(await call(agent, 'connect_notebook', { notebook: 'b.ipynb', create: 'true' })).toMatchObject({ status: 'connected' });
  });

  it('opens what is in its folder and on allowed origins, and nothing else', { timeout: slow, tags: ['P-275'] }, async () => {
    await using home = new SharedHome();
    mkdirSync(home.path('folder'));
    writeFileSync(home.path('outside.ipynb'), JSON.stringify({ cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
    symlinkSync(home.path('outside.ipynb'), join(home.path('folder'), 'link.ipynb'));
    writeFileSync(join(home.path('folder'), 'notes.txt'), 'mine');
    await using agent = await Program.open({ args: ['--notebook', 'a.ipynb'], env: home.env, cwd: home.path('folder') });
    const refused = async (notebook: string): Promise<Answer> => call(agent, 'connect_notebook', { notebook });
    for (const name of ['long'.repeat(250_000), `${'long'.repeat(1000)}.ipynb`])
      expect(await refused(name)).toMatchObject({ isError: true, text: expect.stringMatching(/^(There is no|"long).{0,500}$/s) });
    for (const name of ['../outside.ipynb', 'link.ipynb', home.path('outside.ipynb')])
      expect(await refused(name)).toMatchObject({ isError: true, text: expect.stringContaining('outside of this agent') });
    expect(await refused('new.ipynb')).toMatchObject({ isError: true, text: expect.stringContaining('"create": true') });
    expect(await refused('notes.txt')).toMatchObject({ isError: true, text: expect.stringContaining('.ipynb') });
    expect(await refused('nb99')).toMatchObject({ isError: true, text: expect.stringContaining('was closed') });
    for (const url of [
      'https://example.org/a.ipynb',
      'http://10.0.0.1:8888/lab/tree/a.ipynb?token=secret',
      'file:///etc/a.ipynb',
      'blob:http://user:secret@10.0.0.1/a.ipynb',
      'https://colab.research.google.com.example.org/drive/1',
    ]) {
      const answer = await refused(url);
      expect(answer).toMatchObject({ isError: true, code: 'bad_origin' });
      expect(answer.text).not.toContain('secret');
    }
    expect(readFileSync(join(home.path('folder'), 'notes.txt'), 'utf8')).toBe('mine');
    const { notebooks } = (await call(agent, 'list_notebooks')) as unknown as { notebooks: JsonObject[] };
    expect(notebooks).toHaveLength(1);
  });

  it('has the same id for the same file after its process was killed, and another for a new one', {
    timeout: slow,
    tags: ['deep', 'P-276'],
  }, async () => {
    await using home = new SharedHome();
    await using agent = await Program.open({ args: ['--notebook', 'a.ipynb'], env: home.env, cwd: home.folder });
    const { id } = await call(agent, 'connect_notebook', { notebook: 'b.ipynb', create: true });
    const memory = await call(agent, 'connect_notebook', { notebook: 'local' });
    const { pid } = home.broker as BrokerFile;
    process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(pid));
    expect(await call(agent, 'add_text_cell', text('again', { notebook: 'a.ipynb' }))).toMatchObject({ isError: true });
    expect(await call(agent, 'connect_notebook', { notebook: 'b.ipynb' })).toMatchObject({ status: 'connected', id });
    expect(await call(agent, 'add_text_cell', text('again'))).toHaveProperty('newCellId');
    const another = await call(agent, 'connect_notebook', { notebook: 'local' });
    expect(another).toMatchObject({ status: 'connected' });
    expect(another.id).not.toBe(memory.id);
    expect(await sourcesIn(agent, String(id))).toEqual(['again']);
  });

  it('lists the tools and the argument in less than 12,000 bytes; not with --list dynamic, and not at all with --standalone', {
    timeout: slow,
    tags: ['deep', 'P-277'],
  }, async () => {
    await using home = new SharedHome();
    await using agent = await Program.open({ args: ['--notebook', 'a.ipynb'], env: home.env, cwd: home.folder });
    const tools = await toolsOf(agent);
    expect(JSON.stringify({ tools }).length).toBeLessThan(12_000);
    const names = ['list_notebooks', 'connect_notebook', 'disconnect_notebook'];
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    for (const { name, inputSchema } of tools) if (name !== 'list_notebooks') expect(inputSchema.properties).toHaveProperty('notebook');
    await using quiet = await Program.open({ args: ['--notebook', 'a.ipynb', '--list', 'dynamic'], env: home.env, cwd: home.folder });
    expect(JSON.stringify(await toolsOf(quiet))).not.toContain('"notebook":');
    expect(await call(quiet, 'list_notebooks')).toMatchObject({ notebooks: [{ title: 'a.ipynb' }] });
    await using alone = await Program.open({ args: ['--notebook', 'local', '--standalone'], env: home.env, cwd: home.folder });
    const aloneNames = (await toolsOf(alone)).map(({ name }) => name);
    for (const name of names) expect(aloneNames).not.toContain(name);
  });
});
