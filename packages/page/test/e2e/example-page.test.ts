// @module-tag deep

import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { Program } from '../../../notebridge/test/support/program.js';
import { type ExampleOptions, ExamplePage, hasChromium } from '../support/browser.js';
import { TestHub } from '../support/test-hub.js';

const line = (y: number): JsonObject => ({
  points: [
    [10, y],
    [700, y],
  ],
  color: 'teal',
});
const lines = (count: number): JsonObject => ({ strokes: Array.from({ length: count }, (_, index) => line(10 + index)) });

describe('the example page in a real Chromium', () => {
  const open: AsyncDisposable[] = [];

  beforeEach(({ skip }) => {
    skip(!hasChromium, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
  });
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });

  const launch = async (options?: ExampleOptions): Promise<ExamplePage> => {
    const example = await ExamplePage.launch(options);
    open.push(example);
    return example;
  };
  const openProgram = async ({ origin }: ExamplePage, ...args: string[]): Promise<Program> => {
    const program = await Program.open({ args: ['--allow-origin', origin, ...args] });
    open.push(program);
    return program;
  };
  const openHub = async (options?: Parameters<typeof TestHub.open>[0]): Promise<TestHub> => {
    const hub = await TestHub.open(options);
    open.push(hub);
    return hub;
  };
  /** Opens the page as the agent does, and lets the agent in. */
  const connect = async (example: ExamplePage, program: Program): Promise<void> => {
    await example.open(await program.address());
    await example.button('Allow').click();
    await example.says('Connected to notebridge');
    await program.notification('notifications/tools/list_changed');
  };

  it('asks, works for the agent, shows what it does, and goes on after a reload', drivesBrowser, async () => {
    const example = await launch();
    const program = await openProgram(example);
    const address = await program.address();
    await example.open(address);
    const { page } = example;
    expect(page.url()).toBe(`${example.origin}/`);
    const dialog = page.getByRole('dialog', { name: 'A program on this computer wants to read, change and run this page’s tools' });
    await dialog.waitFor();
    expect(await dialog.textContent()).toContain(`“Drawing board” offers draw, look, clear. The program listens on port ${address.port}.`);
    expect(await page.locator('button:focus').textContent()).toBe('Don’t allow');
    await example.says('Waiting for your answer');
    await example.button('Allow').click();
    await example.says('Connected to notebridge');
    await program.notification('notifications/tools/list_changed');

    const drawn = program.callTool('draw', lines(4), { progressToken: 'p' });
    await page.getByText('notebridge uses “draw”').waitFor();
    expect(await drawn).toMatchObject({ result: { structuredContent: { drawn: 4 } } });
    await page.locator('#activity').waitFor({ state: 'hidden' });
    expect(progressOf(program)).toEqual([1, 2, 3, 4]);
    expect(await program.callTool('look')).toMatchObject({ result: { content: [{ type: 'image', mimeType: 'image/png' }] } });
    expect(await program.callTool('draw', { strokes: [{ points: [['a', 1]] }] })).toMatchObject({
      result: { isError: true, content: [{ text: '"strokes[0].points[0][0]" must be number, found "a"' }] },
    });

    // What the person allowed in this tab stays allowed.
    await page.reload();
    await example.says('Connected to notebridge');
    expect(await page.getByRole('dialog', { name: 'wants to read' }).count()).toBe(0);
    await page.getByRole('img', { name: 'The drawing: 4 strokes' }).waitFor();
    expect(await program.callTool('clear')).toMatchObject({ result: { content: [] } });
    await page.getByRole('img', { name: 'The drawing: 0 strokes' }).waitFor();
    expect(example.complaints).toEqual([]);
  });

  it('swaps the token of its URL, comes back without it, and is opened anew by another', drivesBrowser, async () => {
    const example = await launch();
    const program = await openProgram(example);
    const first = await program.address();
    const { page } = example;
    await connect(example, program);
    await page.reload();
    await example.says('Connected to notebridge');
    expect(await strokesOf(program)).toBe(0);

    await example.button('Disconnect').click();
    await example.says('Disconnected.');
    await example.open(first);
    await example.button('Allow').click();
    await example.says('the token has ended');
    await connect(example, program);
    expect(await strokesOf(program)).toBe(0);
    expect(example.complaints).toEqual([]);
  });

  it('a reload in the middle of a call: it is answered at once, nothing runs twice, and the next works with no action by anyone', {
    ...drivesBrowser,
    tags: ['P-040'],
  }, async () => {
    const example = await launch();
    const program = await openProgram(example);
    await connect(example, program);
    const interrupted = program.callTool('draw', lines(500), { progressToken: 'p' });
    await program.until(() => progressOf(program).length >= 3);
    await example.page.reload();
    expect(JSON.stringify(await interrupted)).toMatch(/outcome is unknown/);
    const drawn = await strokesOf(program);
    expect(drawn).toBeLessThan(500);
    expect(await program.callTool('draw', lines(2))).toMatchObject({ result: { structuredContent: { drawn: 2 } } });
    expect(await strokesOf(program)).toBe(drawn + 2);
    expect(example.complaints).toEqual([]);
  });

  it('stops a tool for the person, and for the agent', { ...drivesBrowser, tags: ['P-054'] }, async () => {
    const example = await launch();
    const program = await openProgram(example);
    await connect(example, program);
    const stopped = program.callTool('draw', lines(500));
    await example.button('Stop').click();
    expect(await stopped).toMatchObject({ result: { isError: true, content: [{ text: 'The person at the page stopped "draw".' }] } });

    void program.request('tools/call', { name: 'draw', arguments: lines(500) }, 'c1').catch(() => {});
    await example.page.locator('#activity').waitFor();
    program.notify('notifications/cancelled', { requestId: 'c1' });
    await example.page.locator('#activity').waitFor({ state: 'hidden' });
    expect(await strokesOf(program)).toBeLessThan(500);
  });

  it('dials nobody when the person says no, by key or button', drivesBrowser, async () => {
    const example = await launch();
    const hub = await openHub();
    await example.open({ token: 'first', port: hub.port });
    await example.button('Allow').waitFor();
    await example.page.keyboard.press('Escape');
    await example.says('you did not allow it');
    // The same tab again: only the fragment differs, so that the browser loads nothing.
    await example.open({ token: 'first', port: hub.port });
    await example.button('Don’t allow').click();
    await example.says('you did not allow it');
    expect(hub.dials).toEqual([]);
    expect(example.page.url()).toBe(`${example.origin}/`);
    await example.page.reload();
    await example.says('Not connected.');
  });

  it('connects by hand, and disconnects', { ...drivesBrowser, tags: ['P-054'] }, async () => {
    const example = await launch();
    const program = await openProgram(example);
    const { token, port } = await program.address();
    await example.open();
    await example.says('Not connected.');
    await example.button('Connect …').click();
    const entry = example.page.getByRole('dialog', { name: 'Connect to an agent' });
    const paste = async (text: string): Promise<void> => {
      await entry.getByRole('textbox').fill(text);
      await entry.getByRole('button', { name: 'Connect' }).click();
    };
    await paste('nonsense');
    await entry.getByText('Expected "<token>&<port>"').waitFor();
    await paste(`wrong&${port}`);
    await entry.getByText('the token has ended').waitFor();
    await paste(`${token}&${port}`);
    await example.says('Connected to notebridge');
    await entry.waitFor({ state: 'hidden' });
    await program.notification('notifications/tools/list_changed');
    expect(await strokesOf(program)).toBe(0);

    await example.button('Disconnect').click();
    await example.says('Disconnected.');
    await example.page.reload();
    await example.says('Not connected.');
  });

  it('waits for a hub that died, and says when its token has ended', drivesBrowser, async () => {
    const example = await launch();
    const program = await openProgram(example);
    const { port } = await program.address();
    await connect(example, program);
    program.child.kill('SIGKILL');
    await example.says('The connection was lost; trying again …');
    await openProgram(example, '--port', String(port));
    await example.says('the token has ended');
    expect(example.complaints).toEqual([]);
  });

  it('comes back with its resume token when the hub does', drivesBrowser, async () => {
    const example = await launch();
    const handshake = { _meta: { 'notebridge/resume_token': 'second' } };
    const hub = await TestHub.open({ handshake });
    await example.open({ token: 'first', port: hub.port });
    await example.button('Allow').click();
    await example.says('Connected to test-agent 1.2.');
    await hub.close();
    await example.says('trying again');
    const back = await openHub({ port: hub.port, tokens: ['second'], handshake });
    await example.says('Connected to test-agent 1.2.');
    expect(back.dials).toEqual(['second']);
    expect(await (await back.connection(0)).callTool('clear')).toEqual({ content: [] });
  });

  it('tells a page that the browser blocks from one that nobody answers', drivesBrowser, async () => {
    const example = await launch({ isPublic: true });
    const hub = await openHub();
    await example.open({ token: 'first', port: hub.port });
    await example.button('Allow').click();
    await example.says('Allow “local network access”');
    expect(hub.dials).toEqual([]);

    await example.context.grantPermissions(['local-network-access'], { origin: example.origin });
    await example.open({ token: 'first', port: hub.port });
    await example.button('Allow').click();
    await example.says('Connected to test-agent');
    await hub.close();
    await example.says('trying again');
  });

  it('shows by default who is connected, until it is hidden or disconnected', drivesBrowser, async () => {
    const script = `import { createPageSession, describeState } from './page.min.js';
const session = createPageSession({ name: 'bare', version: '1', tools: [] });
session.on('state', (state) => { document.querySelector('#status-text').textContent = describeState(state); });
await session.connect();`;
    const example = await launch({ replaced: { '/page.js': script } });
    const hub = await openHub({ handshake: { clientInfo: { name: '<b>agent</b>', version: '3' } } });
    await example.open({ token: 'first', port: hub.port });
    await example.button('Allow').click();
    const notice = example.page.getByRole('dialog', { name: 'Connected agent' });
    await notice.getByText('<b>agent</b> 3 is connected: it can read, change and run this page’s tools.').waitFor();
    // Hidden, it stays so when the same agent comes back.
    await notice.getByRole('button', { name: 'Hide' }).click();
    (await hub.connection(0)).socket.close(1001);
    await hub.connection(1);
    await example.says('Connected to <b>agent</b> 3.');
    expect(await notice.count()).toBe(0);

    await example.page.reload();
    await notice.getByRole('button', { name: 'Disconnect' }).click();
    await example.says('Disconnected.');
    expect(await notice.count()).toBe(0);
    expect(example.complaints).toEqual([]);
  });
});

function progressOf(program: Program): unknown[] {
  const told = program.notifications.filter(({ method }) => method === 'notifications/progress');
  return told.map(({ params }) => (params as JsonObject).progress);
}

async function strokesOf(program: Program): Promise<number> {
  const { result } = await program.request('resources/read', { uri: 'board://strokes' });
  const { contents } = result as { contents: { text: string }[] };
  return (JSON.parse(contents[0]?.text ?? 'null') as unknown[]).length;
}
