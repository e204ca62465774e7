/** JavaScript by QuickJS, in its process and sandbox. */
import { Listeners } from '@notebridge/kit/listeners';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KernelTools, ToolCall, ToolCallOptions, ToolPackage } from '../../src/kernel/kernel-tools.js';
import { createQuickJsKernel } from '../../src/kernel/quickjs-kernel.js';
import type { WorkerKernel } from '../../src/kernel/worker-kernel.js';
import { type BuiltKernel, buildKernel } from './support/built-kernel.js';
import { interruptGraceMs, measure } from './support/kernel-harness.js';
import { interruptWhen, type Ran, runCell } from './support/run-cell.js';

const slow = 90_000;

/** Tools that do what the test says. Code calls them by the channel, as the bindings do. */
class Tools implements KernelTools {
  readonly package: ToolPackage = { state: 'none', reason: 'a test has none' };
  readonly calls: (ToolCall & ToolCallOptions)[] = [];
  answer: (call: ToolCall & ToolCallOptions) => Promise<string> = async ({ body }) => body;

  start(): void {}

  onPackage(listener: (next: ToolPackage) => void): () => void {
    return new Listeners<ToolPackage>().add(listener);
  }

  call(call: ToolCall, options: ToolCallOptions): Promise<string> {
    const whole = { ...call, ...options };
    this.calls.push(whole);
    return this.answer(whole);
  }
}

const until = ({ signal }: ToolCallOptions): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }));

