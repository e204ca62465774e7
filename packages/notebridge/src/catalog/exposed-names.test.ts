// @module-tag P-061

import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import { describe, expect, it } from 'vitest';
import { exposeNames, maxExposedNameLength, ownersByPrefix } from './exposed-names.js';

const at = (server: string, tool: string): ToolAddress => ({ server, tool });
const namesOf = (...addresses: ToolAddress[]): string[] => [...exposeNames(addresses).keys()];

describe('exposeNames', () => {
  it('joins server and tool where the name fits', () => {
    expect(exposeNames([at('github', 'star_repo')])).toEqual(new Map([['github__star_repo', at('github', 'star_repo')]]));
  });

  it('replaces what hosts refuse', () => {
    expect(namesOf(at('brave search', 'web.search/now'))).toEqual(['brave_search__web_search_now']);
    expect(namesOf(at('größe', '名前'))).toEqual(['gr__e____']);
  });

  it('keeps the plain name for the tool that needed no change, and marks the other with a hash', () => {
    const exposed = exposeNames([at('a.b', 'x'), at('a_b', 'x')]);
    expect(exposed.get('a_b__x')).toEqual(at('a_b', 'x'));
    const [other] = [...exposed].filter(([name]) => name !== 'a_b__x');
    expect(other?.[0]).toMatch(/^a_b__x_[0-9a-f]{6}$/);
    expect(other?.[1]).toEqual(at('a.b', 'x'));
  });

  it('distinguishes servers and tools whose underscores meet', () => {
    expect(exposeNames([at('a__b', 'c'), at('a', 'b__c')]).size).toBe(2);
  });

  it('cuts what is too long for hosts, and keeps such names apart', () => {
    const long = 'x'.repeat(500);
    const names = namesOf(at('s', `${long}1`), at('s', `${long}2`));
    expect(names).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(Math.max(...names.map((name) => name.length))).toBeLessThanOrEqual(maxExposedNameLength);
  });

  it('gives the same names whatever the order', () => {
    const addresses = [at('a.b', 'x'), at('a_b', 'x'), at('a-b', 'x'), at('a b', 'x'), at('s', 'y'.repeat(80))];
    const byName = (names: Map<string, ToolAddress>): unknown[] => [...names].sort(([a], [b]) => (a < b ? -1 : 1));
    expect(byName(exposeNames(addresses.toReversed()))).toEqual(byName(exposeNames(addresses)));
  });

  it('names 10,000 tools', () => {
    const addresses = Array.from({ length: 10_000 }, (_, n) => at('big', `tool_${n}`));
    expect(exposeNames(addresses).size).toBe(10_000);
  });
});

describe('ownersByPrefix', () => {
  it('knows every name that a server can have, and not those of another', () => {
    for (const server of ['github', 'brave search', 'x'.repeat(60), 'a__b']) {
      for (const tool of ['star_repo', 'y'.repeat(200), '名前', '__']) {
        const [name = ''] = namesOf(at(server, tool));
        expect(ownersByPrefix(['zz', server])(name), `${server} ${tool}`).toBe(server);
        expect(ownersByPrefix(['other'])(name), `${server} ${tool}`).toBeUndefined();
      }
    }
  });
});
