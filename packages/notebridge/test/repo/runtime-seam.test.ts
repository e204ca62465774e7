import { describe, expect, it } from 'vitest';
import { findPastRuntime } from '../../../../scripts/runtime-seam.mjs';

const complaintsOf = (text: string, file = 'packages/cluster/src/some.ts') => findPastRuntime([{ file, text }], []);

describe('the seam of time and chance', () => {
  it.each([
    'const at = Date.now();',
    'const at = new Date();',
    'const at = new Date;',
    'const at = performance.now();',
    'const at = globalThis.performance.now();',
    'const at = globalThis.Date.now();',
    'const at = process.hrtime.bigint();',
    'setTimeout(() => {}, 1);',
    'globalThis.setTimeout(() => {}, 1);',
    'const later = setInterval;',
    'setImmediate(() => {});',
    'const chance = Math.random();',
    "import { randomBytes } from 'node:crypto';",
    "import { randomUUID as id } from 'node:crypto';",
    "import * as crypto from 'node:crypto';\ncrypto.randomUUID();",
    "import { setTimeout as wait } from 'node:timers/promises';",
    "export * from 'timers';",
    "const timers = await import('node:timers');",
    'const signal = AbortSignal.timeout(5);',
  ])('is not passed by %j', (text) => {
    const [complaint = '', ...more] = complaintsOf(text);
    expect(complaint).toMatch(/^packages\/cluster\/src\/some\.ts:\d: uses .* util\/runtime\.ts/);
    expect(more.length).toBeLessThanOrEqual(1);
  });

  it.each([
    'const at = runtime.now();',
    'const end = new Date(endMs).toISOString();',
    'const speed = options.performance;',
    'interface Options { setTimeout: number }',
    "import { createHmac } from 'node:crypto';",
    '// Date.now() is not used here\nconst text = "Math.random()";',
  ])('is kept by %j', (text) => {
    expect(complaintsOf(text)).toEqual([]);
  });

  it('holds for whatever takes a runtime, and in cluster/ without its engine and its tests, and in the files that are named', () => {
    const taking = "import type { Runtime } from '../util/runtime.js';\nconst at = Date.now();";
    expect(complaintsOf(taking, 'packages/notebridge/src/grants/some.ts')).toHaveLength(1);
    expect(complaintsOf(taking.replace('type { Runtime', '{ systemRuntime'), 'packages/notebridge/src/grants/some.ts')).toEqual([]);
    const text = 'const at = Date.now();';
    expect(complaintsOf(text, 'packages/cluster/src/nats/some.ts')).toEqual([]);
    expect(complaintsOf(text, 'packages/cluster/src/some.test.ts')).toEqual([]);
    const file = 'packages/notebridge/src/grants/some.ts';
    expect(complaintsOf(text, file)).toEqual([]);
    expect(findPastRuntime([{ file, text }], [file])).toHaveLength(1);
    expect(findPastRuntime([], [file])).toEqual([expect.stringContaining('is not there')]);
  });
});
