// @module-tag deep

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SharedHome } from '../../../notebridge/test/support/broker.js';
import { Program } from '../../../notebridge/test/support/program.js';
import type { PageSession, PageSessionOptions } from '../../src/index.js';
import { stateOf } from '../support/bounded.js';
import { createAddressBar, createMemoryStorage, createNodePage } from '../support/node-page.js';

const origin = 'https://page.example';

describe('a page of one’s own that the broker holds', () => {
  let home: SharedHome;
  let program: Program;
  const sessions: PageSession[] = [];
  let calls = 0;

  const createPage = (options: Partial<PageSessionOptions>): PageSession => {
    const tools = [{ name: 'count', run: () => String(++calls) }];
    const session = createNodePage({ tools, ...options });
    sessions.push(session);
    return session;
  };
  const count = async (): Promise<string> => JSON.stringify(await program.callTool('count'));

  beforeEach(async () => {
    calls = 0;
    home = new SharedHome();
    program = await Program.open({ args: ['--hold', 'join', '--allow-origin', origin], env: home.env });
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.disconnect();
    await program.close();
    await home[Symbol.asyncDispose]();
  });

  it('is back for the next call when the broker is killed, by itself, and after a reload, without a question', async () => {
    const answer = await program.callTool('open_colab_browser_connection', { notebook_url: `${origin}/`, wait_seconds: 0 });
    const url = /https:\/\/page\.example\/[^\s"\\]*#mcpProxyToken=[\w-]+&mcpProxyPort=\d+/.exec(JSON.stringify(answer))?.[0] ?? '';
    const storage = createMemoryStorage();
    const session = createPage({ ...createAddressBar(url), storage });
    expect(await session.connect()).toMatchObject({ status: 'connected' });
    expect(await count()).toContain('"1"');

    process.kill(home.broker?.pid ?? 0, 'SIGKILL');
    await stateOf(session, 'waiting');
    const next = await count();
    // What was sent before the agent's process had noticed is not sent again: nobody knows whether it ran.
    if (!next.includes('"2"')) {
      expect(next).toContain('outcome is unknown');
      expect(await count()).toContain('"2"');
    }

    // A reload: the tab's storage stays, and the socket goes.
    const kept = createMemoryStorage();
    for (const [key, value] of storage.items) kept.setItem(key, value);
    session.disconnect();
    const reloaded = createPage({ ...createAddressBar(`${origin}/`), storage: kept, consent: () => expect.fail('asked again') });
    expect(await reloaded.connect()).toMatchObject({ status: 'connected' });
    expect(await count()).toContain('"3"');
  });
});
