// @module-tag deep
// @module-tag P-126

import { describe, expect, it } from 'vitest';
import { openLegacyAgent, openModernAgent } from '../support/http-agent.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const startMs = 240_000;
const internal = -32603;
const calls = { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] };
/** Each looks like the name of a tool once something prints it, or cannot be printed at all. */
const oddNames: unknown[] = [
  ['calls__count'],
  [['calls__count']],
  { toString: 'calls__count' },
  [{ toString: null }],
  { toJSON: 'calls__count' },
  5,
  true,
  null,
  'calls__count\ud800',
  'x'.repeat(10_000),
];

describe('a tool whose name is no text', () => {
  it('is none: under every grant, for the owner, and in both eras', { timeout: startMs }, async () => {
    await using hub = await ServedHub.start({ servers: { calls }, args: ['--notebook', 'none'] });
    const tokens = { owner: hub.ownerToken } as Record<string, string>;
    for (const allow of ['notebook', '*:*', 'calls:echo']) tokens[allow] = (await hub.grant('--door', 'agent', '--allow', allow)).token;
    for (const [who, token] of Object.entries(tokens)) {
      for (const send of [await openLegacyAgent(hub, () => token), openModernAgent(hub, () => token)]) {
        for (const name of oddNames) {
          const { error, result } = await send('tools/call', { name, arguments: { n: 1 } });
          expect({ who, result, code: error?.code }).toEqual({ who, result: undefined, code: expect.any(Number) });
          expect(error?.code).not.toBe(internal);
        }
        for (const name of oddNames) expect((await send('prompts/get', { name })).error?.code).not.toBe(internal);
        for (const uri of oddNames) expect((await send('resources/read', { uri })).error?.code).not.toBe(internal);
      }
    }
    expect(linesOf(`${hub.home}/count`)).toEqual([]);
  });
});
