// @module-tag deep

import type { JsonObject } from '@notebridge/protocol/json';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { SharedHome, until } from '../support/broker.js';
import { Program, runProgram } from '../support/program.js';
import { WindowSocket } from '../support/window-socket.js';
import { windowUrlIn } from '../support/window-url.js';

const slow = 180_000;
const noBrowser = 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set';

interface LeaseMessage {
  holder: { id: string; name: string } | null;
  asking: { questionId: number; name: string; reason?: string }[];
}

const write = (agent: Program, content = 'x') => agent.callTool('add_text_cell', { cellIndex: 0, content });
const isDone = (answer: JsonObject): boolean => !JSON.stringify(answer).includes('isError');
const heldBy = (name: string) => ({
  result: { isError: true, content: [{ text: expect.stringContaining(`Another agent, "${name}", holds this notebook since 20`) }] },
});
const textOf = ({ result }: JsonObject): string => (result as { content: { text: string }[] }).content.map(({ text }) => text).join('\n');
const openWindow = async (agent: Program) => WindowSocket.open(windowUrlIn(textOf(await agent.callTool('open_notebook_window'))));
const leaseThat = async (window: WindowSocket, fits: (lease: LeaseMessage) => boolean): Promise<LeaseMessage> =>
  (await window.first('lease', ({ lease }) => fits(lease as unknown as LeaseMessage))).lease as unknown as LeaseMessage;

