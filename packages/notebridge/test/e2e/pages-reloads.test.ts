import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { Bridge } from '../support/bridge.js';
import { Program } from '../support/program.js';
import { colabOrigin, type PageAnswer, RawPage } from '../support/raw-page.js';
import { soonerThanNeverMs } from '../support/sooner-than-never.js';

const openTool = 'open_colab_browser_connection';
/** Answers each call with its arguments and the name of the page. */
const named =
  (page: string) =>
  ({ method, params }: JsonObject): PageAnswer =>
    method === 'tools/call'
      ? { result: { content: [{ type: 'text', text: JSON.stringify([page, (params as JsonObject).arguments]) }] } }
      : undefined;
const answered = (page: string, args: JsonObject = {}): JsonObject => ({ content: [{ text: JSON.stringify([page, args]) }] });
const notConnected = { isError: true, _meta: { 'notebridge/error_code': 'not_connected' } };

describe('a call without a page', () => {
  it('fails at once with the next step when none was ever there', { tags: ['P-041'] }, async () => {
    await using bridge = await Bridge.open();
    const start = performance.now();
    const result = await bridge.agent.callTool('get_cells');
    expect(result).toMatchObject(notConnected);
    expect(JSON.stringify(result)).toContain(openTool);
    expect(performance.now() - start).toBeLessThan(soonerThanNeverMs);
  });

  it('waits in the grace window and is answered by the page that returns', { tags: ['P-039'] }, async () => {
    await using bridge = await Bridge.open();
    await (await RawPage.serve({ ...bridge.address, answer: named('first') })).close();
    const calls = [1, 2, 3].map((n) => bridge.agent.callTool('get_cells', { n }));
    await using second = await RawPage.serve({ ...bridge.address, answer: named('second') });
    for (const [index, call] of calls.entries()) expect(await call).toMatchObject(answered('second', { n: index + 1 }));
    expect(second.messages.filter(({ method }) => method === 'tools/call')).toHaveLength(3);
  });

  it('waits through a handshake that fails, for the page behind it', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open({ handshakeMs: 2000 });
    await (await RawPage.serve({ ...bridge.address, answer: named('first') })).close();
    const hanging = await RawPage.connect({ ...bridge.address, answer: () => new Promise(() => {}) });
    await hanging.message('initialize');
    const call = bridge.agent.callTool('get_cells');
    await hanging.closed;
    await using _second = await RawPage.serve({ ...bridge.address, answer: named('second') });
    expect(await call).toMatchObject(answered('second'));
  });

  it('waits for a page that left before it was ever connected', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    const leaving = await RawPage.connect({ ...bridge.address, answer: () => new Promise(() => {}) });
    await leaving.message('initialize');
    await leaving.close();
    const call = bridge.agent.callTool('get_cells');
    await using _second = await RawPage.serve({ ...bridge.address, answer: named('second') });
    expect(await call).toMatchObject(answered('second'));
  });

  it('waits for the handshake of the first page', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    let finish = (): void => {};
    const slow = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const answer = async (request: JsonObject): Promise<PageAnswer> => {
      if (request.method === 'initialize') await slow;
      return named('slow')(request);
    };
    await using page = await RawPage.connect({ ...bridge.address, answer });
    await page.message('initialize');
    const call = bridge.agent.callTool('get_cells');
    finish();
    expect(await call).toMatchObject(answered('slow'));
  });

  it('fails when the grace is over', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open({ graceMs: 200 });
    await (await RawPage.serve({ ...bridge.address })).close();
    const start = performance.now();
    expect(await bridge.agent.callTool('get_cells')).toMatchObject(notConnected);
    expect(performance.now() - start).toBeGreaterThan(100);
    expect(performance.now() - start).toBeLessThan(soonerThanNeverMs);
    expect(await bridge.agent.callTool('get_cells')).toMatchObject(notConnected);
  });

  it('can be cancelled while it waits', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    await (await RawPage.serve({ ...bridge.address })).close();
    void bridge.agent.request('tools/call', { name: 'delete_cell', arguments: { cellId: 'a' } }, 77);
    bridge.agent.notify('notifications/cancelled', { requestId: 77 });
    await using page = await RawPage.serve({ ...bridge.address, answer: named('second') });
    expect(await bridge.agent.callTool('get_cells')).toMatchObject(answered('second'));
    expect(page.messages.filter(({ method }) => method === 'tools/call').map(({ params }) => (params as JsonObject).name)).toEqual([
      'get_cells',
    ]);
  });

  it('is let go by cleanup, in the grace window and in the open tool', { tags: ['deep'] }, async () => {
    const bridge = await Bridge.open();
    await (await RawPage.serve({ ...bridge.address })).close();
    const waiting = bridge.agent.callTool('get_cells');
    const opening = bridge.agent.callTool(openTool);
    await bridge.agent.until(() => bridge.opened.length === 1);
    const start = performance.now();
    await bridge.session.cleanup();
    expect(await waiting).toMatchObject(notConnected);
    expect(await opening).toMatchObject({ structuredContent: { result: false } });
    expect(performance.now() - start).toBeLessThan(soonerThanNeverMs);
    await bridge[Symbol.asyncDispose]();
  });
});

