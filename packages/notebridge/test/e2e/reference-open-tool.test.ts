import { once } from 'node:events';
import { connect } from 'node:net';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ColabSessionProxyOptions } from '../../src/reference/index.js';
import { Bridge } from '../support/bridge.js';
import { RawPage } from '../support/raw-page.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';

const openTool = 'open_colab_browser_connection';
const page = 'https://colab.research.google.com/notebooks/empty.ipynb';
const isTrue = { content: [{ type: 'text', text: 'true' }], structuredContent: { result: true } };

const fragment = ({ wss: { token, port } }: Bridge): string => `#mcpProxyToken=${token}&mcpProxyPort=${port}`;

/** Calls the open tool, and gives what it answered beside `false`. */
async function adviceOf(bridge: Bridge, args: JsonObject = { wait_seconds: 0 }): Promise<string> {
  const { content, structuredContent, isError } = (await bridge.agent.callTool(openTool, args)) as JsonObject & { content: JsonObject[] };
  expect([structuredContent, isError, content[0]]).toEqual([{ result: false }, undefined, { type: 'text', text: 'false' }]);
  expect(content).toHaveLength(2);
  return String(content[1]?.text);
}

/** Calls it with a progress token, and gives what was reported, in order. */
async function progressOf(bridge: Bridge, args: JsonObject, until: number): Promise<unknown[]> {
  void bridge.agent.request('tools/call', { name: openTool, arguments: args, _meta: { progressToken: 'p' } }, 500);
  const reports = (): JsonObject[] => bridge.agent.named('notifications/progress');
  await bridge.agent.until(() => reports().length === until);
  return reports().map(({ params }) => params);
}

const progress = (step: number, message: string): JsonObject => ({ progressToken: 'p', progress: step, total: 3, message });
const notThere = progress(1, 'The user is not connected to the Colab UI');
const waiting = (seconds: number): JsonObject => progress(2, `Waiting for user to connect in Colab - will wait for ${seconds}s`);

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the list', () => {
  it('shows the tool with the words of the reference, and nothing required', async () => {
    await using bridge = await Bridge.open();
    const { result } = (await bridge.agent.request('tools/list')) as { result: { tools: JsonObject[] } };
    expect(result.tools[0]).toMatchObject({
      name: openTool,
      description:
        'Opens a connection to a Google Colab browser session and unlocks notebook editing tools. Returns a boolean representing whether the connection attempt succeeded',
      inputSchema: { type: 'object', properties: { notebook_url: { type: 'string' }, wait_seconds: { type: 'number' } } },
      outputSchema: { required: ['result'] },
    });
    expect(result.tools[0]?.inputSchema).not.toHaveProperty('required');
  });
});

describe('a connected page', () => {
  it('is answered true at once, and no browser is opened', { tags: ['P-046'] }, async () => {
    await using bridge = await Bridge.open();
    await using _page = await RawPage.serve(bridge.address);
    const start = performance.now();
    expect(await bridge.agent.callTool(openTool, {}, { progressToken: 'p' })).toEqual(isTrue);
    expect(performance.now() - start).toBeLessThan(soonerThanNeverMs);
    expect(bridge.opened).toEqual([]);
    expect(bridge.agent.named('notifications/progress')).toEqual([]);
  });

  it('a page that comes while the browser is being started is answered true', async () => {
    let came: RawPage | undefined;
    const openBrowser: ColabSessionProxyOptions['openBrowser'] = async (url) => {
      const [, token = '', port] = /mcpProxyToken=(.*)&mcpProxyPort=(\d+)$/.exec(url) ?? [];
      came = await RawPage.serve({ port: Number(port), token });
      await bridge.agent.until(() => bridge.agent.notifications.length > 0);
      return { opened: true, by: 'test' };
    };
    await using bridge = await Bridge.open({ openBrowser });
    expect(await bridge.agent.callTool(openTool)).toEqual(isTrue);
    came?.socket.terminate();
  });
});

