import { describe, expect, it } from 'vitest';
import { toPromptResult, toResourceResult, toToolResult } from './results.js';

const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });

describe('toToolResult', () => {
  it.each([
    ['a text', text('a text')],
    [undefined, { content: [] }],
    [null, text('null')],
    [7, text('7')],
    [[1, 2], text('[1,2]')],
    [{ a: 1 }, { ...text('{"a":1}'), structuredContent: { a: 1 } }],
    [{ content: ['no', 'blocks'] }, { ...text('{"content":["no","blocks"]}'), structuredContent: { content: ['no', 'blocks'] } }],
  ])('a value becomes a result: %j', (value, result) => {
    expect(toToolResult(value)).toEqual(result);
  });

  it('passes a full result on unchanged', () => {
    const result = { content: [{ type: 'image', data: '', mimeType: 'image/png', more: 1 }], _meta: { a: 1 }, isError: true };
    expect(toToolResult(result)).toBe(result);
  });
});

it('toResourceResult takes text, bytes, values and full results', () => {
  const { contents } = toResourceResult('a:b', 'image/png', new Uint8Array(300_000).fill(255)) as { contents: { blob: string }[] };
  expect(contents[0]).toMatchObject({ uri: 'a:b', mimeType: 'image/png' });
  expect(Buffer.from(contents[0]?.blob ?? '', 'base64').equals(Buffer.alloc(300_000, 255))).toBe(true);
  expect(toResourceResult('a:b', undefined, 'x')).toEqual({ contents: [{ uri: 'a:b', text: 'x' }] });
  expect(toResourceResult('a:b', undefined, [1])).toEqual({ contents: [{ uri: 'a:b', mimeType: 'application/json', text: '[1]' }] });
  expect(toResourceResult('a:b', undefined, { contents: [] })).toEqual({ contents: [] });
});

it('toPromptResult takes text and full results', () => {
  expect(toPromptResult('x')).toEqual({ messages: [{ role: 'user', content: { type: 'text', text: 'x' } }] });
  expect(toPromptResult({ messages: [] })).toEqual({ messages: [] });
});
