// @module-tag P-426

import type { RequestContextOptions } from '@notebridge/protocol/core/request-context';
import { parseJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../../test/support/create-context.js';
import { parseConfig } from '../../config/parse-config.js';
import { secretsOfServer } from '../../upstreams/server-secrets.js';
import { showCall } from './approval-text.js';
import { toReadableCall } from './readable-call.js';

const redactor = new Redactor();
redactor.add('hunter2-secret');
const caller: RequestContextOptions['caller'] = {
  sessionId: 's',
  door: 'stdio',
  era: 'legacy',
  clientInfo: { name: 'a\u202e\u001b[2Jgent' },
};

type Options = Partial<RequestContextOptions> & { label?: string; tool?: string; redactor?: Redactor; beside?: JsonObject };

function shown(args: unknown, options: Options = {}): string {
  return showCall({ server: 'shop', tool: options.tool ?? 'plain' }, optionsOf(args, options)).message;
}

function optionsOf(args: unknown, { label, tool: _, redactor: own = redactor, beside = {}, ...more }: Options = {}) {
  const context = createContext('tools/call', {}, { caller, ...more });
  return { ...toReadableCall({ arguments: args, ...beside }, false), context, label, redactor: own };
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

  it('has all that is sent beside the arguments, and no line for what only carries the call', { tags: ['P-641'] }, () => {
    const beside = { _meta: { progressToken: 1, confirm: true }, options: { cmd: 'rm -rf /\nFor: nobody' } };
    const text = shown({ a: 1 }, { beside });
    const lines = [
      '  "a": 1',
      'Sent beside the arguments:',
      '  "_meta": {"confirm": true}',
      '  "options": {"cmd": "rm -rf /\\nFor: nobody"}',
    ];
    expect(text).toContain(`Arguments:\n${lines.join('\n')}\nFor: `);
    expect(shown({ a: 1 }, { beside: { _meta: { progressToken: 1 } } })).toBe(shown({ a: 1 }));
    const { whole } = showCall({ server: 'shop', tool: 'plain' }, optionsOf({}, { beside: { long: 'x'.repeat(9000) } }));
    expect(whole()).toBe(`  none\nSent beside the arguments:\n  "long": "${'x'.repeat(9000)}"`);
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
    expect(wide).toContain('\n  … 9900 more\n');
    expect(shown({ short: 'x' })).not.toContain('Not all of it');
  });

  it('shows eight lists in one another, and says of a ninth that it is cut', () => {
    expect(shown({ deep: nested(8) })).toContain('"deep": [[[[[[[[1]]]]]]]]');
    expect(shown({ deep: nested(8) })).not.toContain('Not all of it');
    expect(shown({ deep: nested(9) })).toContain('"deep": [[[[[[[[[… 1 more]]]]]]]]]');
    expect(shown({ deep: nested(9) })).toContain('Not all of it is shown');
  });

  it('is the call as it was sent, whatever the config says that is no secret', { tags: ['P-641'] }, () => {
    const env = {
      STAGE: 'production',
      TABLE: 'customers',
      REGION: 'eu-central-1',
      MODE: 'approved',
      LOG_LEVEL: 'Arguments',
      MODEL: 'gpt-4o-mini-2024-07-18',
      FOLDER: '/srv/reports/2026',
      API_URL: 'https://api.example.com/v1',
    };
    const config = parseConfig({ file: '/mcp.json', text: JSON.stringify({ mcpServers: { shop: { command: 'x', env } } }), env: {} });
    const fresh = new Redactor();
    fresh.replace('shop', config.servers.flatMap(secretsOfServer));
    const sql = `drop table ${env.TABLE} in ${env.STAGE}`;
    const text = shown({ sql, ...env }, { redactor: fresh });
    const lines = Object.entries({ sql, ...env }).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
    expect(text).toContain(`Arguments:\n${lines.join('\n')}\nFor:`);
  });

  it('keeps every name distinct, in itself and in an object, whatever is cut or hidden of it', { tags: ['P-641'] }, () => {
    const twins = { ['n'.repeat(200)]: 1, [`${'n'.repeat(199)}m`]: 2, 'hunter2-secret': 3, '[redacted]': 4 };
    const text = shown({ ...twins, in: { ...twins } });
    for (const value of ['1', '2', '3', '4']) expect(text.match(new RegExp(`: ${value}[,}\n]`, 'g'))).toHaveLength(2);
    const names = [...text.matchAll(/^ {2}("n.*?): \d/gm)].map(([, name]) => name);
    expect(new Set(names).size).toBe(2);
    expect(text).toContain('"[redacted]": 3\n  "[redacted]" (2): 4');
    expect(text).toContain('"[redacted]": 3, "[redacted]" (2): 4}');
  });

  it('hides no argument behind a long one, and counts what is left out in words that no value can imitate', { tags: ['P-641'] }, () => {
    const text = shown({ note: Array.from({ length: 30 }, () => 'x'.repeat(400)), command: 'rm -rf /', list: ['a', '… 9 more'] });
    expect(text).toContain('  "command": "rm -rf /"\n  "list": ["a", "… 9 more"]');
    expect(text).toMatch(/"note": \["x+.*, … \d+ more\]\n/);
    expect(text).toContain('Not all of it is shown');
  });

  it('writes out marks that cover what stands around them, and no accent of a language', { tags: ['P-641'] }, () => {
    const text = shown({ a: `e\u0301 Vie\u0302\u0323t ${'z'}${'\u0335'.repeat(6)}`, b: '\u0338" x' });
    expect(text).toContain('e\u0301 Vie\u0302\u0323t z\u0335\u0335\u0335\\u{335}\\u{335}\\u{335}"');
    expect(text).toContain('"\\u{338}\\" x"');
  });

  it('can be read whole: a megabyte of it, and the last member of the last list', { tags: ['P-641'] }, () => {
    const args = {
      long: `${'x'.repeat(1_000_000)}hunter2-secret end`,
      many: Array.from({ length: 1000 }, (_, at) => at),
      deep: nested(50),
    };
    const { whole } = showCall({ server: 'shop', tool: 'plain' }, optionsOf(args));
    const text = whole();
    expect(text).toContain('x[redacted] end"');
    expect(text).toContain(', 998, 999]');
    expect(text).toContain(`${'['.repeat(50)}1${']'.repeat(50)}`);
    expect(text).not.toContain('Not all of it');
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