describe('the URL', () => {
  it("is exactly the reference's at first, and has a query before the fragment from then on", async () => {
    await using bridge = await Bridge.open();
    for (let opening = 0; opening < 3; opening++) await adviceOf(bridge);
    expect(bridge.opened).toEqual(['', '?notebridge=2', '?notebridge=3'].map((query) => page + query + fragment(bridge)));
  });

  it.each([
    ['https://colab.research.google.com/drive/1AbC_d-E', 'https://colab.research.google.com/drive/1AbC_d-E'],
    ['https://colab.google.com/x', 'https://colab.google.com/x'],
    ['https://colab.research.google.com', 'https://colab.research.google.com/'],
    ['https://COLAB.research.google.com:443/x', 'https://colab.research.google.com/x'],
    ['https://colab.research.google.com/drive/1#scrollTo=a&mcpProxyToken=evil', 'https://colab.research.google.com/drive/1'],
    ['https://colab.research.google.com/drive/1?a=%20b+c&d', 'https://colab.research.google.com/drive/1?a=%20b+c&d'],
    [
      'https://colab.research.google.com/github/o/r/blob/main/ä b.ipynb',
      'https://colab.research.google.com/github/o/r/blob/main/%C3%A4%20b.ipynb',
    ],
  ])('may be that of a notebook: %s', async (given, opened) => {
    await using bridge = await Bridge.open();
    await adviceOf(bridge, { notebook_url: given, wait_seconds: 0 });
    await adviceOf(bridge, { notebook_url: given, wait_seconds: 0 });
    const second = `${opened}${opened.includes('?') ? '&' : '?'}notebridge=2`;
    expect(bridge.opened).toEqual([opened + fragment(bridge), second + fragment(bridge)]);
  });

  it.each([
    'https://evil.example/',
    'https://colab.research.google.com.evil.example/',
    'https://evil.example/https://colab.research.google.com/',
    'https://colab.research.google.com@evil.example/',
    'https://user:password@colab.research.google.com/',
    'https://user@colab.research.google.com/',
    'http://colab.research.google.com/',
    'https://colab.research.google.com:8443/',
    'https://xcolab.research.google.com/',
    'https://colab.research.google.com./',
    '//colab.research.google.com/',
    'colab.research.google.com',
    'javascript:alert(1)//https://colab.research.google.com/',
    'data:text/html,https://colab.research.google.com',
    'blob:https://colab.research.google.com/1234',
    'file:///etc/passwd',
    'http://localhost:8888/',
    '--help',
    '',
    ' ',
  ])('is never that of another place: %j', { tags: ['P-046'] }, async (notebook_url) => {
    await using bridge = await Bridge.open();
    const result = await bridge.agent.callTool(openTool, { notebook_url });
    expect(result).toMatchObject({ isError: true, _meta: { 'notebridge/error_code': 'bad_origin' } });
    expect(JSON.stringify(result)).not.toContain(bridge.wss.token);
    expect(bridge.opened).toEqual([]);
    // It does not count as an opening.
    await adviceOf(bridge);
    expect(bridge.opened).toEqual([page + fragment(bridge)]);
  });

  it('may be on an origin that the person allows', { tags: ['P-046'] }, async () => {
    await using bridge = await Bridge.open({ allowOrigins: ['http://localhost:8888'] });
    await adviceOf(bridge, { notebook_url: 'http://localhost:8888/x', wait_seconds: 0 });
    expect(bridge.opened).toEqual([`http://localhost:8888/x${fragment(bridge)}`]);
  });
});

