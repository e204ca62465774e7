// @module-tag deep
// @module-tag P-353

import type { JsonObject } from '@notebridge/protocol/json';
import { envelopeKeys } from '@notebridge/protocol/rpc/modern-envelope';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it, vi } from 'vitest';
import { ServerTools } from '../../src/catalog/server-tools.js';
import { envelope } from '../support/agents.js';
import { Bridge, LibraryAgent } from '../support/bridge.js';
import { hangsAfterMs } from '../support/hangs-after.js';
import { type EventReader, messagesOf, openMcpHttp } from '../support/mcp-http.js';
import { type PageAnswer, RawPage } from '../support/raw-page.js';
import { createCall, fixtureConfig, linesOf, openUpstreams, temporaryPath } from '../support/upstreams.js';

/** A server that logs, behind the HTTP door. */
async function open(era: 'legacy' | 'modern', more: Parameters<typeof fixtureConfig>[2] = {}) {
  const file = temporaryPath('levels');
  const door = await openMcpHttp();
  const { hub } = door;
  const opened = openUpstreams([fixtureConfig('logs.mjs', [file, era], more)], { logLevels: hub.logLevels });
  await opened.upstreams.start();
  await opened.server().listTools();
  hub.addProvider(new ServerTools({ servers: opened.upstreams, logger: silentLogger }));
  const levels = (): string[] => linesOf(file);
  const untilLevels = (wanted: string[]) => vi.waitUntil(() => String(levels()) === String(wanted), { timeout: hangsAfterMs });
  return { ...door, ...opened, levels, untilLevels };
}

const levelsOf = (messages: JsonObject[]): unknown[] =>
  messages.flatMap(({ method, params }) => (method === 'notifications/message' ? [(params as JsonObject).level] : []));

async function nextLevels(reader: EventReader, count: number): Promise<unknown[]> {
  const levels: unknown[] = [];
  while (levels.length < count) levels.push(...levelsOf([(await reader.next()) ?? expect.fail('The stream has ended.')]));
  return levels;
}

describe('a log level of agents of the legacy era', () => {
  it('reaches a server that they share as the lowest of all, and each is sent no more than it wants', async () => {
    const { open: openSession, untilLevels } = await open('legacy');
    const [one, two] = [await openSession(), await openSession()];
    const [first, second] = [await one.listen(), await two.listen()];
    await one.request('logging/setLevel', { level: 'error' });
    await untilLevels(['error']);
    await two.request('logging/setLevel', { level: 'debug' });
    await untilLevels(['error', 'debug']);
    await (await one.call('it__say')).json();
    expect(await nextLevels(second, 3)).toEqual(['debug', 'warning', 'error']);
    expect(await nextLevels(first, 1)).toEqual(['error']);
    await (await two.delete()).text();
    await untilLevels(['error', 'debug', 'error']);
  });

  it('is told to a server again that has started anew', async () => {
    const { open: openSession, untilLevels, server } = await open('legacy');
    await (await openSession()).request('logging/setLevel', { level: 'notice' });
    await untilLevels(['notice']);
    process.kill(server().state.pid ?? expect.fail(), 'SIGKILL');
    await untilLevels(['notice', 'notice']);
  });

  it('is that of its one agent for a program of its own', async () => {
    const { open: openSession, untilLevels } = await open('legacy', { instances: 'per-agent' });
    const [one, two] = [await openSession(), await openSession()];
    await one.request('logging/setLevel', { level: 'error' });
    await two.request('logging/setLevel', { level: 'warning' });
    // The program that lists the tools is told, too.
    await untilLevels(['error', 'warning']);
    expect(await messagesOf(await one.call('it__say'))).toMatchObject([{ params: { level: 'error' } }, { result: {} }]);
    await untilLevels(['error', 'warning', 'error']);
  });

  it('a level that a modern request names reaches the program of its own that it has, too', async () => {
    const { ask, untilLevels } = await open('legacy', { instances: 'per-agent' });
    const said = await messagesOf(await ask('tools/call', { name: 'it__say', _meta: { [envelopeKeys.logLevel]: 'debug' } }));
    expect(levelsOf(said)).toEqual(['debug', 'warning', 'error']);
    // Both the one that lists the tools and the agent's own.
    await untilLevels(['debug', 'debug']);
  });

  it('is in each call to a server of the modern era, `info` if nothing was said', async () => {
    const { open: openSession, levels } = await open('modern');
    const session = await openSession();
    const reader = await session.listen();
    await (await session.call('it__say')).json();
    expect(await nextLevels(reader, 3)).toEqual(['debug', 'warning', 'error']);
    await session.request('logging/setLevel', { level: 'warning' });
    await (await session.call('it__say')).json();
    expect(await nextLevels(reader, 2)).toEqual(['warning', 'error']);
    expect(levels()).toEqual(['info', 'warning']);
  });
});