describe('two agents on one notebook', () => {
  it('one writes, without a step of its own; the other reads, and is told by whom and since when', {
    timeout: slow,
    tags: ['P-295'],
  }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    await using first = await Program.open({ args, env: home.env, name: 'First agent' });
    expect(textOf(await write(first, 'of the first'))).toMatch(/^\{"newCellId":"[^"]+"\}$/);
    await using second = await Program.open({ args, env: home.env, name: 'Second agent' });
    const refused = await write(second, 'of the second');
    expect(refused).toMatchObject(heldBy('First agent'));
    expect(textOf(refused)).toContain('call take_over');
    for (const tool of ['get_cells', 'get_notebook_info', 'list_runs']) expect(isDone(await second.callTool(tool))).toBe(true);
    const cells = textOf(await second.callTool('get_cells'));
    expect(cells).toContain('of the first');
    expect(cells).not.toContain('of the second');
    const { stdout } = await runProgram(['ps', '--json'], { env: home.env });
    expect(JSON.parse(stdout)).toMatchObject({ hosts: [{ notebooks: [{ holder: 'First agent' }] }] });
    // No window is open: nobody can be asked.
    const nobody = textOf(await second.callTool('take_over'));
    expect(nobody).toMatch(/Nobody can be asked.*open_notebook_window.*is gone, or has called nothing for 5 min/);
    await first.close();
    expect(isDone(await write(second, 'of the second'))).toBe(true);
  });

  it('a call that is refused for its arguments or its name holds nothing', { timeout: slow, tags: ['P-404'] }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    await using first = await Program.open({ args, env: home.env, name: 'First agent' });
    await using second = await Program.open({ args, env: home.env, name: 'Second agent' });
    expect(textOf(await first.callTool('update_cell', { cellId: 7 }))).toContain('Invalid arguments for update_cell');
    expect(await first.callTool('rename_cell', {})).not.toMatchObject({ result: { isError: undefined } });
    expect(isDone(await write(second, 'of the second'))).toBe(true);
    // Nor does it end a hold that is there.
    expect(textOf(await second.callTool('update_cell', {}))).toContain('Invalid arguments');
    expect(await write(first, 'of the first')).toMatchObject(heldBy('Second agent'));
  });

  it('cannot ask for what processes ask of each other: a window’s address, or an end', { timeout: slow, tags: ['P-297'] }, async () => {
    await using home = new SharedHome();
    await using agent = await Program.open({ args: ['--notebook', 'local'], env: home.env, name: 'An agent' });
    await write(agent);
    const pid = home.broker?.pid;
    for (const method of ['window/open', 'notebook/open', 'notebook/save', 'host/list', 'host/status', 'host/stop', 'agent:window/open'])
      expect(await agent.request(method, { isForced: true })).toMatchObject({ error: { code: -32_601 } });
    expect(textOf(await agent.callTool('get_cells'))).toContain('"x"');
    expect(home.broker?.pid).toBe(pid);
  });

  it('the person is asked, and gives it to one of two that ask, or says no', { timeout: slow, tags: ['P-297'] }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    await using first = await Program.open({ args, env: home.env, name: 'First agent' });
    await using second = await Program.open({ args, env: home.env, name: 'Second agent' });
    await using third = await Program.open({ args, env: home.env, name: 'Third agent' });
    await write(first);
    using window = await openWindow(first);
    const left = second.callTool('take_over', { reason: 'the plot' });
    const right = third.callTool('take_over');
    const { asking } = await leaseThat(window, (lease) => lease.asking.length === 2);
    const of = (name: string) => asking.find((question) => question.name === name)?.questionId ?? 0;
    expect(asking).toContainEqual({ questionId: of('Second agent'), id: expect.any(String), name: 'Second agent', reason: 'the plot' });
    await window.ask({ do: 'answerTakeOver', questionId: of('Third agent'), yes: true });
    expect(JSON.parse(textOf(await right))).toMatchObject({ status: 'yours' });
    expect(await left).toMatchObject(heldBy('Third agent'));
    await expect(window.ask({ do: 'answerTakeOver', questionId: of('Second agent'), yes: true })).rejects.toThrow(/no_question/);
    expect(await write(first)).toMatchObject(heldBy('Third agent'));
    expect(isDone(await write(third))).toBe(true);
    const again = first.callTool('take_over');
    const asked = await leaseThat(window, (lease) => lease.asking[0]?.name === 'First agent');
    await window.ask({ do: 'answerTakeOver', questionId: asked.asking[0]?.questionId ?? 0, yes: false });
    expect(textOf(await again)).toMatch(/^The person said no\. Another agent, "Third agent", holds/);
    // Whoever asks when its holder ends gets it.
    const waiting = second.callTool('take_over');
    await leaseThat(window, (lease) => lease.asking[0]?.name === 'Second agent' && lease.holder?.name === 'Third agent');
    third.child.kill('SIGKILL');
    expect(JSON.parse(textOf(await waiting))).toMatchObject({ status: 'yours' });
  });

  it('the command release ends a hold, by id or by file', { timeout: slow, tags: ['P-325'] }, async () => {
    await using home = new SharedHome();
    const { env } = home;
    const file = home.path('work.ipynb');
    const release = (notebook: string) => runProgram(['release', notebook], { env });
    expect(await release('nb1')).toMatchObject({
      ending: 2,
      stderr: expect.stringContaining('No notebook "nb1" of yours is open. None is open.'),
    });
    await using first = await Program.open({ args: ['--notebook', file], env, name: 'First\u202e agent' });
    await using second = await Program.open({ args: ['--notebook', file], env, name: 'Second agent' });
    await write(first);
    expect(isDone(await write(second))).toBe(false);
    const { stdout } = await runProgram(['ps', '--json'], { env });
    const { id } = JSON.parse(stdout).hosts[0].notebooks[0] as { id: string };
    const table = (await runProgram(['ps'], { env })).stdout;
    expect(table).toMatch(new RegExp(`HOLDER.*\\n.* ${id} .*FirstU\\+202E agent +${file}`));
    expect(await release('nb999')).toMatchObject({ ending: 2, stderr: expect.stringContaining(`Open: ${id} (${file})`) });
    expect(await release(id)).toMatchObject({
      ending: 0,
      stdout: `${id} is free: "FirstU+202E agent" holds it no more. Whichever agent writes next holds it.\n`,
    });
    expect(isDone(await write(second))).toBe(true);
    expect(await write(first)).toMatchObject(heldBy('Second agent'));
    expect((await release(file)).stdout).toContain('"Second agent" holds it no more');
    expect((await release(file)).stdout).toBe(`${id} is free: no agent holds it.\n`);
    expect(isDone(await write(first))).toBe(true);
  });

  it('of an agent, its progress is its own', { timeout: slow, tags: ['P-300'] }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    await using first = await Program.open({ args, env: home.env, name: 'First agent' });
    await using second = await Program.open({ args, env: home.env, name: 'Second agent' });
    await first.callTool(
      'run_code',
      { code: 'import time\nfor n in range(3):\n    print(n)\n    time.sleep(0.4)' },
      { progressToken: 'p' },
    );
    expect(first.countOf('notifications/progress')).toBeGreaterThan(0);
    await second.callTool('get_cells', {}, { progressToken: 'p' });
    expect(second.countOf('notifications/progress')).toBe(0);
  });

  it('a holder that never comes back loses it after a while, but not while its code runs', { timeout: slow, tags: ['P-296'] }, async () => {
    await using home = new SharedHome();
    const env = { ...home.env, NOTEBRIDGE_LEASE_IDLE: '1' };
    const args = ['--notebook', home.path('work.ipynb')];
    await using first = await Program.open({ args, env, name: 'First agent' });
    await using second = await Program.open({ args, env, name: 'Second agent' });
    const begun = JSON.parse(textOf(await first.callTool('run_code', { code: 'input_never = 1\nwhile True: pass', wait_seconds: 0 })));
    const from = performance.now();
    while (performance.now() - from < 2500) expect(await write(second)).toMatchObject(heldBy('First agent'));
    await first.callTool('interrupt_run', { run_id: begun.run_id });
    // Its code runs, too: a second is soon over on a busy machine.
    await until(async () => isDone(await second.callTool('run_code', { code: 'while True: pass', wait_seconds: 0 })));
    expect(await write(first)).toMatchObject(heldBy('Second agent'));
  });

  it('an agent of a hub and one of stdio are kept apart alike', { timeout: slow, tags: ['P-300'] }, async () => {
    await using home = new SharedHome();
    const file = home.path('work.ipynb');
    await using hub = new Program({ args: ['serve', '--notebook', file, '--no-auth', '--port', '0'], env: home.env });
    await hub.until(() => hub.stderr.includes('"msg":"Serving."'), 60_000);
    const address = `${/"url":"([^"]+)"/.exec(hub.stderr)?.[1]}/mcp`;
    const [one, two] = [await HttpAgent.open(address, 'One'), await HttpAgent.open(address, 'Two')];
    expect(isDone(await one.call('add_text_cell', { cellIndex: 0, content: 'x' }))).toBe(true);
    expect(await two.call('add_text_cell', { cellIndex: 0, content: 'y' })).toMatchObject(heldBy('One'));
    await using joined = await Program.open({ args: ['--notebook', file], env: home.env, name: 'Joined' });
    expect(await write(joined)).toMatchObject(heldBy('One'));
    expect(isDone(await joined.callTool('get_cells'))).toBe(true);
    using window = await openWindow(joined);
    const waiting = joined.callTool('take_over');
    const { asking } = await leaseThat(window, (lease) => lease.asking.length === 1);
    await window.ask({ do: 'answerTakeOver', questionId: asking[0]?.questionId ?? 0, yes: true });
    expect(JSON.parse(textOf(await waiting))).toMatchObject({ status: 'yours' });
    expect(await one.call('delete_cell', { cellId: 'x' })).toMatchObject(heldBy('Joined'));
    hub.child.kill('SIGTERM');
  });
});