describe('reloads', () => {
  it('30 times at top speed, calls all the while: each call is answered once or fails with a word', { tags: ['deep'] }, async () => {
    await using program = await Program.open();
    const address = await program.address();
    const calls: Promise<JsonObject>[] = [];
    const served = new Map<unknown, number>();
    for (let load = 0; load < 30; load++) {
      const page = await RawPage.connect({
        ...address,
        answer: ({ method, params }) => {
          if (method !== 'tools/call') return undefined;
          const { n } = (params as { arguments: JsonObject }).arguments;
          served.set(n, (served.get(n) ?? 0) + 1);
          return { result: { content: [{ type: 'text', text: String(n) }] } };
        },
      });
      calls.push(program.callTool('get_cells', { n: load }));
      // Some leave before, some during and some after the handshake; some without a farewell.
      if (load % 3 === 1) await page.message('initialize');
      if (load % 3 === 2) await page.message('notifications/initialized');
      if (load % 2 === 0) page.socket.terminate();
      else page.socket.close(1001);
    }
    await using _last = await RawPage.serve({ ...address, answer: named('last') });
    for (const answer of await Promise.all(calls)) {
      const { isError, _meta, content } = answer.result as JsonObject;
      if (isError === true) expect(_meta).toEqual({ 'notebridge/error_code': 'page_gone' });
      else expect(content).toHaveLength(1);
    }
    // Never twice.
    expect([...served.values()].filter((times) => times > 1)).toEqual([]);
    expect(await program.callTool('get_cells')).toMatchObject({ result: answered('last') });
    expect(program.noise).toEqual([]);
    expect(await program.close()).toBe(0);
  });

  it('calls go on where the new page dials before the old one has gone', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    let old = await RawPage.serve({ ...bridge.address, answer: named('0') });
    for (let load = 1; load <= 10; load++) {
      const next = RawPage.serve({ ...bridge.address, answer: named(String(load)) });
      old.socket.terminate();
      old = await next;
      expect(await bridge.agent.callTool('get_cells')).toMatchObject(answered(String(load)));
    }
    old.socket.terminate();
  });

  it('give each connection a handshake of its own, and announce each change once', { tags: ['P-039'] }, async () => {
    await using bridge = await Bridge.open();
    const count = (): number => bridge.agent.named('notifications/tools/list_changed').length;
    for (let load = 0; load < 3; load++) {
      const page = await RawPage.serve({ ...bridge.address, answer: named('page') });
      expect(page.messages.map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized']);
      await bridge.agent.until(() => count() === 2 * load + 1);
      await page.close();
      await bridge.agent.until(() => count() === 2 * load + 2);
    }
    await bridge.agent.request('ping');
    expect(count()).toBe(6);
  });

  it('a storm of tabs leaves exactly one connected', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open();
    const tabs = await Promise.all(
      Array.from({ length: 20 }, () => RawPage.connect({ ...bridge.address, answer: named('tab'), origin: colabOrigin })),
    );
    const codes = await Promise.all(
      tabs.map((tab) => Promise.race([tab.closed, tab.message('notifications/initialized').then(() => 'served')])),
    );
    expect(codes.filter((code) => code === 'served')).toHaveLength(1);
    expect(codes.filter((code) => code === 1013)).toHaveLength(19);
    expect(await bridge.agent.callTool('get_cells')).toMatchObject(answered('tab'));
    for (const tab of tabs) tab.socket.terminate();
  });
});