describe('waiting', () => {
  it('reports its three steps in the words of the reference: the page comes', async () => {
    await using bridge = await Bridge.open();
    const answer = bridge.agent.callTool(openTool, { wait_seconds: 20 }, { progressToken: 'p' });
    await bridge.agent.until(() => bridge.agent.named('notifications/progress').length === 2);
    await using _page = await RawPage.serve(bridge.address);
    expect(await answer).toEqual(isTrue);
    expect(bridge.agent.named('notifications/progress').map(({ params }) => params)).toEqual([
      notThere,
      waiting(20),
      progress(3, 'The Colab UI is successfully connected!'),
    ]);
    expect(bridge.opened).toHaveLength(1);
  });

  it('reports its three steps in the words of the reference: nobody comes', async () => {
    await using bridge = await Bridge.open();
    const start = performance.now();
    const steps = await progressOf(bridge, { wait_seconds: 0.2 }, 3);
    expect(steps).toEqual([notThere, waiting(0.2), progress(3, 'Timeout while waiting for the user to connect.')]);
    expect(performance.now() - start).toBeGreaterThan(190);
    expect(performance.now() - start).toBeLessThan(soonerThanNeverMs);
  });

  it.each([
    [{}, {}, 45],
    [{ list: 'static' }, { wait_seconds: null }, 45],
    [{ list: 'dynamic' }, {}, 60],
    [{ list: 'dynamic' }, { wait_seconds: 7.5 }, 7.5],
    [{}, { wait_seconds: 3600 }, 3600],
  ] as const)('a wait with %j and %j lasts %d s', { tags: ['P-153'] }, async (options, args, seconds) => {
    await using bridge = await Bridge.open(options);
    expect(await progressOf(bridge, args, 2)).toEqual([notThere, waiting(seconds)]);
  });

  it('a wait of 0 s answers at once', { tags: ['P-153'] }, async () => {
    await using bridge = await Bridge.open();
    const start = performance.now();
    expect(await adviceOf(bridge)).toContain('not connected yet');
    expect(performance.now() - start).toBeLessThan(soonerThanNeverMs);
  });

  it.each([-1, 3601, 1e308, '5', 'soon', true, [], {}, ''])(
    'a wait of %j s is refused before a browser is opened',
    async (wait_seconds) => {
      await using bridge = await Bridge.open();
      const result = await bridge.agent.callTool(openTool, { wait_seconds });
      expect(result).toMatchObject({ isError: true, _meta: { 'notebridge/error_code': 'bad_params' } });
      expect(JSON.stringify(result)).toContain('wait_seconds');
      expect(bridge.opened).toEqual([]);
    },
  );

  it('ends when the agent cancels, without an answer', async () => {
    await using bridge = await Bridge.open();
    const answered = vi.fn();
    void bridge.agent.request('tools/call', { name: openTool, arguments: {}, _meta: { progressToken: 'p' } }, 500).then(answered);
    await bridge.agent.until(() => bridge.agent.named('notifications/progress').length === 2);
    bridge.agent.notify('notifications/cancelled', { requestId: 500 });
    await bridge.agent.request('ping');
    await using _page = await RawPage.serve(bridge.address);
    expect(await bridge.agent.callTool(openTool)).toEqual(isTrue);
    expect(answered).not.toHaveBeenCalled();
    expect(bridge.agent.named('notifications/progress')).toHaveLength(2);
  });

  it('reports nothing to an agent that asked for nothing', async () => {
    await using bridge = await Bridge.open();
    await adviceOf(bridge, { wait_seconds: 0.01 });
    expect(bridge.agent.named('notifications/progress')).toEqual([]);
  });

  it('the wait of two calls at once ends for both when the page comes', async () => {
    await using bridge = await Bridge.open();
    const calls = [bridge.agent.callTool(openTool), bridge.agent.callTool(openTool)];
    await bridge.agent.until(() => bridge.opened.length === 2);
    await using _page = await RawPage.serve(bridge.address);
    expect(await Promise.all(calls)).toEqual([isTrue, isTrue]);
  });
});

describe('the advice when nobody came', () => {
  it('names every way to connect, token and all', { tags: ['P-319'] }, async () => {
    vi.stubEnv('SSH_CONNECTION', '10.0.0.9 50000 10.0.0.5 2222');
    vi.stubEnv('USER', 'ada');
    await using bridge = await Bridge.open();
    const { token, port } = bridge.wss;
    const advice = await adviceOf(bridge, { wait_seconds: 0.1 });
    expect(advice).toContain('No Colab page connected within 0.1 s.');
    expect(advice).toContain(page + fragment(bridge));
    expect(advice).toContain(`paste: ${token}&${port}`);
    expect(advice).toContain(`ssh -L ${port}:localhost:${port} -p 2222 ada@10.0.0.5`);
    expect(advice).toContain('press "Connect"');
    expect(advice).not.toContain('local-network');
    expect(advice).not.toContain('undefined');
  });

  it('says why no browser was opened', { tags: ['P-319'] }, async () => {
    const openBrowser: ColabSessionProxyOptions['openBrowser'] = async () => ({
      opened: false,
      reason: 'no_display',
      hint: 'There is no screen here.',
    });
    await using bridge = await Bridge.open({ openBrowser });
    const advice = await adviceOf(bridge);
    expect(advice).toContain('No browser was opened. There is no screen here.');
    expect(advice).not.toContain('In the tab that was opened');
  });

  it('names the local-network permission when a connection came without a byte, open or closed', { tags: ['P-319'] }, async () => {
    await using bridge = await Bridge.open();
    expect(await adviceOf(bridge)).not.toContain('local-network');
    const silent = connect(bridge.wss.port, '127.0.0.1');
    await once(silent, 'connect');
    await expect.poll(() => bridge.wss.silentConnections).toBe(1);
    const advice = await adviceOf(bridge);
    expect(advice).toContain('local-network permission');
    expect(advice).toContain('https://colab.research.google.com');
    silent.destroy();
    await once(silent, 'close');
    expect(await adviceOf(bridge)).toContain('local-network permission');
    // A page that did connect shows that the permission is there.
    await (await RawPage.serve(bridge.address)).close();
    await bridge.agent.until(() => bridge.agent.named('notifications/tools/list_changed').length === 2);
    expect(await adviceOf(bridge)).not.toContain('local-network');
  });

  it('is not given when the answer is true', async () => {
    await using bridge = await Bridge.open();
    await using _page = await RawPage.serve(bridge.address);
    expect((await bridge.agent.callTool(openTool)).content).toHaveLength(1);
  });
});
