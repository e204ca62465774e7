// @module-tag deep
// @module-tag P-191

/**
 * The way out of Python by which code once ran in the process that started the kernel, step by step, with the runtime layer
 * alone. The victim here is a process of the test's own.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KernelHarness } from './support/kernel-harness.js';
import { openNodeHarness } from './support/node-harness.js';
import { runCell } from './support/run-cell.js';
import { spoilChecks, startVictim, takeProcess } from './support/way-out.js';

const secret = 'the answer of a server that Python may not reach';
let folder: string;
let victim: Awaited<ReturnType<typeof startVictim>>;
let server: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-runtime-'));
  victim = await startVictim();
  server = await serve();
});
afterAll(async () => {
  await victim?.end();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('with the runtime layer alone', () => {
  let harness: KernelHarness;
  beforeAll(async () => {
    harness = await openNodeHarness({ sandbox: 'off', fetchOrigins: [server.allowed] });
    await harness.kernel.start();
  });
  afterAll(() => harness?.close());

  test('it says that it is there, with what it froze', async () => {
    const layer = harness.kernel.layers?.find(({ name }) => name === 'runtime');
    console.log(`Before the first cell: ${layer?.text}`);
    expect(layer?.active).toBe(true);
    expect(Number.parseInt(layer?.text ?? '', 10)).toBeGreaterThan(1000);
  });

  test('a getter is not read with the process as this', async () => {
    const { error } = await runCell(harness, takeProcess);
    expect(error?.evalue).toMatch(/not extensible/);
    expect((await runCell(harness, 'len(got)')).result).toBe('0');
  });

  test('a replaced method of a set changes no check', async () => {
    const { error } = await runCell(harness, spoilChecks(server.address));
    expect(error?.evalue).toMatch(/read only/);
    const fetched = await runCell(harness, `r = await js.fetch("http://${server.address}/secret")\nawait r.text()`);
    expect(fetched.error?.evalue).toMatch(/may only reach/);
    expect(server.asked).not.toContain('/secret');
  });

  test.each([
    ['an address that reads differently the second time', 'await js.fetch(TwoFaced())'],
    ['a request made of it', 'await js.fetch(js.Request.new(TwoFaced()))'],
    ['an object with its address behind a getter', 'await js.fetch(to_js(O.new()))'],
    ['a dispatcher of its own', 'await js.fetch(REFUSED, options(dispatcher=handler))'],
    ['being sent on', 'await js.fetch(ALLOWED + "/away", options(redirect="follow"))'],
    ['being sent on, by a getter', 'await js.fetch(ALLOWED + "/away", getting("redirect", "follow"))'],
    ['another scheme', 'await js.fetch("file:///etc/passwd")'],
    ['data', 'await js.fetch("data:text/plain,x")'],
    ['a name of the same host', 'await js.fetch("http://localhost:" + ALLOWED.rpartition(":")[2] + "/secret")'],
    ['a user in the address', 'await js.fetch(ALLOWED.replace("//", "//x:y@") .replace("127.0.0.1", "localhost") + "/secret")'],
  ])('fetch is not deceived by %s', async (_name, source) => {
    const code = `
import js
from pyodide.ffi import to_js, create_proxy
O = js.Object
ALLOWED, REFUSED = "${server.allowed}", "${server.allowed.replace('127.0.0.1', 'localhost')}/secret"
class TwoFaced:
    def __init__(self): self.asked = 0
    def __str__(self):
        self.asked += 1
        return ALLOWED + "/first" if self.asked % 2 else REFUSED
    __repr__ = __str__
handler = create_proxy(lambda *given: True)
def options(**fields): return to_js(fields, dict_converter=O.fromEntries)
def getting(name, value):
    made = O.new()
    O.defineProperty(made, name, options(get=create_proxy(lambda: value)))
    return made
try:
    text = await (await (${source.replace(/^await /, '')})).text()
except Exception as error:
    text = f"{type(error).__name__}: {error}"
text`;
    const { result, error } = await runCell(harness, code);
    expect(error?.evalue).toBeUndefined();
    expect(result).not.toContain(secret);
    expect(server.asked).not.toContain('/secret');
  });

  test('a request with a body, headers and a signal works', async () => {
    const code = `
import asyncio
from pyodide.http import pyfetch
answer = await pyfetch("${server.allowed}/echo", method="post", body=b"\\xffbytes", headers={"X-Mine": "yes"})
try:
    await asyncio.wait_for(pyfetch("${server.allowed}/never"), 0.2)
except TimeoutError as error:
    given_up = type(error).__name__
repr((answer.status, await answer.json(), answer.headers["content-type"], given_up))`;
    const { result, error } = await runCell(harness, code);
    expect(error?.evalue).toBeUndefined();
    expect(result).toContain("(200, {'method': 'POST', 'mine': 'yes', 'body': 'ff6279746573'}, 'application/json', 'TimeoutError')");
    await server.givenUp;
  });

  test('JavaScript as text, by way of C, ends Python and runs nowhere', async () => {
    const source = 'import ctypes\nctypes.pythonapi.emscripten_run_script(b"globalThis.reached = 1")';
    await expect(runCell(harness, source)).rejects.toMatchObject({ code: 'kernel_died' });
    await harness.kernel.restart();
  });
});

describe('without it', () => {
  let harness: KernelHarness;
  beforeAll(async () => {
    harness = await openNodeHarness({ sandbox: 'off', hardening: false });
    await harness.kernel.start();
  });
  afterAll(() => harness?.close());

  test('the whole way is open: the steps above try the right thing', async () => {
    expect((await runCell(harness, takeProcess)).error).toBeUndefined();
    expect((await runCell(harness, `P.kill(${victim.pid}, "SIGUSR1")`)).error).toBeUndefined();
    const url = await victim.inspectorUrl;
    const { stdout, error } = await runCell(harness, `r = await js.fetch("http://${new URL(url).host}/json/list")\nprint(await r.text())`);
    expect(error?.evalue).toBeUndefined();
    expect(stdout).toContain(url);
    const out = join(folder, 'out');
    expect(existsSync(out)).toBe(false);
    const command = {
      id: 1,
      method: 'Runtime.evaluate',
      params: { expression: `process.getBuiltinModule('fs').writeFileSync(${JSON.stringify(out)}, '')` },
    };
    const run = `
net = P.getBuiltinModule("node:net")
body = json.dumps(${JSON.stringify(command)}).encode()
frame = bytes([0x81, 0x80 | 126, len(body) >> 8, len(body) & 255, 0, 0, 0, 0]) + body
done = asyncio.Future()
sock = net.connect(${new URL(url).port}, "127.0.0.1")
sock.setEncoding("latin1")
received = []
def take(chunk):
    received.append(chunk)
    if len(received) == 1:
        sock.write(to_js(frame))
    elif not done.done():
        done.set_result(True)
sock.on("data", create_proxy(take))
sock.write("GET ${new URL(url).pathname} HTTP/1.1\\r\\nHost: ${new URL(url).host}\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\nSec-WebSocket-Version: 13\\r\\n\\r\\n")
await done`;
    expect((await runCell(harness, run)).error?.evalue).toBeUndefined();
    expect(existsSync(out)).toBe(true);
  });
});

async function serve() {
  const asked: string[] = [];
  let onGivenUp = () => {};
  const givenUp = new Promise<void>((resolve) => {
    onGivenUp = resolve;
  });
  const http = createServer(async (request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/away') return response.writeHead(302, { location: `http://localhost:${port}/secret` }).end();
    if (request.url === '/never') return request.socket.once('close', onGivenUp);
    if (request.url !== '/echo') return response.end(request.url === '/secret' ? secret : 'fine');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, headers } = request;
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ method, mine: headers['x-mine'], body: Buffer.concat(chunks).toString('hex') }));
  });
  // Both families: `localhost` may be either.
  await new Promise<void>((resolve) => http.listen(0, resolve));
  const { port } = http.address() as AddressInfo;
  return {
    asked,
    givenUp,
    allowed: `http://127.0.0.1:${port}`,
    /** A name of it that was not given. */
    address: `localhost:${port}`,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
