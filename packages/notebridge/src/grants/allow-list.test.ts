import { describe, expect, it } from 'vitest';
import { parseAllowList } from './allow-list.js';

const allows = (pattern: string, server: string, tool: string): boolean => parseAllowList([pattern]).allows({ server, tool });

describe('parseAllowList', () => {
  it.each([
    ['github:*', 'github', 'star_repo', true],
    ['github:*', 'github2', 'star_repo', false],
    ['*:read_*', 'filesystem', 'read_file', true],
    ['*:read_*', 'filesystem', 'pre_read_file', false],
    ['filesystem', 'filesystem', 'anything', true],
    ['filesystem', 'filesystem-2', 'anything', false],
    ['git*:*_repo', 'gitlab', 'star_repo', true],
    ['git*:*_repo', 'gitlab', 'star_repos', false],
    ['s:a*a', 's', 'a', false],
    ['s:a*a', 's', 'aa', true],
    ['s:*ab*ba*', 's', 'aba', false],
    ['s:*ab*ba*', 's', 'abba', true],
    ['s:get', 's', 'GET', false],
    ['s:a.c', 's', 'abc', false],
    ['s:a:b', 's', 'a:b', true],
    ['s:(a+)+$', 's', 'aaaa', false],
    ['*', 'any', 'thing', true],
    ['s:ß*', 's', 'ßx', true],
    ['s:', 's', '', undefined],
  ])('a grant for %s, asked for %s and %s, says %s', (pattern, server, tool, expected) => {
    if (expected === undefined) expect(() => parseAllowList([pattern])).toThrow('names no tool');
    else expect(allows(pattern, server, tool)).toBe(expected);
  });

  it('knows which server is allowed as a whole', () => {
    const list = parseAllowList(['github:*', 'fs:read_*']);
    expect([list.allowsWhole('github'), list.allowsWhole('fs'), list.allowsWhole('other'), list.allowsAll]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(parseAllowList(['*']).allowsAll).toBe(true);
    expect(parseAllowList(['*:read']).allowsAll).toBe(false);
  });

  it.each([
    [[], 'at least one pattern'],
    ['github:*', 'at least one pattern'],
    [[7], 'The pattern 7 is not a text'],
    [[':tool'], 'names no server'],
    [[''], 'names no server'],
    [['a:*,b:*'], 'has a space or comma'],
    [['a: b'], 'has a space or comma'],
    [['x'.repeat(501)], 'more than 500 characters'],
    [Array.from({ length: 201 }, () => 'a'), '201 patterns are too many'],
  ])('refuses %j and says why', (patterns, why) => {
    expect(() => parseAllowList(patterns)).toThrow(expect.objectContaining({ code: 'bad_usage', message: expect.stringContaining(why) }));
  });

  it('does steps in proportion to the name, whatever the pattern', () => {
    // With a backtracking matcher this pattern takes longer than the universe has had.
    const list = parseAllowList([`s:${'*a'.repeat(200)}*b`]);
    expect(list.allows({ server: 's', tool: `${'a'.repeat(100_000)}c` })).toBe(false);
  });
});
