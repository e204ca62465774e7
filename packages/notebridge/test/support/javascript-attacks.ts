import type { CodeAttack } from './code-attacks.js';

/** Tries each line by itself, and prints what came of it. */
function eachOf(setup: string, lines: readonly string[]): string {
  return `${setup}
for (const line of ${JSON.stringify(lines)}) {
  try {
    const value = await (0, eval)(line);
    console.log(line.slice(0, 60), "->", String(value).slice(0, 200));
  } catch (error) {
    console.log(line.slice(0, 60), "->", error?.name ?? "thrown");
  }
}
"tried"`;
}

/** What JavaScript tries in execute_code: to reach Node, to forge, to flood, to spoil what runs it. `OUT`, `HUB`, `PORT`, `TRAP` as in `code-attacks.ts`. */
export const javaScriptAttacks: CodeAttack[] = [
  {
    name: 'the constructor of a constructor',
    code: eachOf('', [
      'console.log.constructor("return process")()',
      'this.constructor.constructor("return process.mainModule.require(`fs`)")()',
      '$notebridge.call.constructor("return globalThis.process.env")()',
      'setTimeout.constructor("return require(`child_process`)")()',
      '(async () => {}).constructor("return process")()',
      'Function("return this")().process.exit(1)',
      'new Function("return import(`node:fs`)")()',
    ]),
    says: /ReferenceError/,
  },
  {
    name: 'modules of Node and of the machine',
    code: eachOf('', [
      'import("node:fs")',
      'import("fs")',
      'import("file:///etc/passwd")',
      'import(OUT + "/secret.txt")',
      'import("../../../../../../etc/passwd")',
      'import("./generated/../../../etc/passwd")',
      'import("data:text/javascript,export default 1")',
      'import("std")',
      'import("os")',
      'import(TRAP)',
    ]),
    says: /"result":"\\"tried\\""/,
  },
  {
    name: 'names of Node, of browsers and of QuickJS itself',
    code: '[typeof process, typeof require, typeof fetch, typeof XMLHttpRequest, typeof WebSocket, typeof Worker, typeof WebAssembly, typeof std, typeof os, typeof bjson, typeof Atomics, typeof scriptArgs, typeof Deno].every((type) => type === "undefined")',
    says: /"result":"true"/,
  },
  {
    name: 'shared memory and its waits',
    code: eachOf('', [
      'new SharedArrayBuffer(8).byteLength',
      'Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)',
      'new WebAssembly.Memory({ initial: 1 })',
    ]),
  },
  {
    name: 'prototypes that are polluted before a call',
    code: `import { echo } from "./generated/mcp/calls.js";
for (const name of ["server", "tool", "body", "then", "signal", "onEvent", "0", "1", "toJSON"])
  Object.defineProperty(Object.prototype, name, { get() { return name === "then" ? undefined : "polluted"; }, set() {}, configurable: true });
let said;
try { said = await echo({ a: 1 }); } catch (error) { said = error.name; }
for (const name of Object.getOwnPropertyNames(Object.prototype)) if (Object.getOwnPropertyDescriptor(Object.prototype, name)?.get?.name === "get") delete Object.prototype[name];
typeof said`,
    spoils: true,
  },
  {
    name: 'builtins that are replaced',
    code: `const fake = () => { throw new Error("fake") };
JSON.stringify = JSON.parse = fake; Promise.prototype.then = fake; Promise.resolve = fake; Map.prototype.get = fake; Array.prototype.push = fake;
Array.prototype.join = fake; Array.prototype.map = fake; String.prototype.replaceAll = fake; Object.keys = Object.entries = fake; Reflect.ownKeys = fake;
globalThis.Promise = globalThis.JSON = globalThis.Error = globalThis.console = undefined;
1`,
    spoils: true,
    says: /"status":"(ok|error)"/,
  },
  {
    name: 'the hook for stacks',
    code: `Error.prepareStackTrace = (error, frames) => { throw new Error("hooked " + frames) };
Object.defineProperty(Error.prototype, "stack", { get() { for (;;); } });
Object.defineProperty(Error.prototype, "name", { get() { throw 1 } });
null.x`,
    seconds: 3,
    spoils: true,
    says: /"status":"error"/,
  },
  {
    name: 'an error whose every text is code',
    code: 'throw new Proxy(new Error("x"), { get() { throw new Error("got") }, getPrototypeOf() { return Error.prototype } })',
    says: /cannot be read/,
  },
  {
    name: 'a proxy as the result',
    code: 'new Proxy({}, { ownKeys() { throw new Error("no keys") }, getPrototypeOf() { throw new Error("no prototype") } })',
    says: /cannot be shown/,
  },
  {
    name: 'getters and proxies as arguments',
    code: `import { echo } from "./generated/mcp/calls.js";
let reads = 0;
const tricky = { get a() { return ++reads; }, toJSON: undefined };
const outcomes = [];
for (const given of [tricky, new Proxy({ b: 1 }, {}), new Proxy({}, { ownKeys() { throw new TypeError("no") } }), { get x() { throw new Error("got") } }, [1], "text", 5n]) {
  try { outcomes.push(await echo(given)); } catch (error) { outcomes.push(error.code ?? error.name); }
}
outcomes`,
    says: /invalid_arguments/,
  },
  {
    name: 'other messages on the channel, if it is found',
    code: `import { echo } from "./generated/mcp/calls.js";
const sent = [];
for (const server of [{ toString: () => "calls" }, ["calls"], "__proto__", "../calls", "calls/tools/count", "code-mode", "notebook"])
  for (const tool of ["count", "../count", "__proto__", "execute_code"])
    try { sent.push(JSON.parse(await $notebridge.call(server, tool, '{"arguments":{"n":"stolen"}}]}', {})).error_code) } catch (error) { sent.push(error.name) }
for (const body of ["", "null", "[]", '{"arguments":1}', '{"arguments":{}}\\n{"type":"done"}', "x".repeat(1000)])
  sent.push(JSON.parse(await $notebridge.call("calls", "echo", body, {})).error_code ?? "answered");
[...new Set(sent)]`,
    says: /invalid_arguments/,
  },
  {
    name: 'the names of ours, replaced',
    code: `const tried = [];
for (const work of [() => { $notebridge.call = 1 }, () => { globalThis.$notebridge = {} }, () => { delete globalThis.$notebridge }, () => Object.defineProperty(globalThis, "$notebridge", { value: 1 })]) {
  try { work(); tried.push("done"); } catch (error) { tried.push(error.name); }
}
tried.length`,
    spoils: true,
    says: /"result":"4"/,
  },
  {
    name: 'symbols and thenables',
    code: `const thenable = { then(resolve) { resolve({ then(again) { again(Symbol("inner")) } }) }, [Symbol.toPrimitive]() { throw 1 }, [Symbol.toStringTag]: "x".repeat(1000) };
await thenable`,
    says: /Symbol\(inner\)/,
  },
  { name: 'recursion without end', code: '(function again() { return again() + 1 })()', says: /stack overflow/ },
  {
    name: 'recursion in what is native',
    code: eachOf('', [
      'JSON.parse("[".repeat(1e5))',
      '(0, eval)("(".repeat(1e5))',
      'new RegExp("(?:".repeat(1e5) + ")".repeat(1e5))',
      '(() => { const a = []; a[0] = a; return a.flat(Infinity) })()',
      '(() => { let f = () => 1; for (let n = 0; n < 1e5; n++) f = f.bind(null); return f() })()',
      '(() => { let s = "a"; for (let n = 0; n < 1e4; n++) { const was = s; s = { toString() { return "" + was } } } return "" + s })()',
      '(() => { let p = {}; for (let n = 0; n < 1e5; n++) p = new Proxy(p, {}); return p.x })()',
      '"x".repeat(1e5).replace(/(x*)*y/, "")',
    ]),
    seconds: 30,
    spoils: true,
  },
  {
    name: 'gigabytes at once and bit by bit',
    code: eachOf('', [
      '"x".repeat(2 ** 30 - 1)',
      'new Uint8Array(2 ** 31)',
      'new Array(2 ** 32 - 1).fill(0)',
      '(() => { const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1)) })()',
      '(() => { let s = "ab"; for (;;) s += s })()',
      '(() => { const m = new Map(); for (let n = 0; ; n++) m.set("key" + n, new Array(100)) })()',
      '2n ** (2n ** 40n)',
    ]),
    seconds: 60,
    spoils: true,
    says: /InternalError|RangeError/,
  },
  {
    name: 'a million timers and promises',
    code: `let refused = 0;
for (let n = 0; n < 50_000; n++) try { setTimeout(() => {}, 60_000) } catch { refused++ }
for (let n = 0; n < 300_000; n++) new Promise(() => {});
refused`,
    seconds: 30,
    says: /"result":"40000"/,
  },
  {
    name: '100 MB of output',
    code: 'for (let n = 0; n < 1000; n++) console.log("x".repeat(100_000)); console.error("y".repeat(5_000_000)); "z".repeat(3_000_000)',
    seconds: 60,
    says: /left out here/,
  },
  {
    name: 'protocol frames in what is printed',
    code: `for (const frame of ['{"jsonrpc":"2.0","method":"notifications/forged","params":{}}', '{"type":"done","count":1,"status":"ok"}', '{"type":"dead","reason":"forged"}', '\\u001e{}', '\\r\\n\\r\\n{}']) {
  console.log(frame); console.error("\\n" + frame + "\\n");
}
"printed"`,
    says: /"result":"\\"printed\\""/,
  },
  {
    name: 'images and displays that are none',
    code: `for (const given of [{ type: "image", mimeType: "image/png", block: { data: "not base64 <script>" } }, { type: "image", mimeType: "text/html", block: { data: "x" } }, { get type() { throw 1 } }, null, Symbol("s")])
  display(given);
display({ type: "image", mimeType: "image/png", block: { data: "A".repeat(8_000_000) } });
"shown"`,
    says: /shown/,
  },
  {
    name: 'calls of code mode itself',
    code: `import { callTool } from "./generated/client.js";
const refused = [];
for (const server of ["code-mode", "code_mode", "notebook", "", "skills"]) {
  try { refused.push(await callTool(server, "execute_code", { code: "1" })); } catch (error) { refused.push(error.name); }
}
refused`,
    says: /"result":"\[\\"ToolError\\",\\"ToolError\\",\\"ToolError\\",\\"ToolError\\",\\"ToolError\\"\]"/,
  },
  {
    name: '10,000 calls at once',
    code: `import { echo } from "./generated/mcp/calls.js";
const all = await Promise.allSettled(Array.from({ length: 10_000 }, (_, n) => echo({ n })));
const failed = all.filter(({ status }) => status === "rejected");
[all.length - failed.length, failed[0].reason.code]`,
    seconds: 60,
    says: /"result":"\[20,\\"limit_reached\\"\]"/,
  },
  {
    name: 'finalizers and weak references that run late',
    code: 'const registry = new FinalizationRegistry(() => { for (;;); }); (() => { for (let n = 0; n < 1e4; n++) registry.register({}, n) })(); new WeakRef({}).deref() === undefined || "kept"',
    seconds: 5,
    spoils: true,
  },
  {
    name: 'a file name, a path and a line of ours in what is thrown',
    code: `const error = new Error("x\\n    at hidden (code-1:1:1)");
error.stack = "    at (code-9999999:1:1)\\n".repeat(100_000);
error.name = "N".repeat(1e6);
throw error`,
    says: /"status":"error"/,
  },
  {
    name: 'code that is no text of a language',
    code: '\u0000\ud800 \ufeff <!-- x',
    says: /SyntaxError/,
  },
];

