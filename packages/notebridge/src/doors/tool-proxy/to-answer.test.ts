// @module-tag P-071

import { parseJson, printJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { toAnswer } from './to-answer.js';

const text = (...texts: string[]): JsonObject[] => texts.map((each) => ({ type: 'text', text: each }));
const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
const blob = { type: 'resource', resource: { uri: 'file:///a', blob: 'aGk=' } };
const annotated = { type: 'text', text: 'a', annotations: { audience: ['user'] } };
const future = { type: 'hologram', payload: [1] };

/** What the server answered → `result`; then what is sent beside it, or nothing where `result` carries all. */
const table: [name: string, given: JsonObject, result: unknown, beside?: unknown][] = [
  // Structured content is exact.
  ['an object', { structuredContent: { a: 1 } }, { a: 1 }],
  ['a wrapped list of texts', { structuredContent: { result: ['a', 'b'] } }, ['a', 'b']],
  ['a wrapped list of one text', { structuredContent: { result: ['1'] } }, ['1']],
  ['a wrapped true', { structuredContent: { result: true }, content: text('true') }, true],
  ['a wrapped null', { structuredContent: { result: null } }, null],
  ['a wrapped text that reads true', { structuredContent: { result: 'true' }, content: text('true') }, 'true'],
  ['a wrapped 0', { structuredContent: { result: 0 }, content: text('0') }, 0],
  ['a wrapped empty text', { structuredContent: { result: '' } }, ''],
  ['a wrapped object', { structuredContent: { result: { result: 1 } } }, { result: 1 }],
  ['a result beside another member', { structuredContent: { result: 1, more: 2 } }, { result: 1, more: 2 }],
  ['an empty object', { structuredContent: {} }, {}],
  ['structured content that is a list', { structuredContent: [1, 2] }, [1, 2]],
  ['structured content that is false', { structuredContent: false }, false],
  ['structured content that is null, as some print what they leave out', { structuredContent: null, content: text('a') }, 'a'],
  ['its text for older clients, printed small', { structuredContent: { a: 1 }, content: text('{"a":1}') }, { a: 1 }],
  [
    'its text for older clients, printed wide',
    { structuredContent: { a: [1, 'x y'] }, content: text('{\n  "a": [\n    1,\n    "x y"\n  ]\n}') },
    { a: [1, 'x y'] },
  ],
  ['the wrapping in its text', { structuredContent: { result: [1] }, content: text('{"result": [1]}') }, [1]],
  ['another text beside it', { structuredContent: { a: 1 }, content: text('One.') }, { a: 1 }, text('One.')],
  ['texts of its items', { structuredContent: { result: ['a', 'b'] }, content: text('a', 'b') }, ['a', 'b'], text('a', 'b')],
  ['an image beside it', { structuredContent: { a: 1 }, content: [image] }, { a: 1 }, [image]],
  ['no content beside it', { structuredContent: { a: 1 }, content: [] }, { a: 1 }],
  // One text that is an object or array.
  ['an object as text', { content: text('{"a":1}') }, { a: 1 }],
  ['an array as text, spaces around it', { content: text(' \n[1, 2]\n') }, [1, 2]],
  ['a broken object as text', { content: text('{"a":') }, '{"a":'],
  ['a text that only begins like one', { content: text('[note] hello') }, '[note] hello'],
  ['records of type text, as text', { content: text('[{"type":"text","text":"a"}]') }, [{ type: 'text', text: 'a' }]],
  // Any other single text stays text.
  ['a text', { content: text('hello') }, 'hello'],
  ['an empty text', { content: text('') }, ''],
  ['a text that reads true', { content: text('true') }, 'true'],
  ['a text that reads null', { content: text('null') }, 'null'],
  ['a text that reads NaN', { content: text('NaN') }, 'NaN'],
  ['a text that reads as a number', { content: text('1') }, '1'],
  ['a text that is a JSON text', { content: text('"a"') }, '"a"'],
  ['a text of many lines', { content: text('a\nb\r\n') }, 'a\nb\r\n'],
  // Several texts.
  ['two texts', { content: text('a', 'b') }, 'a\nb', text('a', 'b')],
  ['two texts that are objects', { content: text('{}', '[]') }, '{}\n[]', text('{}', '[]')],
  ['a text with more to it', { content: [annotated] }, 'a', [annotated]],
  // Blocks that are no text.
  ['an image', { content: [image] }, [image]],
  ['an image between texts', { content: [...text('a'), image, ...text('b')] }, [...text('a'), image, ...text('b')]],
  ['a blob', { content: [blob] }, [blob]],
  ['a block of the future', { content: [future] }, [future]],
  ['a text without text', { content: [{ type: 'text' }] }, [{ type: 'text' }]],
  // Nothing, and nonsense.
  ['nothing', {}, null],
  ['an empty list of content', { content: [] }, [], []],
  ['an empty list of content, structured content null', { content: [], structuredContent: null }, [], []],
  ['content null', { content: null }, null],
  ['content that is no list', { content: 'a' }, 'a'],
  ['isError false', { content: text('a'), isError: false }, 'a'],
];

describe('toAnswer', () => {
  it.each(table)('makes of %s its result, and sends nothing twice', { tags: ['P-070'] }, (_, given, result, beside) => {
    const answer = toAnswer(given);
    expect(answer).toEqual({
      success: true,
      result,
      error: null,
      is_error: false,
      meta: null,
      error_code: null,
      ...(beside === undefined ? {} : { content: beside }),
    });
  });

  it('keeps numbers exactly, structured or in a text', () => {
    const exact = '{"big":12345678901234567890,"float":1.0}';
    expect(printJson(toAnswer(parseJson(`{"structuredContent":${exact}}`) as JsonObject).result)).toBe(exact);
    expect(printJson(toAnswer({ content: text(exact) }).result)).toBe(exact);
  });

  it.each([
    ['one text', { content: text('No.') }, { error: 'No.', result: 'No.' }],
    [
      'texts',
      { content: text('No.', 'Not at all.') },
      { error: 'No.\nNot at all.', result: 'No.\nNot at all.', content: text('No.', 'Not at all.') },
    ],
    ['an image', { content: [...text('No.'), image] }, { error: 'No.', result: 'No.', content: [...text('No.'), image] }],
    ['a JSON text', { content: text('{"a":1}') }, { error: '{"a":1}', result: '{"a":1}' }],
    [
      'structured content',
      { content: text('No.'), structuredContent: { why: 1 } },
      { error: 'No.', result: 'No.', structured_content: { why: 1 } },
    ],
    ['nothing', {}, { error: 'The tool failed and did not say why.', result: '' }],
  ])('makes of a failure with %s an error', (_, given, expected) => {
    const same = { success: false, is_error: true, meta: null, error_code: null };
    expect(toAnswer({ ...given, isError: true })).toEqual({ ...same, ...expected });
  });

  it('passes the metadata on, and an error code of ours in it', () => {
    const _meta = { 'notebridge/error_code': 'not_connected', other: 1 };
    expect(toAnswer({ content: text('No.'), isError: true, _meta })).toMatchObject({ meta: _meta, error_code: 'not_connected' });
    expect(toAnswer({ content: [], isError: true, _meta: { 'notebridge/error_code': 'toString' } }).error_code).toBeNull();
    expect(toAnswer({ content: [], _meta: 'no object' }).meta).toBeNull();
  });
});
