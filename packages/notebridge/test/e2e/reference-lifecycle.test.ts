// @module-tag P-156

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ColabProxyMiddleware,
  ColabSessionProxy,
  ColabWebSocketServer,
  McpHost,
  ToolInjectionMiddleware,
} from '../../src/reference/index.js';
import { Bridge } from '../support/bridge.js';
import { hangsAfterMs } from '../support/hangs-after.js';
import { ownPort } from '../support/own-port.js';
import { shakeHands } from '../support/raw-handshake.js';
import { RawPage } from '../support/raw-page.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';

/** What keeps this process from ending, sockets and timers above all, once all that is closing has closed. */
async function leftovers(): Promise<string[]> {
  const deadline = performance.now() + hangsAfterMs;
  for (;;) {
    const left = process.getActiveResourcesInfo().filter((name) => /^(TCP|Timeout|FSReq|Process)/.test(name));
    if (left.length === 0 || performance.now() > deadline) return left;
    await nextTurn();
  }
}

async function isFree(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const outcome = await Promise.race([once(socket, 'connect').then(() => false), once(socket, 'error').then(() => true)]).catch(() => true);
  socket.destroy();
  return outcome;
}

describe('ColabSessionProxy', () => {
  it('has nothing before the start, and the reference parts after it', async () => {
    await using session = new ColabSessionProxy();
    expect([session.proxyServer, session.wss, session.middleware]).toEqual([null, null, []]);
    await session.startProxyServer();
    expect(session.wss).toBeInstanceOf(ColabWebSocketServer);
    expect(session.middleware.map((middleware) => middleware.constructor)).toEqual([ColabProxyMiddleware, ToolInjectionMiddleware]);
    expect(session.proxyServer?.instructions).toBe(
      "Connects to a user's Google Colab session in a browser and allows for interactions with their Google Colab notebook",
    );
  });

  it('starts once, however often it is asked to', async () => {
    await using session = new ColabSessionProxy();
    await Promise.all([session.startProxyServer(), session.startProxyServer()]);
    const { proxyServer, wss, middleware } = session;
    await session.startProxyServer();
    expect(session.proxyServer).toBe(proxyServer);
    expect(session.wss).toBe(wss);
    expect(session.middleware).toBe(middleware);
  });

  it('a proxy that failed to start has nothing open, and can start when the port is free', async () => {
    const taker = createServer();
    await new Promise<void>((resolve) => taker.listen(0, '127.0.0.1', resolve));
    const { port } = taker.address() as AddressInfo;
    const session = new ColabSessionProxy({ port });
    const both = await Promise.allSettled([session.startProxyServer(), session.startProxyServer()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(session.startProxyServer()).rejects.toMatchObject({ code: 'port_in_use' });
    expect([session.proxyServer, session.wss, session.middleware]).toEqual([null, null, []]);
    await new Promise((resolve) => taker.close(resolve));
    expect(await leftovers()).toEqual([]);
    await session.startProxyServer();
    expect(session.wss?.port).toBe(port);
    await session.cleanup();
    expect(await isFree(port)).toBe(true);
  });

  it('starts anew after cleanup, in whatever order it is told', async () => {
    const port = await ownPort();
    const session = new ColabSessionProxy({ port });
    await session.startProxyServer();
    const first = session.wss;
    // Nothing awaited between: the second start needs the port that the first still holds.
    await Promise.all([session.cleanup(), session.startProxyServer()]);
    expect(session.wss).not.toBe(first);
    expect(session.wss?.token).not.toBe(first?.token);
    await using page = await RawPage.serve({ port, token: session.wss?.token ?? '' });
    const ended = Promise.all([session.cleanup(), session.startProxyServer(), session.cleanup()]);
    await page.closed;
    await ended;
    expect(await isFree(port)).toBe(true);
  });
});

describe('cleanup', () => {
  const states: Record<string, (bridge: Bridge) => Promise<unknown>> = {
    'after start': async () => {},
    'a page connected': (bridge) => RawPage.serve(bridge.address),
    'a page in its handshake': async (bridge) => {
      const page = await RawPage.connect({ ...bridge.address, answer: () => new Promise(() => {}) });
      await page.message('initialize');
    },
    'a page that answers no close': (bridge) => shakeHands(bridge.address),
    'a call in flight': async (bridge) => {
      const page = await RawPage.serve(bridge.address);
      const call = bridge.agent.callTool('run_code_cell');
      await page.message('tools/call');
      onTestFinished(async () => {
        expect(await call).toMatchObject({ isError: true, _meta: { 'notebridge/error_code': 'closed' } });
      });
    },
    'a call in the grace window': async (bridge) => {
      await (await RawPage.serve(bridge.address)).close();
      void bridge.agent.callTool('get_cells');
    },
    'the open tool waiting': async (bridge) => {
      void bridge.agent.callTool('open_colab_browser_connection');
      await bridge.agent.until(() => bridge.opened.length === 1);
    },
    'a refusal under way': async (bridge) => {
      for (let tries = 0; tries < 6; tries++) void shakeHands({ ...bridge.address, token: 'wrong' });
      await shakeHands({ ...bridge.address, target: '/elsewhere' });
    },
    'a second page in the queue': async (bridge) => {
      await shakeHands(bridge.address);
      void shakeHands(bridge.address);
      await shakeHands({ ...bridge.address, target: '/elsewhere' });
    },
  };

  it.each(Object.entries(states))('leaves nothing behind: %s', { tags: ['P-157'] }, async (_name, bring) => {
    const bridge = await Bridge.open();
    const { port } = bridge.address;
    await bring(bridge);
    const start = performance.now();
    await Promise.all([bridge.session.cleanup(), bridge.session.cleanup()]);
    // Twice at once: both have waited until all was closed.
    expect(await isFree(port)).toBe(true);
    await bridge.session.cleanup();
    await bridge.session[Symbol.asyncDispose]();
    bridge.host.close();
    expect(performance.now() - start).toBeLessThan(soonerThanNeverMs);
    expect(await leftovers()).toEqual([]);
  });

  it('is harmless before and during the start', async () => {
    const session = new ColabSessionProxy();
    await session.cleanup();
    await Promise.all([session.startProxyServer(), session.cleanup()]);
    expect(await isFree(session.wss?.port ?? 0)).toBe(true);
    await session.cleanup();
    expect(await leftovers()).toEqual([]);
  });

  it('lets the process end by itself', { tags: ['P-157'] }, async () => {
    const library = new URL('../../dist/reference/index.js', import.meta.url).href;
    const script = `
      import { ColabSessionProxy, McpHost } from ${JSON.stringify(library)};
      const session = new ColabSessionProxy({ openBrowser: async () => ({ opened: true, by: 'test' }) });
      await session.startProxyServer();
      const host = new McpHost();
      host.mount(session.proxyServer);
      session.middleware.forEach((middleware) => host.addMiddleware(middleware));
      const page = new WebSocket(\`ws://localhost:\${session.wss.port}/?access_token=\${session.wss.token}\`, 'mcp');
      await new Promise((resolve) => { page.onerror = page.onclose = resolve; });
      host.close();
      await session.cleanup();
      console.log('cleaned up');`;
    const child = spawn(process.execPath, ['--experimental-websocket', '--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), hangsAfterMs);
    const [chunk] = await once(child.stdout, 'data');
    const said = performance.now();
    const [code, signal] = await once(child, 'exit');
    clearTimeout(timer);
    expect([String(chunk), code, signal]).toEqual(['cleaned up\n', 0, null]);
    expect(performance.now() - said).toBeLessThan(soonerThanNeverMs);
  });
});

describe('asyncDispose', () => {
  it('is there on everything that can be opened', async () => {
    {
      await using bridge = await Bridge.open();
      await using _host = bridge.host;
      await using _session = bridge.session;
      await using wss = new ColabWebSocketServer();
      await Promise.all([wss.start(), wss.start()]);
      await using _page = await RawPage.serve(bridge.address);
    }
    await using _unused = new McpHost();
    expect(await leftovers()).toEqual([]);
  });
});

describe('ColabWebSocketServer', () => {
  it('binds one port, however often it is started, and none after it was closed', async () => {
    const wss = new ColabWebSocketServer();
    expect(wss.port).toBe(0);
    await Promise.all([wss.start(), wss.start()]);
    const { port } = wss;
    await wss.start();
    expect(wss.port).toBe(port);
    await Promise.all([wss.close(), wss.close()]);
    await wss.close();
    expect(await isFree(port)).toBe(true);
    await expect(wss.start()).rejects.toMatchObject({ code: 'closed' });
  });

  it('closed while it starts leaves no port open', async () => {
    const wss = new ColabWebSocketServer();
    const starting = wss.start();
    await wss.close();
    await starting;
    expect(await leftovers()).toEqual([]);
  });
});
