import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeColabPage } from '../fixtures/colab-page/node-page.js';
import { untilBrokerEnded } from '../support/broker.js';
import { openLegacyAgent, type SendMessage } from '../support/http-agent.js';
import { addressIn, Program } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { ServedHub } from '../support/served-hub.js';
import { WindowSocket } from '../support/window-socket.js';

const slow = 120_000;

interface Notebook extends JsonObject {
  id: string;
  state: string;
  lease: {
    holder: { id: string; name: string } | null;
    asking: { question: number; name: string }[];
    barred: { id: string; name: string }[];
  };
}

/** A hub, asked by its owner. */
function ownerOf(hub: ServedHub) {
  const ask = async (path: string, body?: JsonObject, token = hub.ownerToken): Promise<JsonObject> => {
    const answer = await hub.request(`/api/v1/hub${path}`, { token, ...(body === undefined ? {} : { body }) });
    return { ...((await answer.json()) as JsonObject), status: answer.status };
  };
  const notebook = async (): Promise<Notebook> => ((await ask('/notebooks')).notebooks as [Notebook])[0];
  const until = async (fits: (notebook: Notebook) => boolean): Promise<Notebook> => {
    for (;;) {
      const now = await notebook();
      if (fits(now)) return now;
    }
  };
  const act = async (name: string, body: JsonObject = {}): Promise<JsonObject> => ask(`/notebooks/${(await notebook()).id}/${name}`, body);
  return { ask, notebook, until, act };
}

const call = async (agent: SendMessage, name: string, args: JsonObject = {}): Promise<string> =>
  JSON.stringify((await agent('tools/call', { name, arguments: args })).result);
const write = (agent: SendMessage): Promise<string> => call(agent, 'add_text_cell', { cellIndex: 0, content: 'x' });

