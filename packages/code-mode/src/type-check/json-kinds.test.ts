// @module-tag P-450

import { describe, expect, it } from 'vitest';
import { isSurelyWrong } from './json-kinds.js';

describe('isSurelyWrong', () => {
  it.each([
    ['int', 'str'],
    ['Literal[5]', 'str'],
    ["Literal['a']", 'int | None'],
    ["Literal['a', 'b']", 'float'],
    ["Literal['date']", "Literal['name', 'size']"],
    ['list[str]', 'str'],
    ['list[int | str]', 'str | bool'],
    ['dict[str, Any]', 'List[str]'],
    ['tuple[str, ...]', 'str'],
    ['bytes', 'str'],
    ['bool', 'str'],
    ['Coroutine[Any, Any, str | None]', 'str'],
    ['CoroutineType[Any, Any, str]', 'List[Edit] | None'],
    ['str', 'Mapping[str, Any] | None'],
  ])('a %s where a %s is wanted is wrong', (given, wanted) => {
    expect(isSurelyWrong(given, wanted)).toBe(true);
  });

  it.each([
    ['str | None', 'str'],
    ['int | str', 'str'],
    ['None', 'int'],
    ['float', 'int'],
    ['str', "Literal['a', 'b']"],
    ["Literal['a', 'zzz']", "Literal['a', 'b']"],
    ['list[Unknown]', 'List[Edit]'],
    ['list[dict[str, str]]', 'List[Edit]'],
    ['tuple[str]', 'List[str]'],
    ['dict[str, str]', 'Edit'],
    ['Edit', 'str'],
    ['str', 'Edit'],
    ['ndarray', 'float'],
    ['Path', 'str'],
    ['list[int] | dict[str, int]', 'str'],
    ['type[str]', 'str'],
    ['() -> str', 'str'],
    ['str*', 'int'],
    ["Literal['a']", ''],
    ['', 'str'],
    ["Literal['…']", "Literal['a']"],
    ['constructor', 'str'],
    ["Literal['|', ']']", "Literal['a']"],
  ])('a %s where a %s is wanted may be right', (given, wanted) => {
    expect(isSurelyWrong(given, wanted)).toBe(false);
  });
});