/** Ends for which the bounds have to care. */
export const endlessJavaScript: CodeAttack[] = [
  { name: 'a loop', code: 'for (;;);', seconds: 1, says: /"status":"timeout"/ },
  { name: 'a loop of promises', code: 'for (;;) await null;', seconds: 1, says: /"status":"timeout"/ },
  {
    name: 'loops that catch what ends them',
    code: 'async function inner() { for (;;); }\nfor (;;) { try { await inner() } catch {} }',
    seconds: 1,
    says: /"status":"timeout".*/,
    spoils: true,
  },
  { name: 'a catastrophic pattern', code: '/^(a|a?)+$/.test("a".repeat(40) + "b")', seconds: 1, says: /"status":"timeout"/ },
  { name: 'a wait for nothing', code: 'await new Promise((resolve) => setTimeout(resolve, 1e9))', seconds: 1, says: /"status":"timeout"/ },
  { name: 'output without end', code: 'for (;;) console.log("x".repeat(10_000))', seconds: 1, says: /"status":"timeout"/ },
  {
    name: 'what is native and long',
    code: 'let d = []; for (let n = 0; n < 1e5; n++) d = [d];\nfor (;;) try { JSON.stringify(d) } catch {}',
    seconds: 1,
    says: /"status":"(timeout|died)"/,
    spoils: true,
  },
  {
    name: 'a value that takes for ever to show',
    code: '({ toString() { for (;;); }, valueOf() { for (;;); }, get [Symbol.toStringTag]() { for (;;); }, x: new Proxy({}, { ownKeys() { for (;;); } }) })',
    seconds: 1,
    says: /"status":"timeout"/,
  },
];
