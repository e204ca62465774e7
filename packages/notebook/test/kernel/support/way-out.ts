/** The way out of Python by which code once ran in the process that started the kernel: its steps, and a victim for them. */
import { type ChildProcess, spawn } from 'node:child_process';

/** A getter of Node's own options, read with the process as `this`. */
export const takeProcess = `
import js, json, asyncio
from pyodide.ffi import to_js, create_proxy
O = js.Object
got = []
getter = O.fromEntries(to_js([["get", create_proxy(lambda this: got.append(this), capture_this=True)], ["configurable", True]]))
O.defineProperty(O.prototype, "noDeprecation", getter)
try:
    target = O.getPrototypeOf(js.AbortSignal).new()
    for _ in range(13): target.addEventListener("x", create_proxy(lambda *given: None))
finally:
    del O.prototype.noDeprecation
P = got[0]`;

/** A set whose \`has\` says yes to what the checks ask for. */
export const spoilChecks = (address: string) => `
import js
from pyodide.ffi import to_js
mine = to_js({"http://${address}", "${address}", "GET"})
S = mine.constructor
original = S.prototype.has
S.prototype.has = original.bind(mine)`;

/** A Node process that a signal makes a debugger's target. */
export async function startVictim() {
  const child: ChildProcess = spawn(process.execPath, ['--inspect-port=0', '--eval', 'setInterval(() => {}, 1000); console.log("up")'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let onInspector = (_url: string) => {};
  const inspectorUrl = new Promise<string>((resolve) => {
    onInspector = resolve;
  });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
    const url = said.match(/ws:\/\/\S+/)?.[0];
    if (url) onInspector(url);
  });
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  return {
    pid: child.pid,
    inspectorUrl,
    async end() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
