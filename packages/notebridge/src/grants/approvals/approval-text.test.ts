// @module-tag P-426

import { parseJson } from '@notebridge/kit/exact-json';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../../test/support/create-context.js';
import type { RequestContextOptions } from '../../core/request-context.js';
import { Redactor } from '../../util/redactor.js';
import { showCall, toExactText } from './approval-text.js';

const redactor = new Redactor();
redactor.add('hunter2-secret');
const caller: RequestContextOptions['caller'] = {
  sessionId: 's',
  door: 'stdio',
  era: 'legacy',
  clientInfo: { name: 'a\u202e\u001b[2Jgent' },
};

function shown(
  args: unknown,
  { label, tool = 'plain', ...more }: Partial<RequestContextOptions> & { label?: string; tool?: string } = {},
): string {
  const context = createContext('tools/call', {}, { caller, ...more });
  return showCall({ server: 'shop', tool }, { args, exact: toExactText(args), context, label, redactor }).message;
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let at = 0; at < depth; at++) value = [value];
  return value;
}

describe('what a person is shown', () => {
  it('has no secret and no character that hides, moves or reorders others', () => {
    const text = shown({
      'k\u202ey': 'a\u001b[2J\u2028b\u200bc\u{e0041}\n\u3164\u2800\u00a0\ufe0f',
      list: ['Bearer hunter2-secret', { deep: 'hunter2-secret' }],
      'hunter2-secret': 1,
    });
    expect(text).not.toMatch(/hunter2|[\p{Cf}\u2028\u3164\u2800\u00a0]|\ufe0f|(?!\n)\p{Cc}/u);
    for (const part of ['[redacted]', '\\u{202e}', '\\u001b[2J', '\\u{200b}', '\\u{e0041}', '\\n', '\\u{3164}', '\\u{2800}', '\\u{a0}'])
      expect(text).toContain(part);
  });

  it('is not mistaken for another call: what an argument or a name holds is in quotes, on its own line', () => {
    const text = shown({ a: 'x\nServer: "other"', 'b\nTool: "read"': 1 }, { tool: 'plain\nFor: nobody' });
    const heads = text.split('\n').map((line) => line.split(':', 1)[0]);
    expect(heads).toEqual(['Notebridge asks', 'Server', 'Tool', 'Arguments', '  "a"', '  "b\\nTool', 'For']);
    expect(text).toContain('Server: "shop"');
  });

  it('is bounded, and says so with a digest', () => {
    const many = Array.from({ length: 10_000 }, (_, at) => at);
    const text = shown({ long: 'x'.repeat(1_000_000), many, deep: nested(50) });
    expect(text.length).toBeLessThan(6000);
    expect(text).toMatch(/Not all of it is shown: \d+ characters, SHA-256 [\da-f]{64}/);
    // Two calls that differ where nothing is shown have different digests.
    expect(shown({ long: `${'x'.repeat(999_999)}y`, many, deep: nested(50) })).not.toBe(text);
    const wide = shown(Object.fromEntries(many.map((at) => [`k${at}`, at])));
    expect(wide.length).toBeLessThan(6000);
    expect(wide).toContain('… 9900 more');
    expect(shown({ short: 'x' })).not.toContain('Not all of it');
  });

  it('shows eight lists in one another, and says of a ninth that it is cut', () => {
    expect(shown({ deep: nested(8) })).toContain('"deep": [[[[[[[[1]]]]]]]]');
    expect(shown({ deep: nested(8) })).not.toContain('Not all of it');
    expect(shown({ deep: nested(9) })).toContain('"deep": [[[[[[[["…"]]]]]]]]');
    expect(shown({ deep: nested(9) })).toContain('Not all of it is shown');
  });

  it('has every digit of a number, and says of a call without arguments that there are none', () => {
    expect(shown({ n: parseJson('12345678901234567890') })).toContain('"n": 12345678901234567890');
    expect(shown({})).toContain('Arguments:\n  none\n');
    expect(() => shown(nested(200_000))).toThrow('nested too deeply');
  });

  it('names who asks: an agent, code that it runs, and with which grant', () => {
    expect(shown({})).toMatch(/For: an agent that calls itself "a\\u\{202e\}\\u001b\[2Jgent", with your own rights$/);
    const principal = { kind: 'grant', grantId: 'g_1' } as const;
    const code = { ...caller, door: 'tool-proxy', clientInfo: undefined, principal } as const;
    expect(shown({}, { caller: code, label: 'a script' })).toMatch(/For: code in a notebook or script, with the grant g_1 \("a script"\)$/);
    const nestedIn = shown({}, { caller: code, parent: { callId: 'p', caller } });
    expect(nestedIn).toMatch(/For: code that an agent that calls itself "a.*gent" runs, with the grant g_1$/);
    expect(shown({}, { caller: { ...caller, principal: { kind: 'anonymous' } } })).toMatch(/, without a token$/);
  });
});
