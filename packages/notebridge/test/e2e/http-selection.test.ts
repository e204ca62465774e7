import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createNodeColabPage } from '../fixtures/colab-page/node-page.js';
import { modernVersion } from '../support/agents.js';
import { SharedHome, until } from '../support/broker.js';
import { addressIn, Program, runProgram } from '../support/program.js';

const slow = 180_000;

interface HttpAgent {
  names(): Promise<string[]>;
  /** What the answer's text holds, with `isError` and the code of an error. */
  call(name: string, args?: JsonObject): Promise<JsonObject>;
  /** How often it was told that its tools have changed. */
  changes: number;
  leave(): Promise<void>;
}

function toAnswer(result: JsonObject): JsonObject {
  const { content, isError, _meta } = result as { content: { text: string }[]; isError?: boolean; _meta?: JsonObject };
  const text = content[0]?.text ?? '';
  const found = text.startsWith('{') ? (JSON.parse(text) as JsonObject) : { text: content.map((block) => block.text).join('\n') };
  return { ...found, isError: isError === true, code: _meta?.['notebridge/error_code'] };
}

async function openV1(address: string, token: string): Promise<HttpAgent> {
  const client = new ClientV1({ name: 'One', version: '1' });
  const transport = new TransportV1(new URL(address), { requestInit: { headers: { authorization: `Bearer ${token}` } } });
  onTestFinished(() => client.close());
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const agent: HttpAgent = {
    changes: 0,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => toAnswer(await client.callTool({ name, arguments: args })),
    leave: () => transport.terminateSession(),
  };
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    agent.changes++;
  });
  return agent;
}

async function openV2(address: string, token: string, pin?: string): Promise<HttpAgent> {
  const client = new ClientV2({ name: 'Two', version: '1' }, pin === undefined ? {} : { versionNegotiation: { mode: { pin } } });
  const transport = new TransportV2(new URL(address), { requestInit: { headers: { authorization: `Bearer ${token}` } } });
  onTestFinished(() => client.close());
  await client.connect(transport);
  const agent: HttpAgent = {
    changes: 0,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => toAnswer((await client.callTool({ name, arguments: args })) as JsonObject),
    leave: () => transport.terminateSession(),
  };
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    agent.changes++;
  });
  return agent;
}

interface Served extends AsyncDisposable {
  address: string;
  token: string;
}

async function serve(home: SharedHome, args: string[] = []): Promise<Served> {
  const hub = new Program({
    args: ['serve', '--notebook', home.path('work.ipynb'), '--port', '0', ...args],
    env: home.env,
    cwd: home.folder,
  });
  await hub.until(() => hub.stderr.includes('"msg":"Serving."'), 60_000);
  return {
    address: `${/"url":"([^"]+)"/.exec(hub.stderr)?.[1]}/mcp`,
    token: readFileSync(join(home.stateDir, 'owner-token'), 'utf8').trim(),
    [Symbol.asyncDispose]: async () => {
      hub.child.kill('SIGTERM');
      await hub.close();
    },
  };
}

const text = (content: string, more: JsonObject = {}): JsonObject => ({ cellIndex: 0, content, ...more });
const sourcesIn = async (agent: HttpAgent): Promise<unknown> =>
  ((await agent.call('get_cells')).cells as { source: string[] }[]).map(({ source }) => source.join(''));
const listed = async (agent: HttpAgent): Promise<JsonObject[]> => (await agent.call('list_notebooks')).notebooks as JsonObject[];
const selectedBy = async (agent: HttpAgent): Promise<unknown[]> =>
  (await listed(agent)).filter(({ selected }) => selected).map(({ title }) => title);