/** An agent at `/mcp`, with a session of its own. */
class HttpAgent {
  readonly #address: string;
  readonly #session: string;
  #lastId = 0;

  private constructor(address: string, session: string) {
    this.#address = address;
    this.#session = session;
  }

  static async open(address: string, name: string): Promise<HttpAgent> {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name, version: '1' } };
    const response = await post(address, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
    await response.text();
    const agent = new HttpAgent(address, response.headers.get('mcp-session-id') ?? '');
    await (await post(address, { jsonrpc: '2.0', method: 'notifications/initialized' }, agent.#session)).text();
    return agent;
  }

  async call(name: string, args: JsonObject): Promise<JsonObject> {
    const id = ++this.#lastId;
    const response = await post(
      this.#address,
      { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } },
      this.#session,
    );
    const text = await response.text();
    return JSON.parse(/^\{/.test(text) ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}'));
  }
}

function post(address: string, message: JsonObject, session?: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const own = session === undefined ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' };
  return fetch(address, { method: 'POST', headers: { ...headers, ...own }, body: JSON.stringify(message) });
}

describe('the window of two agents’ notebook', () => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    const executablePath = findChromium();
    if (executablePath !== undefined) browser = await openChromium();
  });
  afterAll(() => browser?.close());

  it('shows who holds it, asks the person, hands it over and takes it away', { ...drivesBrowser, timeout: slow, tags: ['P-299'] }, async ({
    skip,
  }) => {
    skip(browser === undefined, noBrowser);
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    await using first = await Program.open({ args, env: home.env, name: 'First agent' });
    await using second = await Program.open({ args, env: home.env, name: 'Second agent' });
    await write(first, 'from the first');
    await second.callTool('get_cells');
    const page = await (browser as Browser).newPage();
    await page.goto(windowUrlIn(textOf(await first.callTool('open_notebook_window'))));
    const holds = (name: string) => page.getByRole('button', { name: `${name} holds the notebook: take it away` });
    await holds('First agent').waitFor({ timeout: 60_000 });
    const asked = second.callTool('take_over', { reason: 'to fix the plot' });
    await page.getByRole('alert').filter({ hasText: 'Second agent asks' }).getByRole('button', { name: 'Hand it over' }).click();
    expect(JSON.parse(textOf(await asked))).toMatchObject({ status: 'yours' });
    await holds('Second agent').click();
    await page.getByRole('button', { name: 'Second agent reads only: let it write again' }).waitFor();
    expect(textOf(await write(second))).toMatch(/^A person took this notebook away from you/);
    expect(isDone(await write(first, 'again from the first'))).toBe(true);
    await page.locator('p', { hasText: 'again from the first' }).waitFor();
    await page.getByRole('button', { name: 'Second agent reads only: let it write again' }).click();
    expect(await write(second)).toMatchObject(heldBy('First agent'));
    await page.close();
  });
});
