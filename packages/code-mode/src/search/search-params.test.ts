import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { describeToolsTool, parseDescribe, parseSearch, searchToolsTool } from './search-params.js';

describe('parseSearch', () => {
  it('takes what is left out, or null, at its default; a list is longer than what is found', () => {
    const rest = { server: undefined, readOnly: false, offset: 0, detail: 'line' };
    expect(parseSearch({ query: ' a b ', server: null })).toEqual({ query: 'a b', limit: 10, ...rest });
    expect(parseSearch(undefined)).toEqual({ query: '', limit: 50, ...rest });
    expect(parseSearch({ limit: 50, offset: 3, detail: 'name', read_only: true, server: 's' })).toEqual({
      query: '',
      server: 's',
      readOnly: true,
      limit: 50,
      offset: 3,
      detail: 'name',
    });
  });

  it.each<[params: unknown, said: RegExp]>([
    [[], /must be an object/],
    [{ query: 7 }, /"query" must be a text, found 7/],
    [{ query: 'x'.repeat(1001) }, /has 1001 characters, and at most 1000/],
    [{ server: ['a'] }, /"server" must be a text/],
    [{ limit: 0 }, /"limit" must be a whole number from 1 to 50, found 0/],
    [{ limit: 51 }, /from 1 to 50/],
    [{ limit: '5' }, /from 1 to 50, found "5"/],
    [{ limit: 1.5 }, /whole number/],
    [{ offset: -1 }, /"offset" must be a whole number 0 or more/],
    [{ read_only: 'yes' }, /"read_only" must be true or false/],
    [{ detail: 'all' }, /"detail" must be one of "name", "line", "full", found "all"/],
    [{ querry: 'x' }, /no argument "querry"; did you mean "query"\? There are query, server/],
    [{ __proto__: null, ['__proto__' as string]: 1 }, /no argument "__proto__"/],
  ])('refuses %j', (params, said) => expect(() => parseSearch(params)).toThrow(said));
});

describe('parseDescribe', () => {
  it('takes each name once, and one name by itself', () => {
    expect(parseDescribe({ tools: ['a.b', 'a.b', 'c'] })).toEqual(['a.b', 'c']);
    expect(parseDescribe({ tools: 'a.b' })).toEqual(['a.b']);
  });

  it.each<[params: unknown, said: RegExp]>([
    [{}, /"tools" must be a list of names like "server.tool", found nothing/],
    [{ tools: [] }, /must be a list of names/],
    [{ tools: ['a', 7] }, /must be a list of names/],
    [{ tools: Array.from({ length: 21 }, (_, at) => `t${at}`) }, /names 21 tools, and at most 20/],
    [{ tools: ['a'], language: 'typescript' }, /Code here is Python.* \(found "typescript"\).*generate --lang typescript/],
  ])('refuses %j', (params, said) => expect(() => parseDescribe(params)).toThrow(said));
});

it('the two definitions take at most 600 tokens, as agents see them', () => {
  const shown = [searchToolsTool, describeToolsTool].map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  expect(countTokens(JSON.stringify(shown))).toBeLessThanOrEqual(600);
});