describe.each(['legacy', 'modern'] as const)('log lines of a server of the %s era', (era) => {
  const say = (opened: Awaited<ReturnType<typeof open>>, logLevel?: string) =>
    opened.ask('tools/call', { name: 'it__say', _meta: logLevel === undefined ? {} : { [envelopeKeys.logLevel]: logLevel } });

  it('come beside the answer to a modern request that asked for them, from its level up, and to no other', async () => {
    const opened = await open(era);
    const asked = await messagesOf(await say(opened, 'warning'));
    expect(levelsOf(asked)).toEqual(['warning', 'error']);
    expect(asked.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'said' }] } });
    expect(levelsOf(await messagesOf(await say(opened)))).toEqual([]);
    if (era === 'modern') expect(opened.levels()).toEqual(['warning', 'none']);
  });

  it('do not come to a request of another server', async () => {
    const opened = await open(era);
    const waiting = opened.ask('tools/call', { name: 'wait', _meta: { [envelopeKeys.logLevel]: 'debug' } });
    await opened.test.waiting();
    expect(levelsOf(await messagesOf(await say(opened, 'debug')))).toEqual(['debug', 'warning', 'error']);
    opened.test.release();
    expect(levelsOf(await messagesOf(await waiting))).toEqual([]);
  });

  it('do not come to who may not hear what concerns no one call', { tags: ['P-060'] }, async () => {
    const opened = await open(era);
    vi.spyOn(opened.hub, 'mayHear').mockReturnValue(false);
    expect(levelsOf(await messagesOf(await say(opened, 'debug')))).toEqual([]);
  });
});

/** Of a page that logs. */
const answer = ({ method }: JsonObject): PageAnswer => {
  const capabilities = { tools: {}, logging: {} };
  if (method === 'initialize') return { result: { protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'p', version: '1' } } };
  return method === 'logging/setLevel' ? { result: {} } : undefined;
};

it('a page that logs is told the lowest level that agents want, and again when it comes back', async () => {
  await using bridge = await Bridge.open();
  const hears = (page: RawPage, level: string) =>
    page.until((messages) =>
      messages.some(({ method, params }) => method === 'logging/setLevel' && (params as JsonObject).level === level),
    );
  const page = await RawPage.serve({ ...bridge.address, answer });
  expect(await bridge.agent.request('logging/setLevel', { level: 'warning' })).toMatchObject({ result: {} });
  await hears(page, 'warning');
  await page.close();
  await hears(await RawPage.serve({ ...bridge.address, answer }), 'warning');
});

it('log lines of a page come beside the answer to a modern request that asked for them, from its level up', async () => {
  await using bridge = await Bridge.open();
  const page = await RawPage.serve({ ...bridge.address, answer });
  const agent = new LibraryAgent(bridge.host);
  const say = (level: string) => page.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level, data: level } });
  const ask = async (meta: JsonObject, before = 0) => {
    const answered = agent.request('tools/call', { name: 'get_cells', arguments: {}, _meta: { ...envelope, ...meta } });
    const { id } = await page.message('tools/call', before);
    for (const level of ['debug', 'warning', 'error']) say(level);
    page.send({ jsonrpc: '2.0', id, result: { content: [] } });
    expect(await answered).toMatchObject({ result: { content: [] } });
    return levelsOf(agent.notifications.splice(0));
  };
  expect(await ask({ [envelopeKeys.logLevel]: 'warning' })).toEqual(['warning', 'error']);
  expect(page.messages.filter(({ method }) => method === 'logging/setLevel')).toMatchObject([{ params: { level: 'warning' } }]);
  expect(await ask({}, 1)).toEqual([]);
});

it('code in a kernel asks for no log lines', async () => {
  const { levels, server } = await open('modern');
  const caller = { sessionId: 'kernel', door: 'tool-proxy', era: 'legacy', clientInfo: undefined } as const;
  const context = createCall('say', {}, { caller });
  await server().request('tools/call', context.message, context);
  expect(levels()).toEqual(['none']);
});
