import { describe, expect, it } from 'vitest';
import type { Printed } from '../core/wire.js';
import { joinStrings, LongString, longStringOf, printWithTokens, setUnread } from './unread-members.js';

const token = Buffer.from('"caf\u00e9 \\u0041\\n"');
const text = 'caf\u00e9 A\n';

function textOf(printed: Printed): string {
  return typeof printed === 'string' ? printed : Buffer.concat(printed).toString();
}

function createHolder(string = new LongString(token)): { [key: string]: unknown } {
  const holder = { type: 'text', text: '' };
  setUnread(holder, 'text', string);
  return holder;
}

describe('setUnread', () => {
  it('makes a property that is read, listed, copied and printed like any other', () => {
    const holder = createHolder();
    expect(holder.text).toBe(text);
    expect(Object.entries(holder)).toEqual([
      ['type', 'text'],
      ['text', text],
    ]);
    expect({ ...holder }).toStrictEqual({ type: 'text', text });
    expect(structuredClone(holder)).toStrictEqual({ type: 'text', text });
    expect(JSON.stringify(holder)).toBe(JSON.stringify({ type: 'text', text }));
  });

  it('makes a property that can be written and removed; the long string is gone then', () => {
    const written = createHolder();
    written.text = 'other';
    expect(written).toStrictEqual({ type: 'text', text: 'other' });
    expect(longStringOf(written, 'text')).toBeUndefined();
    const removed = createHolder();
    delete removed.text;
    expect(removed).toStrictEqual({ type: 'text' });
    expect(longStringOf(removed, 'text')).toBeUndefined();
    const frozen = Object.freeze(createHolder());
    expect(frozen.text).toBe(text);
    expect(frozen.text).toBe(text);
  });

  it('is distinguished from ordinary properties, without a look at their values', () => {
    const holder = createHolder();
    expect(longStringOf(holder, 'text')?.token).toBe(token);
    expect(longStringOf(holder, 'type')).toBeUndefined();
    expect(longStringOf(holder, 'toString')).toBeUndefined();
    expect(longStringOf({ text }, 'text')).toBeUndefined();
    expect(longStringOf({ ...holder }, 'text')).toBeUndefined();
  });
});

describe('printWithTokens', () => {
  it('puts tokens in their places as they came, however often they stand there', () => {
    const string = new LongString(token);
    const value = { a: createHolder(string), b: [1, createHolder(string), createHolder()], c: '"' };
    const printed = printWithTokens(() => JSON.stringify(value));
    expect(printed).toHaveLength(7);
    expect(textOf(printed).split(token.toString())).toHaveLength(4);
    expect(JSON.parse(textOf(printed))).toEqual(JSON.parse(JSON.stringify(value)));
  });

  it('gives text where there is no long string, and after what was read and written', () => {
    expect(printWithTokens(() => '{}')).toBe('{}');
    const holder = createHolder();
    holder.text = 'other';
    expect(printWithTokens(() => JSON.stringify(holder))).toBe('{"type":"text","text":"other"}');
  });

  it('decodes after all where the string is read while it is printed', () => {
    const holder = createHolder();
    const curious = { toJSON: () => `first letters: ${String(holder.text).slice(0, 3)}` };
    expect(textOf(printWithTokens(() => JSON.stringify({ curious, holder })))).toBe(JSON.stringify({ curious, holder }));
    const quoting = { toJSON: () => `<${String(holder.text)}>` };
    expect(textOf(printWithTokens(() => JSON.stringify({ quoting, holder })))).toBe(JSON.stringify({ quoting, holder }));
  });

  it('ends with the printing, also when that fails', () => {
    const holder = createHolder();
    const fail = (): string => {
      JSON.stringify(holder);
      throw new RangeError('too deep');
    };
    expect(() => printWithTokens(fail)).toThrow('too deep');
    expect(holder.text).toBe(text);
  });
});

describe('joinStrings', () => {
  it('joins as Array.join does, long or not', () => {
    expect(joinStrings(['a', 'b'], '\n')).toBe('a\nb');
    expect(joinStrings([], '\n')).toBe('');
    const joined = joinStrings(['"a"', new LongString(token), ''], '\n') as LongString;
    expect(joined.text).toBe(`"a"\n${text}\n`);
    expect(JSON.parse(joined.token.toString())).toBe(joined.text);
    const alone = new LongString(token);
    expect(joinStrings([alone], '\n')).toBe(alone);
  });
});
