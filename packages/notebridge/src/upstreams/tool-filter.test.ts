import { describe, expect, it } from 'vitest';
import { createToolFilter } from './upstream-tools.js';

const names = ['read_file', 'read_dir', 'write_file', 'a.b', 'axb'];

describe('createToolFilter', () => {
  it.each<[string, string[] | undefined, string[], string[]]>([
    ['everything where nothing is said', undefined, [], names],
    ['what is allowed', ['read_*'], [], ['read_file', 'read_dir']],
    ['nothing where nothing is allowed', [], [], []],
    ['all but what is denied', undefined, ['*_file'], ['read_dir', 'a.b', 'axb']],
    ['not what is both', ['read_*'], ['*dir'], ['read_file']],
    ['one character for a question mark', ['a?b'], [], ['a.b', 'axb']],
    ['the letters of a pattern as they are', ['a.b', 'READ_*', '(', '[a-z]+'], [], ['a.b']],
  ])('lets pass %s', (_, allow, deny, expected) => {
    expect(names.filter(createToolFilter({ allow, deny }))).toEqual(expected);
  });
});
