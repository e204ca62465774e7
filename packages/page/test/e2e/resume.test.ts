// @module-tag deep

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Program } from '../../../notebridge/test/support/program.js';
import { describeState, type PageSession, type PageSessionOptions } from '../../src/index.js';
import { stateOf } from '../support/bounded.js';
import { createAddressBar, createMemoryStorage, createNodePage } from '../support/node-page.js';

const origin = 'https://page.example';
const tools = [{ name: 'ask', run: () => 'answered' }];
const listChanged = 'notifications/tools/list_changed';

describe('the resume token of the real hub', () => {
  let program: Program;
  const programs: Program[] = [];
  const sessions: PageSession[] = [];
  /** What the pages dialled with, in order. */
  const dials: (string | null)[] = [];
  const sockets: WebSocket[] = [];

  class PageSocket extends WebSocket {
    constructor(url: string, protocols: string) {
      super(url, protocols, { origin });
      dials.push(new URL(url).searchParams.get('access_token'));
      sockets.push(this);
    }
  }

  const openProgram = async (...args: string[]): Promise<Program> => {
    const opened = await Program.open({ args: ['--allow-origin', origin, ...args] });
    programs.push(opened);
    return opened;
  };
  const createPage = (options: Partial<PageSessionOptions> = {}): PageSession => {
    const session = createNodePage({ WebSocket: PageSocket, tools, ...options });
    sessions.push(session);
    return session;
  };
  /** The URL that the open tool gives a person, while no page is connected. */
  const openedUrl = async (): Promise<string> => {
    const answer = await program.callTool('open_colab_browser_connection', { notebook_url: `${origin}/`, wait_seconds: 0 });
    return /https:\/\/page\.example\/[^\s"\\]*#mcpProxyToken=[\w-]+&mcpProxyPort=\d+/.exec(JSON.stringify(answer))?.[0] ?? '';
  };
  /** Connects, and waits until agents are told. */
  const connect = async (session: PageSession): Promise<void> => {
    const told = program.countOf(listChanged);
    expect(await session.connect()).toMatchObject({ status: 'connected' });
    await program.notification(listChanged, told);
    expect(await program.callTool('ask')).toMatchObject({ result: { content: [{ text: 'answered' }] } });
  };
  /** Ends the page as a reload does: without a farewell of its session. */
  const unload = async (): Promise<void> => {
    const told = program.countOf(listChanged);
    sockets.at(-1)?.terminate();
    await program.notification(listChanged, told);
  };

  beforeEach(async () => {
    program = await openProgram();
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.disconnect();
    for (const opened of programs.splice(0)) await opened.close();
    dials.length = 0;
    sockets.length = 0;
  });

  it('brings a reloaded page back, and its URL lets in nobody else', async () => {
    const storage = createMemoryStorage();
    const url = await openedUrl();
    await connect(createPage({ ...createAddressBar(url), storage, reconnect: false }));
    await unload();
    await connect(createPage({ ...createAddressBar(`${origin}/`), storage, reconnect: false }));
    await unload();
    const late = createPage(createAddressBar(url));
    expect(await late.connect()).toMatchObject({ status: 'disconnected', reason: 'refused' });
    expect(describeState(late.state)).toContain('the token has ended');

    const newUrl = await openedUrl();
    expect(newUrl).not.toBe('');
    await connect(createPage({ ...createAddressBar(newUrl), reconnect: false }));
    await unload();
    // The first page may still come back.
    await connect(createPage({ ...createAddressBar(`${origin}/`), storage, reconnect: false }));
    expect(dials.map((token) => dials.indexOf(token))).toEqual([0, 1, 0, 3, 4]);
  });

  it('is what a page dials with when the network was cut', async () => {
    const session = createPage(createAddressBar(await openedUrl()));
    await connect(session);
    for (const _cut of [1, 2, 3]) {
      const lost = stateOf(session, 'waiting');
      const told = program.countOf(listChanged);
      sockets.at(-1)?.terminate();
      await lost;
      await stateOf(session, 'connected');
      // That it went, and that it came.
      await program.notification(listChanged, told + 1);
      expect(await program.callTool('ask')).toMatchObject({ result: { content: [{ text: 'answered' }] } });
    }
    expect(new Set(dials).size).toBe(4);
  });

  it('is worth nothing to a hub that was started anew, which the page says', async () => {
    const session = createPage(createAddressBar(await openedUrl()));
    await connect(session);
    const { port } = new URL(sockets.at(-1)?.url ?? '');
    program.child.kill('SIGKILL');
    await stateOf(session, 'waiting');
    program = await openProgram('--port', port);
    expect(await stateOf(session, 'disconnected')).toMatchObject({ reason: 'refused', diagnosis: 'refused' });
    expect(describeState(session.state)).toContain('the token has ended');
    await connect(createPage(createAddressBar(await openedUrl())));
  });
});
