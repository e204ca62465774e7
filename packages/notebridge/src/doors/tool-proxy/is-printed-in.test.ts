import { parseJson } from '@notebridge/protocol/exact-json';
import { describe, expect, it } from 'vitest';
import { isPrintedIn } from './to-answer.js';

const value = { a: [1, -2.5, 'x "y"\n', true, null, {}, []], 'b c': { d: 'é' } };

describe('isPrintedIn', () => {
  it.each([0, 1, 4, '\t', ' \n'])('finds a value in its JSON, indented by %j', (space) => {
    expect(isPrintedIn(JSON.stringify(value, null, space), value)).toBe(true);
    expect(isPrintedIn(` ${JSON.stringify(value, null, space)}\r\n`, value)).toBe(true);
  });

  it('compares exact numbers as written', () => {
    expect(isPrintedIn('[1.0]', parseJson('[1.0]'))).toBe(true);
    expect(isPrintedIn('[1]', parseJson('[1.0]'))).toBe(false);
  });

  it.each(['', '{}', '[1,2', '[1,2]]', '[1,2] x', '[1,,2]', '[12]', '[1,3]', '["1","2"]', '[1 2]'])(
    'does not find [1, 2] in %j',
    (text) => {
      expect(isPrintedIn(text, [1, 2])).toBe(false);
    },
  );

  it('does not find one of other members, or in another order', () => {
    expect(isPrintedIn('{"a":1}', { a: 1, b: 2 })).toBe(false);
    expect(isPrintedIn('{"a":1,"b":2}', { a: 1 })).toBe(false);
    expect(isPrintedIn('{"b":2,"a":1}', { a: 1, b: 2 })).toBe(false);
  });

  it('gives up on what is nested too deeply, without failing', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(isPrintedIn(deep, parseJson(deep))).toBe(false);
  });
});
