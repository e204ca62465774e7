// @runs process

import { MemoryToolServer, MemoryToolServers } from '@notebridge/protocol/core/memory-tool-server';
import type { Principal } from '@notebridge/protocol/core/principal';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../../notebridge/test/support/create-context.js';
import { cpuOf } from '../../../notebridge/test/support/growth.js';
import { SearchTurns, ToolSearch } from './tool-search.js';

const owner: Principal = { kind: 'owner' };
const grant = (grantId: string): Principal => ({ kind: 'grant', grantId });
const { signal } = new AbortController();

/** As many words as a server of a thousand tools may have. */
const beginnings = ['cre', 'del', 'upda', 'lis', 'reav', 'wri', 'sear', 'fin', 'bran', 'com'];
const words = beginnings.flatMap((one) =>
  ['mart', 'ton', 'vedil', 'dist', 'pork', 'gan', 'lituf', 'musk', 'ferb', 'kol'].map((other) => one + other),
);
const wordAt = (at: number): string => words[at % words.length] ?? '';

function openLarge(): (query: string, principal?: Principal) => Promise<unknown> {
  const tools = Array.from({ length: 1000 }, (_, at) => ({
    name: `${wordAt(at)}_${wordAt(3 * at + 1)}_${at}`,
    description: `Does ${wordAt(7 * at)} to the ${wordAt(11 * at + 5)} of a ${wordAt(13 * at + 2)}${at}.`,
    inputSchema: { type: 'object', properties: { [wordAt(5 * at)]: { type: 'string' } } },
    run: async () => ({ content: [] }),
  }));
  const servers = new MemoryToolServers([new MemoryToolServer({ name: 'large', tools })]);
  const search = new ToolSearch({ servers, listerOf: () => () => true });
  const { caller } = createContext('tools/call');
  return (query, principal = owner) => search.search({ query, limit: 50 }, { caller: { ...caller, principal }, signal });
}

describe('a search of a thousand tools', () => {
  const queries = [
    words.slice(0, 30).join(' '),
    words.map((word) => word.slice(0, 4)).join(' '),
    words.map((word) => `${word.slice(0, 2)}z${word.slice(2)}`).join(' '),
    'a delmart to the liston',
    'nothing like it',
  ];

  it('costs far less than the first one', { tags: ['P-731'] }, async () => {
    const find = openLarge();
    const first = await cpuOf(() => find('anything'));
    for (const query of queries) await find(query);
    const later = await cpuOf(async () => {
      for (let round = 0; round < 4; round++) for (const query of queries) await find(query);
    });
    process.stdout.write(`A search of 1,000 tools: ${Math.round(first)} ms of CPU, then ${(later / 20).toFixed(2)} ms.\n`);
    expect(later / 20).toBeLessThan(first / 10);
  });

  it('has everything else come to its turn before the next one', { tags: ['P-738'] }, async () => {
    const find = openLarge();
    await find('anything');
    let turn = 0;
    const next = (): void => {
      turn++;
      immediate = setImmediate(next);
    };
    let immediate = setImmediate(next);
    const ended = await Promise.all(
      Array.from({ length: 15 }, (_, at) => find(queries[at % 5] ?? '', grant(`g${at % 3}`)).then(() => turn)),
    );
    clearImmediate(immediate);
    expect(new Set(ended).size).toBe(15);
  });
});

describe('the searches of one caller', () => {
  it('are sixteen at once, and those of others are none of its', { tags: ['P-738'] }, async () => {
    const turns = new SearchTurns();
    const ends: (() => void)[] = [];
    const wait = (principal: Principal) => turns.admit(principal, () => new Promise<void>((resolve) => ends.push(resolve)));
    const waiting = Array.from({ length: 16 }, () => wait(grant('a')));
    await expect(wait(grant('a'))).rejects.toMatchObject({ code: 'limit_reached', data: { retry_after_s: 1 } });
    const others = [wait(grant('b')), wait(owner)];
    ends[0]?.();
    await waiting[0];
    const again = wait(grant('a'));
    for (const end of ends) end();
    await Promise.all([...waiting, ...others, again]);
  });

  it('that nobody waits for any more do nothing', { tags: ['deep'] }, async () => {
    const turns = new SearchTurns();
    const leaving = new AbortController();
    let done = 0;
    const work = async (): Promise<void> => void done++;
    const left = turns.take(leaving.signal, work);
    leaving.abort();
    await expect(left).rejects.toMatchObject({ code: 'cancelled' });
    await turns.take(signal, work);
    expect(done).toBe(1);
  });
});