describe('the kernel of JavaScript', () => {
  const tools = new Tools();
  let built: BuiltKernel;
  let kernel: WorkerKernel;
  const run = (source: string, signal?: AbortSignal): Promise<Ran> => runCell({ kernel }, source, signal);
  const call = (body: string, more = '') => `$notebridge.call("server", "tool", ${JSON.stringify(body)}, {${more}})`;
  beforeAll(async () => {
    built = await buildKernel({ quickJs: true });
    kernel = createQuickJsKernel({ tools, interruptGraceMs, folderUrl: built.folder });
    await kernel.start();
  }, slow);
  afterEach(() => {
    tools.calls.length = 0;
    tools.answer = async ({ body }) => body;
  });
  afterAll(async () => {
    await kernel?.close();
    built?.dispose();
  });

  test('says what it is, and what stands between its code and the machine', () => {
    expect(kernel.info).toMatchObject({ name: 'quickjs', language: 'javascript', version: 'ES2023' });
    const runtime = kernel.layers?.find(({ name }) => name === 'runtime');
    expect(runtime).toMatchObject({ active: true, text: expect.stringContaining('QuickJS') });
  });

  test('the last expression is the result: as JSON where it is JSON, a promise as what it settles to', async () => {
    for (const [source, shown] of [
      ['1 + 1', '2'],
      ['[1, { a: "b" }, null]', '[1,{"a":"b"},null]'],
      ['"text"', '"text"'],
      ['({ a: undefined, f() {}, get g() { throw 1 } })', '{a: undefined, f: [Function: f], g: [Getter]}'],
      ['new Map([["a", new Set([1n])]])', 'Map(1) {"a" => Set(1) {1n}}'],
      ['class P { x = NaN; #y = 1 }\nnew P()', 'P {x: NaN}'],
      ['new Uint8Array(3)', 'Uint8Array(3) [0, 0, 0]'],
      ['[new Date(0), /x/g, Symbol("s"), -0]', '[1970-01-01T00:00:00.000Z, /x/g, Symbol(s), -0]'],
      ['const own = {}; own.own = own; own', '{own: [Circular]}'],
      ['async function f() { return [5] }\nf()', '[5]'],
      ['Promise.all([1, 2].map(async (n) => n * 2))', '[2,4]'],
    ])
      expect((await run(source ?? '')).result, source).toBe(shown);
    for (const source of ['undefined', 'let u', 'if (true) 5', '', '// nothing', 'console.log']) {
      const { outputs } = await run(source);
      expect(outputs.length, source).toBe(source === 'console.log' ? 1 : 0);
    }
  });

  test('names of the top level stay, and may be declared again', async () => {
    await run('const a: number = 1; let b = 2; class C { static d = 3 } function e() { return a + b + C.d }');
    expect((await run('e()')).result).toBe('6');
    expect((await run('const a = 10; let b; class C { static d = 1 }\n[e(), b]')).result).toBe('[NaN, undefined]');
  });

  test('is TypeScript, with await at the top, and modern', async () => {
    const source = `interface Point { x: number }
type Maybe<T> = T | undefined;
enum Size { Small = 1, Large }
const pick = async <T,>(value: Maybe<T>): Promise<T> => value as T;
const point = await pick<Point>({ x: Size.Large });
[point!.x, Object.groupBy([1, 2], (n: number) => (n % 2 ? "odd" : "even")), [3, 1].toSorted(), [1].at(-1), "a-b".replaceAll("-", "+")]`;
    expect((await run(source)).result).toBe('[2,{"odd":[1],"even":[2]},[1,3],1,"a+b"]');
  });

  test('console writes to both streams, in order', async () => {
    const { stdout, stderr } = await run(
      'console.log("a", { b: 1 }, [2]); console.error("%s is %d", "c", "3"); console.group("d"); console.info("e\\nf")',
    );
    expect([stdout, stderr]).toEqual(['a {"b":1} [2]\nd\n  e\n  f\n', 'c is 3\n']);
  });

  test('an error has its name, its text and the lines of the code', async () => {
    await run('function half(x) {\n  return x.y.z;\n}');
    const { status, error } = await run('const one = 1;\n\nhalf({ one });');
    expect([status, error?.ename]).toEqual(['error', 'TypeError']);
    expect(error?.traceback.join('\n')).toMatch(
      /^TypeError: cannot read property 'z' of undefined\n {2}at half \(code-\d+:2:\d+\)\n[^]*\(code:3:\d+\)\n {2}line 3: half\(\{ one \}\);$/,
    );
    expect((await run('x = (')).error?.traceback.join('\n')).toMatch(/^SyntaxError: Unexpected token\n {2}line 1: x = \(\n +\^$/);
    expect((await run('throw { code: 5 }')).error).toMatchObject({ ename: 'Thrown', evalue: '{"code":5}' });
    expect((await run('throw new Error("a", { cause: new TypeError("b") })')).error?.evalue).toBe('a\ncaused by TypeError: b');
    expect((await run('fetch("https://example.com")')).error?.traceback[0]).toContain('files and networks are reached by tools');
    expect((await run('import fs from "node:fs"')).error?.evalue).toContain('There is no module "node:fs"');
    expect((await run('import { a } from "./generated/mcp/b.js"')).error?.evalue).toBe('There is nothing to import: a test has none');
  });

  test('timers and the names of the web that bindings need', async () => {
    const source = `const seen = [];
const every = setInterval(() => seen.push("i"), 5);
await new Promise((resolve) => setTimeout(resolve, 40, "late"));
clearInterval(every);
const controller = new AbortController();
const { signal } = controller;
signal.addEventListener("abort", () => seen.unshift(signal.reason.name));
controller.abort();
[seen[0], seen[1], new TextDecoder().decode(new TextEncoder().encode("é🎈")), atob(btoa("\\xff\\0a")) === "\\xff\\0a", performance.now() > 30]`;
    expect((await run(source)).result).toBe('["AbortError","i","é🎈",true,true]');
  });

  test('what nobody awaits is told when it fails, and waited for a while', { tags: ['P-479'] }, async () => {
    tools.answer = async () => 'done';
    const { stderr, result, stdout } = await run(`(async () => { throw new Error("of a call") })();
[1].forEach(async () => { throw new Error("of forEach") });
setTimeout(() => { throw new Error("of a timer") });
${call('{}')}.then((text) => console.log(text));
"end"`);
    expect(stderr.match(/of a call|of forEach|of a timer/g)?.sort()).toEqual(['of a call', 'of a timer', 'of forEach']);
    expect([result, stdout]).toEqual(['"end"', 'done\n']);
  });

  test('a promise that nothing settles is an error, not a wait', { tags: ['P-479'] }, async () => {
    const { status, error } = await run('await new Promise(() => {})');
    expect([status, error?.evalue]).toEqual(['error', expect.stringContaining('nothing settles')]);
  });

  test('calls of tools go to the host at once, and back in any order', async () => {
    tools.answer = async ({ body, onEvent }) => {
      onEvent?.('half');
      await new Promise((resolve) => setTimeout(resolve, 30 - 10 * Number(body)));
      return `<${body}>`;
    };
    const { result } = await run(`const heard = [];
const all = await Promise.all(["1", "2"].map((body) => $notebridge.call("s", "t", body, { onEvent: (line) => heard.push(line) })));
[...all, ...heard]`);
    expect(result).toBe('["<1>","<2>","half","half"]');
    expect(tools.calls).toMatchObject([{ server: 's', tool: 't', body: '1' }, { body: '2' }]);
  });

  test('calls that nobody awaits are cancelled at the end', { timeout: slow, tags: ['P-479'] }, async () => {
    tools.answer = until;
    const { stderr, result } = await run(`${call('{}')}; 1`);
    expect([result, stderr]).toEqual(['1', expect.stringContaining('1 tool calls that the code did not await')]);
    expect(tools.calls[0]?.signal.aborted).toBe(true);
  });

  describe('an interrupt', () => {
    const soon = () => AbortSignal.timeout(300);

    test.each([
      ['a loop', 'for (;;);'],
      ['a loop that catches', 'for (;;) { try { for (;;); } catch {} finally { globalThis.caught = true } }'],
      ['a loop of promises', 'for (;;) await null'],
      ['promises that make promises', 'const again = () => Promise.resolve().then(again);\nawait again()'],
      ['a pattern', '/^(a+)+$/.test("a".repeat(40) + "b")'],
      ['a wait', 'await new Promise((resolve) => setTimeout(resolve, 60_000))'],
      ['timers', 'setInterval(() => {}, 0);\nawait new Promise((resolve) => setTimeout(resolve, 60_000))'],
      ['a getter', '({ get a() { for (;;); } }).a'],
      ['a proxy that is shown', 'new Proxy({}, { ownKeys() { for (;;); } })'],
      ['generators', 'function* f() { for (;;) yield 1 }\n[...f()].length'],
      ['sorting', 'for (;;) [3, 1, 2].sort(() => { for (;;); })'],
    ])('ends %s, and variables stay', { timeout: slow, tags: ['P-478'] }, async (_, source) => {
      await run('var kept = "kept"; var caught = false');
      const { status, error } = await run(source, soon());
      expect([status, error?.ename]).toEqual(['interrupted', 'Interrupted']);
      expect((await run('[kept, caught]')).result).toBe('["kept",false]');
    });

    test('cancels the calls that the code waits for, and nothing of it goes on', { timeout: slow }, async () => {
      const source = `globalThis.went = [];
for (;;) { try { await ${call('{}')} } catch {} went.push(1); }`;
      const called = new AbortController();
      tools.answer = (call) => {
        called.abort();
        return until(call);
      };
      expect((await run(source, called.signal)).status).toBe('interrupted');
      expect(tools.calls).toHaveLength(1);
      expect(tools.calls[0]?.signal.aborted).toBe(true);
      tools.answer = async () => 'x';
      expect((await run('await new Promise((resolve) => setTimeout(resolve, 50)); went')).result).toBe('[]');
      expect(tools.calls).toHaveLength(1);
    });

    test('that code survives restarts it, and says so', { timeout: slow, tags: ['P-478'] }, async () => {
      const inner = 'let said = false;\nasync function inner() { if (!said) { said = true; console.log("on"); } for (;;); }';
      const source = `${inner}\nfor (;;) { try { await inner() } catch {} }`;
      const { status, error } = await interruptWhen({ kernel }, source, ({ length }) => length > 0);
      expect([status, error?.ename]).toEqual(['interrupted', 'KernelRestarted']);
      expect((await run('1 + 1')).result).toBe('2');
    });
  });

  test('a loop left in the background ends with its execution', { timeout: slow }, async () => {
    expect((await run('(async () => { for (;;) await null })(); 5')).result).toBe('5');
    expect((await run('1 + 1')).result).toBe('2');
  });

  test('100 MB of output come as fast as they are taken, and an interrupt ends them', { timeout: slow, tags: ['P-478'] }, async () => {
    const measured = await measure(kernel, 'for (let i = 0; i < 1000; i++) console.log("x".repeat(100_000))');
    expect(measured).toMatchObject({ status: 'ok', characters: 100_001_000 });
    expect(measured.longest).toBeLessThan(200_000);
    const endless = await measure(kernel, 'for (;;) console.log("x".repeat(1000))', { interruptAfterMs: 300 });
    expect(endless.status).toBe('interrupted');
  });

  test('memory and stack have an end that code can catch', { timeout: slow, tags: ['P-478'] }, async () => {
    for (const source of [
      'new Uint8Array(1e9)',
      '"x".repeat(2 ** 29)',
      'const big = []; for (;;) big.push(new Uint8Array(1e7))',
      '(function r() { return r() + 1 })()',
      'JSON.parse("[".repeat(100_000))',
      'eval("(".repeat(100_000))',
      'new RegExp("(".repeat(100_000) + ")".repeat(100_000))',
      'class A { get x() { return this.x } }\nnew A().x',
      'new Proxy({}, { get: (t, k, r) => r[k] }).x',
      'let deep = []; for (let i = 0; i < 50_000; i++) deep = [deep];\ndeep.flat(Infinity)',
    ]) {
      const { error } = await run(`${source}`);
      expect(error?.evalue, source).toMatch(/out of memory|stack overflow|invalid array|too many captures|too long|nested/i);
    }
    expect((await run('big.length = 0; 1 + 1')).result).toBe('2');
  });
});

test('has as much memory as it is given, also without a sandbox', { timeout: slow }, async () => {
  const built = await buildKernel({ quickJs: true });
  const kernel = createQuickJsKernel({ sandbox: 'off', maxCodeBytes: 32 * 1024 ** 2, folderUrl: built.folder });
  await kernel.start();
  expect((await runCell({ kernel }, 'new Uint8Array(40_000_000)')).error?.evalue).toBe('out of memory');
  expect(kernel.layers?.[0]).toMatchObject({ name: 'operating system', active: false });
  await kernel.close();
  await expect(kernel.execute('1', { onOutput: () => {} })).rejects.toMatchObject({ code: 'kernel_closed' });
  built.dispose();
});
