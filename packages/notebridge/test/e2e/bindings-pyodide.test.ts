// @module-tag P-081

import { join } from 'node:path';
import { emitPython } from '@notebridge/bindings/python';
import { loadPyodide, type PyodideInterface } from 'pyodide';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { returnValues } from '../support/return-values.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

const node = (file: string, ...args: string[]) => ({ command: process.execPath, args: [fixtureServer(file), ...args] });
const loadMs = 60_000;

describe('the Python bindings in Pyodide', () => {
  let hub: ServedHub;
  let pyodide: PyodideInterface;
  beforeAll(async () => {
    hub = await ServedHub.start({
      servers: { calls: node('calls.mjs', '${HOME}/count'), values: node('values.mjs') },
      args: ['--notebook', 'none'],
    });
    pyodide = await loadPyodide();
    const { files } = await emitPython({ servers: [], skills: true, hubUrl: hub.url });
    for (const [path, text] of files) {
      const file = `/packages/generated/${path}`;
      pyodide.FS.mkdirTree(file.slice(0, file.lastIndexOf('/')));
      pyodide.FS.writeFile(file, text);
    }
    pyodide.globals.set('TOKEN', hub.ownerToken);
    await pyodide.runPythonAsync(
      'import sys, os\nsys.path.insert(0, "/packages")\nos.environ["NOTEBRIDGE_TOKEN"] = TOKEN\nfrom generated import client',
    );
  }, loadMs);
  afterAll(() => hub[Symbol.asyncDispose]());

  const run = async (code: string): Promise<unknown> => JSON.parse((await pyodide.runPythonAsync(`import json\n${code}`)) as string);

  it('call with the address of the manifest and the token of the environment', async () => {
    expect(await run('json.dumps(await client.call_tool("calls__echo", {"a": "é\\ud800"}))')).toEqual({ a: 'é\ud800' });
  });

  it('call where Python has no more of JavaScript than fetch needs', async () => {
    const called = await run(`
import types
whole = sys.modules["js"]
sys.modules["js"] = types.SimpleNamespace(**{name: getattr(whole, name) for name in ("fetch", "AbortController", "Object")})
try:
    value = await client.call_tool("calls__echo", {"a": 1})
finally:
    sys.modules["js"] = whole
json.dumps(value)`);
    expect(called).toEqual({ a: 1 });
  });

  it('get what the tools return', async () => {
    pyodide.globals.set('cases', JSON.stringify(returnValues));
    const different = await run(`
from generated._media import Blocks, Media, ResourceLink, Text
def as_sent(value):
    if isinstance(value, (Media, ResourceLink)): return [value.block]
    if isinstance(value, Blocks): return [getattr(each, "block", each) for each in value]
    return value
different = []
for case in json.loads(cases):
    value = await client.call_tool("values__give", {"result": case["given"]})
    if repr(as_sent(value)) != repr(json.loads(case["result"])): different.append(case["name"])
json.dumps(different)`);
    expect(different).toEqual([]);
  });

  it('run many calls at once', async () => {
    const code = 'import asyncio\njson.dumps(await asyncio.gather(*(client.call_tool("calls__count", {"n": n}) for n in range(100))))';
    expect(await run(code)).toEqual(Array.from({ length: 100 }, (_, n) => String(n)));
  });

  it('hear progress', async () => {
    const code = 'told = []\nvalue = await client.call_tool("calls__steps", on_progress=told.append)\njson.dumps([value, told])';
    expect(await run(code)).toEqual([
      'done',
      [
        [1, null, null],
        [2, null, null],
        [3, null, null],
      ],
    ]);
  });

  it('cancel at the server when the task is cancelled, or took too long', async () => {
    const has = (line: string): boolean => linesOf(join(hub.home, 'count')).includes(line);
    await pyodide.runPythonAsync('import asyncio\ntask = asyncio.ensure_future(client.call_tool("calls__wait", {"key": "task"}))');
    await vi.waitUntil(() => has('wait task'), { timeout: 45_000 });
    await pyodide.runPythonAsync('task.cancel()');
    await vi.waitUntil(() => has('cancelled task'), { timeout: 45_000 });
    // Time enough to reach the server, which hears of no end of what never came.
    const code = `
try: await client.call_tool("calls__wait", {"key": "slow"}, timeout=4)
except client.ToolError as error: code = error.code
json.dumps(code)`;
    expect(await run(code)).toBe('timeout');
    await vi.waitUntil(() => has('cancelled slow'), { timeout: 45_000 });
  });

  it.each([
    ['a hub that is away', 'client.configure(url="http://127.0.0.1:1", token="t")', 'hub_unreachable'],
    ['a wrong token', 'client.configure(token="nbg_wrong")', 'bad_grant'],
    ['a tool that is not there', 'pass', 'tool_not_found', 'calls__nothing'],
    ['arguments that are no JSON', 'pass', 'invalid_arguments', 'calls__echo', '{"a": object()}'],
  ])('say what is wrong: %s', async (_, before, expected, tool = 'calls__echo', args = '{}') => {
    const code = `
${before}
try: await client.call_tool("${tool}", ${args})
except client.ToolError as error: code = error.code
finally: client.configure(url=None, token=None)
json.dumps(code)`;
    expect(await run(code)).toBe(expected);
  });

  it('wait without await where stacks can be switched, and else say how to call', async () => {
    const code = `
from pyodide.ffi import can_run_sync
can = can_run_sync()
try: came = client.call_tool_sync("calls__echo", {"a": 1})
except client.ToolError as error: came = [error.code, "await" in str(error)]
json.dumps([can, came])`;
    const [can, came] = (await run(code)) as [boolean, unknown];
    expect(came).toEqual(can ? { a: 1 } : ['needs_await', true]);
  });
});
