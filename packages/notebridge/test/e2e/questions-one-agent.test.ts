// @module-tag deep
// @module-tag P-372

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AskedAgent, openAtHub } from '../support/asked-agent.js';
import { runProgram } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { createCall, fixtureConfig, fixtureServer, openUpstreams } from '../support/upstreams.js';

const program = (era: 'legacy' | 'modern') => ({
  command: process.execPath,
  args: [fixtureServer('asks.mjs'), era],
  instances: 'per-agent',
  questions: 'serial',
});
const servers = { legacy: program('legacy'), modern: program('modern') };
const plain = { plain: { ...program('legacy'), questions: 'auto' } };

describe.each(Object.keys(servers))('agents of 2026-07-28 with one token at the per-agent server "%s"', (server) => {
  const agents: AskedAgent[] = [];
  let hub: ServedHub;
  beforeAll(async () => {
    hub = await ServedHub.start({ servers: { ...servers, ...plain }, args: ['--notebook', 'none'] });
    // The third cannot be told from the first.
    for (const name of ['ada', 'bob', 'ada']) {
      const at = agents.length;
      agents.push(
        await openAtHub(hub, {
          era: 'modern',
          name,
          answer: ({ params }) => ({ action: 'accept', content: { name: `${at} ${String(params.message).split(' ')[1]}` } }),
        }),
      );
    }
  }, 120_000);
  afterAll(async () => {
    await Promise.all(agents.map((agent) => agent.close()));
    await hub[Symbol.asyncDispose]();
  });

  it('have a program for each name, which is said once', async () => {
    const pids = await Promise.all(agents.map((agent) => agent.call(`${server}__pid`)));
    expect(new Set(pids).size).toBe(2);
    expect(pids[2]).toBe(pids[0]);
    // It stays theirs.
    expect(await Promise.all(agents.map((agent) => agent.call(`${server}__pid`)))).toEqual(pids);
    const said = hub.log().filter(({ msg }) => String(msg).includes('have no session'));
    expect(said.filter((line) => line.server === server)).toHaveLength(1);
  });

  it('are never asked what is meant for another, in 200 rounds each, also under one name', { timeout: 240_000 }, async () => {
    for (const agent of agents) agent.asked.length = 0;
    for (let first = 0; first < 200; first += 20) {
      const numbers = Array.from({ length: 20 }, (_, at) => first + at);
      const answers = numbers.flatMap((number) => agents.map((agent) => agent.call(`${server}__form`, { question: `${number}` })));
      const expected = numbers.flatMap((number) => agents.map((_, at) => `accept ${at} ${number}`));
      expect(await Promise.all(answers)).toEqual(expected);
    }
    for (const { asked } of agents) expect(asked).toHaveLength(200);
  });

  it('are never asked what is meant for another with no setting: what cannot be told apart is refused, and then they take turns', async () => {
    for (const agent of agents) agent.asked.length = 0;
    const call = (at: number, question: string) => agents[at]?.call('plain__form', { question });
    // The first and the third are of one name.
    const numbers = Array.from({ length: 20 }, (_, at) => `${at}`);
    const first = await Promise.allSettled(numbers.flatMap((number) => [call(0, number), call(2, number)]));
    const then = await Promise.all(numbers.flatMap((number) => [call(0, number), call(2, number)]));
    expect(then).toEqual(numbers.flatMap((number) => [`accept 0 ${number}`, `accept 2 ${number}`]));
    for (const [at, each] of first.entries()) {
      const own = `accept ${at % 2 === 0 ? 0 : 2} ${Math.floor(at / 2)}`;
      if (each.status === 'fulfilled' && each.value !== own) expect(each.value).toMatch(/calls run on it at once/);
    }
  });

  it('are told by doctor what counts as one', async () => {
    const { stdout } = await runProgram(['doctor', '--config', hub.configFile], { env: hub.env });
    expect(stdout).toContain('each token and client name');
  });
});

describe('a token under ever new names', () => {
  const callAs = (name: string, sessionId: string) =>
    createCall('pid', {}, { caller: { sessionId, door: 'http', era: 'modern', clientInfo: { name, version: '1' } } });

  it('takes a quarter of the places, and ends no program of another token', async () => {
    const { call, upstreams } = openUpstreams([fixtureConfig('asks.mjs', ['legacy'], { instances: 'per-agent' })], {
      limits: { maxOwnInstances: 8 },
    });
    const pid = async (name: string, sessionId: string): Promise<string> => JSON.stringify(await call('pid', {}, callAs(name, sessionId)));
    const other = await pid('ada', 'other');
    const first = await pid('ada', 'greedy');
    for (const name of ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']) await pid(name, 'greedy');
    expect(await pid('ada', 'other')).toBe(other);
    // Idle longest, it made room for the next name of its own token.
    expect(await pid('ada', 'greedy')).not.toBe(first);
    await upstreams.close();
  });
});
