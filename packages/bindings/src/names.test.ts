import { describe, expect, it } from 'vitest';
import { assignNames } from './names.js';
import { isIdentifier, toParameterName, toPythonName } from './python/python-names.js';

const files = { ignoreCase: true, kind: 'tool', toName: toPythonName };
const namesOf = (...wires: string[]) =>
  Object.fromEntries(assignNames(wires, files).map((name, index): [string, string] => [wires[index] ?? '', name]));

describe('toPythonName', () => {
  it.each([
    ['star_repo', 'star_repo'],
    ['brave-search', 'brave_search'],
    ['a.b/c d', 'a_b_c_d'],
    ['1st', '_1st'],
    ['class', 'class_'],
    ['None', 'None_'],
    ['__init__', '__init___'],
    ['NUL', 'NUL_'],
    ['open_tools', 'open_tools_'],
    ['größe', 'gr__e'],
    ['名前', undefined],
    ['', undefined],
  ])('makes of %j the name %j', (wire, python) => expect(toPythonName(wire)).toBe(python));

  it('cuts a long name and keeps it apart from another that begins the same', () => {
    const [one, other] = ['x', 'y'].map((end) => toPythonName('a'.repeat(500) + end));
    expect(one).toMatch(/^a{73}_[0-9a-f]{6}$/);
    expect(other).not.toBe(one);
  });
});

it('toParameterName keeps letters of alphabets that every Python knows, in one spelling', () => {
  expect(['größe', 'имя', 'from', 'a-b', '🙂', 'e\u0301', 'ﬁ'].map(toParameterName)).toEqual([
    'größe',
    'имя',
    'from_',
    'a_b',
    undefined,
    'e_',
    undefined,
  ]);
});

describe('assignNames', () => {
  it('leaves the name to the tool that has it, and puts a hash behind the other', () => {
    expect(namesOf('get-user', 'get_user')).toEqual({ 'get-user': 'get_user_5d95c2', get_user: 'get_user' });
  });

  it('gives the name to none of those that had to be changed', () => {
    const names = namesOf('get-user', 'get.user');
    expect(Object.values(names).every((name) => /^get_user_[0-9a-f]{6}$/.test(name))).toBe(true);
  });

  it('keeps names apart that some file systems do not', () => {
    const names = namesOf('getUser', 'getuser', 'GETUSER');
    expect(names.getuser).toBe('getuser');
    expect(new Set(Object.values(names).map((name) => name.toLowerCase())).size).toBe(3);
  });

  it('gives a name the same whatever stands beside it', () => {
    const wires = ['a-b', '名前', 'class', 'x'.repeat(300), 'plain'];
    const alone = wires.map((wire) => namesOf(wire)[wire]);
    expect(Object.values(namesOf(...wires, 'more', 'and more'))).toEqual(expect.arrayContaining(alone));
  });

  it('no tool takes the name of another for the one with a hash', () => {
    const names = Object.values(namesOf('get-user', 'get_user', 'get_user_5d95c2'));
    expect(new Set(names).size).toBe(3);
    expect(names.every(isIdentifier)).toBe(true);
  });
});
