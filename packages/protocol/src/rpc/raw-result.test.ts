import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../json.js';
import { keepRawText, rawTextOf } from './unread-members.js';

const text = '{ "content": [{"type":"text","text":"a"}], "isError": false, "_meta": {"b":[1]}, "n": 1 }';

interface Result extends JsonObject {
  content: { text: string }[];
  _meta?: { b: number[] };
}

function receive(): Result {
  const result = JSON.parse(text) as Result;
  keepRawText(result, text);
  return result;
}

describe('keepText', () => {
  it('keeps the text of a result that is passed on, asked for members that cannot be changed, or frozen', () => {
    const result = receive();
    expect(result.isError === false && result.n === 1 && 'content' in result && Object.keys(result).length === 4).toBe(true);
    expect(rawTextOf(Object.freeze(result))).toBe(text);
  });

  it('makes a result that is like any other to who looks at it', () => {
    const plain: unknown = JSON.parse(text);
    expect(receive()).toStrictEqual(plain);
    expect({ ...receive() }).toStrictEqual(plain);
    expect(structuredClone(receive())).toStrictEqual(plain);
    expect(JSON.stringify(receive())).toBe(JSON.stringify(plain));
    expect(inspect(receive())).toBe(inspect(plain));
    const written = receive();
    written._meta = { b: [2] };
    expect(written).toStrictEqual({ ...(plain as Result), _meta: { b: [2] } });
  });

  it.each<[string, (result: Result) => unknown]>([
    ['a member is set', (result) => (result.content = [])],
    ['a member is set to what it was', (result) => (result._meta = { b: [1] })],
    ['a word is set', (result) => (result.isError = true)],
    ['a number is set', (result) => (result.n = 2)],
    ['a member is added', (result) => (result.more = 1)],
    ['a member is added without a value', (result) => (result.more = undefined)],
    ['a member is removed', (result) => delete result._meta],
    ['a word is removed', (result) => delete result.isError],
    [
      'members change places',
      (result) => {
        delete result.isError;
        result.isError = false;
      },
    ],
    ['a member is hidden', (result) => Object.defineProperty(result, 'n', { enumerable: false })],
    ['a member is defined', (result) => Object.defineProperty(result, 'content', { value: [], enumerable: true })],
    ['something deep in it is set', (result) => ((result.content[0] as { text: string }).text = 'b')],
    ['something deep in it is added', (result) => result._meta?.b.push(2)],
    ['a caller holds a part of it', (result) => result.content],
    ['a caller holds all parts of it', (result) => Object.values(result)],
    ['a caller holds a copy of it', (result) => ({ ...result })],
    ['something in it is added through a proxy', (result) => new Proxy(result, {}).content.push({ text: 'b' })],
    ['something in it is added through an heir', (result) => (Object.create(result) as Result).content.push({ text: 'b' })],
    ['it prints itself', (result) => Object.defineProperty(result, 'toJSON', { value: () => 1 })],
    ['its prototype prints it', (result) => Object.setPrototypeOf(result, { toJSON: () => 1 })],
  ])('forgets it when %s', (_, change) => {
    const result = receive();
    change(result);
    expect(rawTextOf(result)).toBeUndefined();
  });

  it('keeps no text of a result with very many members, nor of a copy', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, index]));
    keepRawText(many, JSON.stringify(many));
    expect(rawTextOf(many)).toBeUndefined();
    expect(rawTextOf(Object.assign(Object.create(receive()), {}))).toBeUndefined();
  });
});