describe('agents of one hub over HTTP', () => {
  it('have a selection each, and are told of their own notebooks alone', { timeout: slow, tags: ['P-321'] }, async () => {
    await using home = new SharedHome();
    await using hub = await serve(home);
    const { address, token } = hub;
    const [one, two] = [await openV1(address, token), await openV2(address, token)];
    for (const agent of [one, two])
      expect(await agent.names()).toEqual(expect.arrayContaining(['list_notebooks', 'connect_notebook', 'get_cells']));
    expect(await one.call('connect_notebook', { notebook: 'other.ipynb', create: true })).toMatchObject({
      status: 'connected',
      title: 'other.ipynb',
    });
    expect(await one.call('add_text_cell', text('one in other'))).toHaveProperty('newCellId');
    expect(await two.call('add_text_cell', text('two in work'))).toHaveProperty('newCellId');
    expect([await sourcesIn(one), await sourcesIn(two)]).toEqual([['one in other'], ['two in work']]);
    expect([await selectedBy(one), await selectedBy(two)]).toEqual([['other.ipynb'], ['work.ipynb']]);
    await until(() => one.changes > 0);
    const before = one.changes;
    expect(await two.call('connect_notebook', { notebook: 'third.ipynb', create: true })).toMatchObject({ status: 'connected' });
    await until(() => two.changes > 0);
    expect([one.changes, two.changes]).toEqual([before, 1]);
    // What one holds, the other is refused, by the name of the agent.
    const other = (await listed(two)).find(({ title }) => title === 'other.ipynb') as JsonObject;
    expect(other).toMatchObject({ holder: 'One', connected: false });
    const refused = await two.call('add_text_cell', text('lost', { notebook: String(other.id) }));
    expect(refused).toMatchObject({ isError: true, code: 'held', text: expect.stringContaining('"One"') });
  });

  it('give back what they hold when their session ends', { timeout: slow, tags: ['deep', 'P-296'] }, async () => {
    await using home = new SharedHome();
    await using hub = await serve(home);
    const { address, token } = hub;
    const [one, two] = [await openV1(address, token), await openV2(address, token)];
    expect(await one.call('add_text_cell', text('x'))).toHaveProperty('newCellId');
    await one.call('connect_notebook', { notebook: 'other.ipynb', create: true });
    expect(await one.call('add_text_cell', text('y'))).toHaveProperty('newCellId');
    const holders = async () => Object.fromEntries((await listed(two)).map(({ title, holder }) => [title, holder]));
    expect(await holders()).toEqual({ 'work.ipynb': 'One', 'other.ipynb': 'One' });
    expect(await two.call('add_text_cell', text('lost'))).toMatchObject({ isError: true, code: 'held' });
    await one.leave();
    await until(async () => Object.values(await holders()).every((holder) => holder === null));
    expect(await two.call('add_text_cell', text('z'))).toHaveProperty('newCellId');
    await two.call('connect_notebook', { notebook: 'other.ipynb' });
    expect(await two.call('add_text_cell', text('z'))).toHaveProperty('newCellId');
    const { stdout } = await runProgram(['ps', '--json'], { env: home.env });
    expect(stdout).not.toContain('"One"');
  });

  it.each(['colab', 'local'])('choose beside the notebook of a hub that is %s', { timeout: slow, tags: ['deep'] }, async (notebook) => {
    await using home = new SharedHome();
    await using hub = await serve(home, ['--notebook', notebook]);
    const [one, two] = [await openV1(hub.address, hub.token), await openV2(hub.address, hub.token)];
    const [own] = await listed(two);
    expect(own).toMatchObject({ kind: notebook === 'local' ? 'built-in' : 'colab', selected: true });
    await one.call('connect_notebook', { notebook: 'other.ipynb', create: true });
    expect(await one.call('add_text_cell', text('one in other'))).toHaveProperty('newCellId');
    expect([await selectedBy(one), await selectedBy(two)]).toEqual([['other.ipynb'], [own?.title]]);
    await one.call('disconnect_notebook');
    expect([await selectedBy(one), await selectedBy(two)]).toEqual([[own?.title], [own?.title]]);
  });

  it('share the page of a hub: one writes, the others read it, and it is free when that session ends', {
    timeout: slow,
    tags: ['deep', 'P-295'],
  }, async () => {
    await using home = new SharedHome();
    await using hub = await serve(home, ['--notebook', 'colab', '--no-browser']);
    const [one, two] = [await openV1(hub.address, hub.token), await openV2(hub.address, hub.token)];
    expect(await one.names()).toEqual(expect.arrayContaining(['take_over', 'run_code_cell']));
    const { text: advice } = await one.call('open_colab_browser_connection', { wait_seconds: 0 });
    const page = createNodeColabPage(addressIn({ content: [{ type: 'text', text: String(advice) }] }));
    onTestFinished(() => page.close());
    await page.whenState('connected');
    await expect.poll(async () => (await one.call('get_cells')).isError).toBe(false);
    const cell = { cellIndex: 0, language: 'python', code: 'x = 1' };
    expect(await one.call('add_code_cell', cell)).toMatchObject({ isError: false });
    expect(await two.call('add_code_cell', cell)).toMatchObject({ isError: true, code: 'held', text: expect.stringContaining('"One"') });
    expect(await two.call('get_cells')).toMatchObject({ isError: false });
    expect(await two.call('open_colab_browser_connection')).toMatchObject({ isError: false });
    expect(await two.call('take_over')).toMatchObject({
      isError: true,
      code: 'held',
      text: expect.stringContaining('Nobody can be asked'),
    });
    expect(await listed(two)).toMatchObject([{ kind: 'colab', holder: 'One' }]);
    await one.leave();
    await until(async () => (await listed(two))[0]?.holder === null);
    expect(await two.call('add_code_cell', cell)).toMatchObject({ isError: false });
  });

  it('agents of 2026-07-28 with one token count as one', { timeout: slow, tags: ['deep', 'P-321'] }, async () => {
    await using home = new SharedHome();
    await using hub = await serve(home);
    const { address, token } = hub;
    const [one, two] = [await openV2(address, token, modernVersion), await openV2(address, token, modernVersion)];
    const legacy = await openV1(address, token);
    expect(await one.call('connect_notebook', { notebook: 'other.ipynb', create: true })).toMatchObject({ status: 'connected' });
    expect([await selectedBy(two), await selectedBy(legacy)]).toEqual([['other.ipynb'], ['work.ipynb']]);
  });

  it('reach by a grant for some tools, or without a token, the notebook of the hub alone', { timeout: slow, tags: ['P-323'] }, async () => {
    await using home = new SharedHome();
    await using hub = await serve(home);
    const { address, token } = hub;
    const mine = await openV1(address, token);
    const { id } = await mine.call('connect_notebook', { notebook: 'other.ipynb', create: true });
    expect(await mine.call('add_text_cell', text('mine'))).toHaveProperty('newCellId');
    const issue = async (...args: string[]): Promise<string> =>
      String(JSON.parse((await runProgram(['grant', '--agent', '--json', ...args], { env: home.env })).stdout).token);
    const some = await openV2(address, await issue('--allow', 'notebook:get_cells'));
    expect(await some.names()).toEqual(['get_cells']);
    expect(await sourcesIn(some)).toEqual([]);
    for (const notebook of [String(id), home.path('other.ipynb')]) {
      const refused = await some.call('get_cells', { notebook });
      expect(refused).toMatchObject({ isError: true, code: 'bad_notebook' });
      expect(String(refused.text)).not.toContain('mine');
    }
    const all = await openV2(address, await issue());
    expect(await all.call('connect_notebook', { notebook: String(id) })).toMatchObject({ status: 'connected' });
    expect(await sourcesIn(all)).toEqual(['mine']);

    await using open = await serve(home, ['--notebook', home.path('open.ipynb'), '--no-auth', '--name', 'open']);
    const anybody = await openV1(open.address, 'none');
    expect(await anybody.names()).not.toContain('list_notebooks');
    await expect(anybody.call('list_notebooks')).rejects.toThrow(/list_notebooks/);
    expect(await anybody.call('get_cells', { notebook: String(id) })).toMatchObject({ isError: true });
  });
});
