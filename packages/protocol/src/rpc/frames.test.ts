import { describe, expect, it } from 'vitest';
import { parseMessage } from '../core/wire.js';
import type { JsonObject } from '../json.js';
import { parseFrame, printFrame, ResultAnswer } from './messages.js';
import { rawTextOf } from './unread-members.js';

const inner = [
  '{}',
  '{"content":[{"type":"text","text":"a\\n\\u0041 \\ud800 \\"} ,"}],"isError":true}',
  '{"a":1,"a":2}',
  ' {"spaced" : [ 1 , 2 ] } ',
  '{"b":\n1}',
  '{"n":1.0,"m":12345678901234567890,"k":-0,"h":1e400}',
  '{"name":"x","arguments":{"id":5,"jsonrpc":"2.0"}}',
  '{"deep":{"__proto__":{"x":1},"constructor":2}}',
  '[]',
  'null',
  '"text"',
  '{},"id":5',
  '{},"id":6',
  '{},"extra":{"result":{}}',
  '{"result":{}},"result":{}',
  '{"unclosed":',
  '',
];
/** Makes a result one that is worth remembering. */
const long = `,"long":"${'x'.repeat(3000)}"`;
const ids = ['5', '0', '007', '-1', '1.0', '123456789012345678', '"abc"', 'null', '5e0'];
const values = [...inner, ...inner.map((value) => value.replace(/\}/, `,"long":"${'x'.repeat(3000)}"}`))];
const texts = values.flatMap((value) => [
  ...ids.flatMap((id) => [
    `{"jsonrpc":"2.0","id":${id},"result":${value}}`,
    `{"result":${value},"jsonrpc":"2.0","id":${id}}`,
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${value}}`,
    `{"method":"tools/call","params":${value},"jsonrpc":"2.0","id":${id}}`,
  ]),
  `{"jsonrpc":"2.0","id":5,"result":${value},"id":6}`,
  `{"jsonrpc":"2.0","id":5,"result":${value}} `,
  `{"jsonrpc":"2.0","id":5,"result":${value}}}`,
  `{"jsonrpc":"2.0","id":5,"error":${value}}`,
  `{"jsonrpc":"2.0","method":"notifications/x","params":${value}}`,
  `{"id":5,"jsonrpc":"2.0","result":${value}}`,
  `{"method":"a\\u0041","params":${value},"jsonrpc":"2.0","id":5}`,
  `{"method":"__proto__","params":${value},"jsonrpc":"2.0","id":5}`,
  `[{"jsonrpc":"2.0","id":5,"result":${value}}]`,
]);

/** What a parser makes of a text, or what it throws. */
function outcomeOf(parse: (text: string) => unknown, text: string): unknown {
  try {
    return { value: parse(text) };
  } catch (error) {
    return { message: String(error) };
  }
}

describe('parseFrame', () => {
  it(`reads each of ${texts.length} texts as the whole parser does, or throws the same`, () => {
    for (const text of texts) expect(outcomeOf(parseFrame, text), text).toEqual(outcomeOf(parseMessage, text));
  });

  it('keeps the text of a result that may stand in a line of ours, and of no other', () => {
    const resultOf = (text: string): object => (parseFrame(text) as { result: object }).result;
    expect(rawTextOf(resultOf(`{"jsonrpc":"2.0","id":5,"result":{"a":1, "a":2${long}}}`))).toBe(`{"a":1, "a":2${long}}`);
    expect(rawTextOf(resultOf(`{"result":{"a":[]${long}},"jsonrpc":"2.0","id":5}`))).toBe(`{"a":[]${long}}`);
    // A line break would break the line; an odd number is printed from its source; a short one is printed as cheaply; a deep one has a bound.
    for (const value of [
      `{"a":\n1${long}}`,
      `{"a":\r1${long}}`,
      `{"a":1.0${long}}`,
      '{"a":1}',
      `{"a":${'['.repeat(1001)}${']'.repeat(1001)}}`,
    ])
      expect(rawTextOf(resultOf(`{"jsonrpc":"2.0","id":5,"result":${value}}`)), value).toBeUndefined();
    const { params } = parseFrame(`{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":1${long}}}`) as { params: object };
    expect(rawTextOf(params)).toBeUndefined();
  });
});

describe('printFrame', () => {
  const received = (): JsonObject =>
    (parseFrame(`{"jsonrpc":"2.0","id":5,"result":{"a" : 1,"b":"\\u0041"${long}}}`) as { result: JsonObject }).result;

  it('responds with the text that a result came in, under another id', () => {
    expect(printFrame(new ResultAnswer('agent "7"', received()))).toBe(
      `{"jsonrpc":"2.0","id":"agent \\"7\\"","result":{"a" : 1,"b":"\\u0041"${long}}}`,
    );
  });

  it('prints a copy, and a result that was changed, as they are', () => {
    expect(printFrame(new ResultAnswer(1, { ...received(), c: 2 }))).toBe(`{"jsonrpc":"2.0","id":1,"result":{"a":1,"b":"A"${long},"c":2}}`);
    const changed = received();
    changed.a = 3;
    expect(printFrame(new ResultAnswer(1, changed))).toBe(`{"jsonrpc":"2.0","id":1,"result":{"a":3,"b":"A"${long}}}`);
    expect(printFrame({ jsonrpc: '2.0', id: 1, result: received() })).toBe(`{"jsonrpc":"2.0","id":1,"result":{"a":1,"b":"A"${long}}}`);
  });
});