describe('the built-in notebook of a hub, for its owner', () => {
  let hub: ServedHub;
  let owner: ReturnType<typeof ownerOf>;
  let first: SendMessage;
  let second: SendMessage;
  beforeAll(async () => {
    hub = await ServedHub.start({ args: ['--notebook', 'local', '--no-browser'] });
    owner = ownerOf(hub);
    [first, second] = [
      await openLegacyAgent(hub, () => hub.ownerToken, 'First'),
      await openLegacyAgent(hub, () => hub.ownerToken, 'Second'),
    ];
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it('is shown with its kernel, what that can do to the machine, and who called it last', { tags: ['P-498'] }, async () => {
    expect(await owner.notebook()).toMatchObject({
      ...{ kind: 'built-in', title: 'Notebook in memory', location: null, state: 'not started', windows: 0, page: null, last_call: null },
      kernel: 'pyodide',
      isolation: expect.stringContaining('Python in WebAssembly, without network'),
      lease: { holder: null, asking: [], barred: [] },
      can: ['address', 'release', 'stop', 'restart', 'undo'],
    });
    expect(await write(first)).toContain('newCellId');
    expect(await owner.notebook()).toMatchObject({ lease: { holder: { name: 'First' } }, last_call: { agent: 'First' } });
  });

  it('is taken away from an agent, given back, and released', { tags: ['deep', 'P-499'] }, async () => {
    await write(first);
    const { holder } = (await owner.notebook()).lease;
    expect(await owner.act('lease', { agent: holder?.id, may_hold: false })).toMatchObject({
      lease: { holder: null, barred: [{ id: holder?.id, name: 'First' }] },
    });
    expect(await write(first)).toContain('A person took this notebook away from you');
    expect(await write(second)).toContain('newCellId');
    expect(await owner.act('lease', { agent: holder?.id, may_hold: true })).toMatchObject({
      lease: { holder: { name: 'Second' }, barred: [] },
    });
    expect(await owner.act('release')).toMatchObject({ holder: 'Second' });
    expect(await write(first)).toContain('newCellId');
    expect(await owner.act('lease', { agent: 'nobody', may_hold: false })).toMatchObject({ status: 422 });
  });

  it('opens one window for an address, and its owner answers an agent that asks for it', { tags: ['P-499', 'P-500'] }, async () => {
    await write(first);
    const { address } = (await owner.act('address')) as { address: string };
    using _window = await WindowSocket.open(address);
    const { hash, origin } = new URL(address);
    const again = await fetch(new URL('/enter', origin), { method: 'POST', headers: { origin }, body: hash.slice('#token='.length) });
    expect(again.status).toBe(410);
    expect(await owner.notebook()).toMatchObject({ windows: 1 });
    const asked = call(second, 'take_over', { reason: 'the plot' });
    const { lease } = await owner.until((notebook) => notebook.lease.asking.length > 0);
    expect(lease.asking).toMatchObject([{ name: 'Second', reason: 'the plot' }]);
    expect(await owner.act('answer', { question: lease.asking[0]?.question, yes: true })).toMatchObject({
      lease: { holder: { name: 'Second' } },
    });
    expect(await asked).toContain('yours');
    expect(await owner.act('answer', { question: lease.asking[0]?.question, yes: true })).toMatchObject({ status: 422 });
    expect(hub.stderr).not.toContain(hash.slice('#token='.length));
  });

  it('shows the last change of an agent, and takes it back, but not over a person’s', { tags: ['P-511'] }, async () => {
    await owner.act('release');
    const { newCellId } = JSON.parse(JSON.parse(await write(first)).content[0].text) as { newCellId: string };
    expect(await owner.notebook()).toMatchObject({ last_change: { change: 'insert', cell_id: newCellId, agent: 'First' } });
    expect(await owner.act('undo')).toMatchObject({ status: 200, undone: { change: 'insert', cell_id: newCellId } });
    expect(await call(first, 'get_cells')).not.toContain(newCellId);
    while ((await owner.notebook()).last_change !== null) await owner.act('undo');
    expect(await owner.act('undo')).toMatchObject({ status: 409, detail: expect.stringContaining('no change of an agent') });
  });

  it('stops what runs, and begins with a fresh kernel', { timeout: slow, tags: ['deep', 'P-500'] }, async () => {
    await owner.act('release');
    const running = call(first, 'run_code', { code: 'x = 1\nimport time\ntime.sleep(600)' });
    await owner.until(({ state }) => state === 'busy');
    expect(await owner.act('stop')).toMatchObject({ status: 200 });
    expect(await running).toContain('KeyboardInterrupt');
    expect(await owner.act('restart')).toMatchObject({ state: 'idle' });
    expect(await call(first, 'run_code', { code: 'print("x" in globals())' })).toContain('False');
  });

  it('is nobody else’s to see or work', { tags: ['P-500'] }, async () => {
    const { token } = await hub.grant('--allow', '*:*');
    const { id } = await owner.notebook();
    expect(await owner.ask('/notebooks', undefined, token)).toMatchObject({ status: 403 });
    expect(await owner.ask('/notebooks/elsewhere', undefined, token)).toMatchObject({ status: 403 });
    for (const action of ['address', 'release', 'lease', 'answer', 'undo', 'disconnect', 'stop', 'restart'])
      expect(await owner.ask(`/notebooks/${id}/${action}`, {}, token)).toMatchObject({ status: 403 });
    expect(await owner.ask('/notebooks/none/stop', {})).toMatchObject({
      status: 422,
      detail: expect.stringContaining('holds no notebook'),
    });
    expect(await owner.act('disconnect')).toMatchObject({ status: 422, detail: 'This notebook is no page.' });
  });
});

describe('the page of a hub, for its owner', () => {
  let hub: ServedHub;
  let owner: ReturnType<typeof ownerOf>;
  beforeAll(async () => {
    hub = await ServedHub.start({ args: ['--no-browser'] });
    owner = ownerOf(hub);
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it('is shown with what keeps it away, is told of when it comes, and is disconnected', { tags: ['P-498', 'P-500'] }, async () => {
    const agent = await openLegacyAgent(hub, () => hub.ownerToken);
    expect(await owner.notebook()).toMatchObject({ kind: 'page', title: 'Google Colab', state: 'waiting', kernel: null, isolation: null });
    expect(await owner.act('disconnect')).toMatchObject({ disconnected: false });
    expect(await owner.act('restart')).toMatchObject({ status: 422 });
    expect(await owner.act('undo')).toMatchObject({ status: 409 });
    expect(await owner.act('address')).toMatchObject({ address: expect.stringMatching(/\/connect#code=[\w-]{43}$/) });
    const opened = addressIn(await agent('tools/call', { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } }));
    const events = (await hub.request('/api/v1/hub/events', { token: hub.ownerToken })).body
      ?.pipeThrough(new TextDecoderStream())
      .getReader();
    await using page = await RawPage.serve(opened);
    for (let text = ''; !text.includes('event: notebooks\n'); ) text += (await events?.read())?.value ?? '';
    await events?.cancel();
    const there = await owner.until(({ state }) => state === 'idle');
    expect(there).toMatchObject({ page: { origin: 'https://colab.research.google.com', since: expect.any(String) } });
    expect(JSON.stringify(there)).not.toContain(opened.token);
    expect(await owner.act('disconnect')).toMatchObject({ disconnected: true });
    expect(await page.closed).toBe(1008);
    await owner.until(({ state }) => state === 'waiting');
  });

  it('has the last change of an agent taken back by its owner', { tags: ['deep', 'P-511'] }, async () => {
    const agent = await openLegacyAgent(hub, () => hub.ownerToken, 'Changer');
    const address = addressIn(await agent('tools/call', { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } }));
    const page = createNodeColabPage(address);
    try {
      await owner.until(({ state }) => state === 'idle');
      const cellId = page.notebook.addCell(0, { cellType: 'code', text: 'of a person', language: 'python' });
      await call(agent, 'get_cells', {});
      await call(agent, 'update_cell', { cellId, content: 'of an agent' });
      expect(await owner.notebook()).toMatchObject({ last_change: { change: 'update', cell_id: cellId } });
      expect(await owner.act('undo')).toMatchObject({ status: 200, undone: { change: 'update', cell_id: cellId } });
      expect(page.notebook.findCell(cellId).source.join('')).toBe('of a person');
      await call(agent, 'get_cells', {});
      await call(agent, 'update_cell', { cellId, content: 'of an agent' });
      page.notebook.findCell(cellId).source = ['of a person again'];
      expect(await owner.act('undo')).toMatchObject({ status: 409, detail: expect.stringContaining('changed') });
      expect(page.notebook.findCell(cellId).source.join('')).toBe('of a person again');
    } finally {
      page.close();
    }
    await owner.until(({ state }) => state === 'waiting');
  });

  it('stands beside what other processes of the user hold', { timeout: slow, tags: ['deep', 'P-498'] }, async () => {
    const file = join(hub.home, 'work.ipynb');
    await using agent = await Program.open({ args: ['--notebook', file], env: hub.env, name: 'Of stdio' });
    await agent.callTool('add_text_cell', { cellIndex: 0, content: 'x' });
    const { processes } = await owner.ask('/notebooks/elsewhere');
    expect(processes).toMatchObject([
      { kind: 'broker', notebooks: [{ id: expect.any(String), file, holder: 'Of stdio', agents: ['Of stdio'] }] },
    ]);
    await hub.run('stop', 'all');
    await untilBrokerEnded(hub.env.XDG_STATE_HOME ?? '');
    expect((await owner.ask('/notebooks/elsewhere')).processes).toEqual([]);
  });
});
