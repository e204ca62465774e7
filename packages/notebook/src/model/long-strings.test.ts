import { describe, expect, it } from 'vitest';
import { putBackLongStrings, takeOutLongStrings } from './long-strings.js';
import { readNotebook } from './nbformat.js';

const encoder = new TextEncoder();
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const picture = 'iVBORw0KGgo='.repeat(400);
const inLines = `${'QUJD'.repeat(19)}\n`.repeat(60);

describe('takeOutLongStrings', () => {
  it('takes out what is long and base64, also in lines, and puts it back byte for byte', () => {
    const text = JSON.stringify({ short: 'QUJD', é: picture, list: [inLines, picture] });
    const thin = takeOutLongStrings(encoder.encode(text));
    expect(thin.strings).toEqual([picture, inLines, picture]);
    expect(thin.bytes.length).toBeLessThan(100);
    expect(textOf(putBackLongStrings(thin))).toBe(text);
  });

  it.each([
    ['a key', JSON.stringify({ [picture]: 1 })],
    ['a text that could be spelled in other ways', JSON.stringify([`${picture}é`, `${picture}\t`, `${picture} `])],
    ['a spelling that is not the usual one', `["${picture}\\u000a", "${picture}\\/"]`],
    ['the rest of a text that ends in a string', `["${picture}`],
    ['anything of a text with marks of its own', `["\u00010", "${picture}"]`],
  ])('leaves %s', (_, text) => {
    const thin = takeOutLongStrings(encoder.encode(text));
    expect(thin.strings).toEqual([]);
    expect(textOf(thin.bytes)).toBe(text);
  });
});

it('a fault behind a long string is found where it is', () => {
  const start = `{"nbformat": 4, "nbformat_minor": 5, "metadata": {"a": "${picture}"}, "cells": `;
  const found = (text: string) => {
    try {
      return readNotebook(encoder.encode(text));
    } catch (error) {
      return (error as { data: unknown }).data;
    }
  };
  expect(found(`${start}[x]}`)).toEqual({ line: 1, column: start.length + 2 });
  expect(found(`${start}[1]}`)).toEqual({ path: 'cells[0]', line: 1, column: start.length + 2 });
  expect(found(`${start}["\u00010"]}`)).toEqual({ line: 1, column: start.length + 2 });
});
