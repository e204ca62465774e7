// @module-tag deep

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Program } from '../../../notebridge/test/support/program.js';
import { type CallEvent, describeState, type PageSession, type PageSessionOptions, type PageTool } from '../../src/index.js';
import { stateOf, within } from '../support/bounded.js';
import { createAddressBar, createMemoryStorage, createNodePage, socketWithOrigin } from '../support/node-page.js';

const origin = 'https://page.example';

const tools: PageTool[] = [
  {
    name: 'echo',
    description: 'Says it again.',
    inputSchema: { properties: { text: { type: 'string' } }, required: ['text'] },
    run: ({ text }, { agent }) => ({ text, agent: agent.name }),
  },
  {
    name: 'count',
    run: (_args, { progress }) => {
      progress(1, 2, 'one');
      progress(2, 2);
      return 'counted';
    },
  },
  {
    name: 'wait',
    run: (_args, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  },
  { name: 'flood', run: () => 'x'.repeat(2_000_000) },
];

describe('a page session with the real hub', () => {
  let folder: string;
  let program: Program;
  let token: string;
  let port: number;
  const sessions: PageSession[] = [];
  const programs: Program[] = [];

  const openProgram = async (...args: string[]): Promise<Program> => {
    const opened = await Program.open({ args: ['--allow-origin', origin, ...args] });
    programs.push(opened);
    return opened;
  };
  const createPage = (options: Partial<PageSessionOptions> = {}): PageSession => {
    const session = createNodePage({ WebSocket: socketWithOrigin(origin), tools, ...options });
    sessions.push(session);
    return session;
  };
  const connect = async (options: Partial<PageSessionOptions> = {}): Promise<PageSession> => {
    // While a page is connected, the hub does not say it again.
    ({ token, port } = await program.address());
    const session = createPage(options);
    expect(await session.connectManually(`${token}&${port}`)).toMatchObject({ status: 'connected', agent: { name: 'notebridge' } });
    await program.notification('notifications/tools/list_changed');
    return session;
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-page-'));
    const config = join(folder, 'mcp.json');
    writeFileSync(config, JSON.stringify({ mcpServers: {}, notebridge: { limits: { maxMessageBytes: 1_000_000 } } }));
    program = await openProgram('--config', config);
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.disconnect();
    for (const opened of programs.splice(0)) await opened.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is opened by URL, and offers its tools to the agent', async () => {
    const answer = await program.callTool('open_colab_browser_connection', { notebook_url: `${origin}/board?a=1`, wait_seconds: 0 });
    const [url = ''] = /https:\/\/page\.example\/board[^\s"\\]+#mcpProxyToken=[\w-]+&mcpProxyPort=\d+/.exec(JSON.stringify(answer)) ?? [];
    const bar = createAddressBar(url);
    const session = createPage(bar);
    expect(await session.connect()).toMatchObject({ status: 'connected' });
    expect(bar.location.hash).toBe('');
    await program.notification('notifications/tools/list_changed');

    const { result } = await program.request('tools/list');
    expect(result).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: 'echo', description: 'Says it again.' })]),
    });
    expect(await program.callTool('echo', { text: 'ä' })).toMatchObject({
      result: { structuredContent: { text: 'ä', agent: 'notebridge' } },
    });
    expect(await program.callTool('echo', {})).toMatchObject({ result: { isError: true, content: [{ text: '"text" is missing' }] } });
  });

  it('passes progress on, and a change of the tools', async () => {
    const session = await connect();
    expect(await program.callTool('count', {}, { progressToken: 'p' })).toMatchObject({ result: { content: [{ text: 'counted' }] } });
    const told = program.notifications.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
    expect(told).toMatchObject([{ progressToken: 'p', progress: 1, total: 2, message: 'one' }, { progress: 2 }]);

    const changes = program.countOf('notifications/tools/list_changed');
    session.setTools([{ name: 'other', run: () => 'new' }]);
    await program.notification('notifications/tools/list_changed', changes);
    expect(await program.callTool('other')).toMatchObject({ result: { content: [{ text: 'new' }] } });
  });

  it('aborts what the agent cancels, and answers what the person stops', async () => {
    const session = await connect();
    const events: CallEvent[] = [];
    const next = (type: CallEvent['type']): Promise<CallEvent> =>
      within(`a call that ${type}`, new Promise((resolve) => session.on('call', (event) => event.type === type && resolve(event))));
    session.on('call', (event) => events.push(event));

    let began = next('began');
    void program.request('tools/call', { name: 'wait' }, 'w1').catch(() => {});
    await began;
    const ended = next('ended');
    program.notify('notifications/cancelled', { requestId: 'w1' });
    expect(await ended).toMatchObject({ outcome: 'cancelled' });

    began = next('began');
    const answer = program.callTool('wait');
    (await began).call.stop();
    expect(await answer).toMatchObject({ result: { isError: true, content: [{ text: 'The person at the page stopped "wait".' }] } });
    expect(events.map(({ type }) => type)).toEqual(['began', 'ended', 'began', 'ended']);
  });

  it('comes back by itself when the hub cuts it off', async () => {
    const session = await connect();
    const lost = stateOf(session, 'waiting');
    // Above the hub's limit, which is answered with close code 1009.
    expect(await program.callTool('flood')).toMatchObject({ result: { isError: true } });
    await lost;
    expect(await stateOf(session, 'connected')).toMatchObject({ agent: { name: 'notebridge' } });
    expect(await program.callTool('echo', { text: 'again' })).toMatchObject({ result: { structuredContent: { text: 'again' } } });
  });

  it('is told that it is one too many', async () => {
    const storage = createMemoryStorage();
    await connect({ storage });
    // As in a duplicated tab: it has what the first one keeps.
    const second = await createPage({ storage }).connect();
    expect(second).toEqual({ status: 'disconnected', reason: 'busy', code: 1013 });
    expect(describeState(second)).toContain('another page');
  });

  it('waits for a hub that died, and stops at one that does not know it', async () => {
    const session = await connect({ reconnect: { firstMs: 20, maxMs: 500 } });
    program.child.kill('SIGKILL');
    await stateOf(session, 'waiting');
    const next = await openProgram('--port', String(port));
    expect(await stateOf(session, 'disconnected')).toMatchObject({ reason: 'refused' });
    const { token: newToken } = await next.address();
    expect(await session.connectManually(`${newToken}&${port}`)).toMatchObject({ status: 'connected' });
    await next.notification('notifications/tools/list_changed');
    expect(await next.callTool('echo', { text: 'new' })).toMatchObject({ result: { structuredContent: { text: 'new' } } });
  });
});
