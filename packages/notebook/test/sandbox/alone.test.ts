// @module-tag P-186

/**
 * The way out of Python with the sandbox of the operating system alone: nothing around Python is frozen, and code has the real `process` of
 * its thread. It gets no further.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KernelHarness } from '../kernel/support/kernel-harness.js';
import { openNodeHarness } from '../kernel/support/node-harness.js';
import { runCell } from '../kernel/support/run-cell.js';
import { spoilChecks, startVictim, takeProcess } from '../kernel/support/way-out.js';
import { whyNoSandbox } from './support/sandboxed.js';

const missing = await whyNoSandbox();

describe.skipIf(missing !== undefined)('with the sandbox alone', () => {
  let harness: KernelHarness;
  let victim: Awaited<ReturnType<typeof startVictim>>;
  let server: Server;
  let asked = 0;
  let address: string;

  beforeAll(async () => {
    victim = await startVictim();
    server = createServer((_request, response) => {
      asked++;
      response.end('the answer of a server that Python may not reach');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    harness = await openNodeHarness({ sandbox: 'require', hardening: false });
    await harness.kernel.start();
  });
  afterAll(async () => {
    await harness?.close();
    await victim?.end();
    await new Promise((resolve) => server.close(resolve));
  });

  const told = (source: string) => `
try:
    ${source.replaceAll('\n', '\n    ')}
    said = "did it"
except BaseException as error:
    said = f"{type(error).__name__}: {error}"
said`;

  test('it is the only one', () => {
    expect(harness.kernel.layers?.map(({ name, active }) => [name, active]).slice(0, 2)).toEqual([
      ['operating system', true],
      ['runtime', false],
    ]);
  });

  test.each(['in the first cell', 'after a restart'])('the process is had, and there is nobody to send a signal to (%s)', async (when) => {
    if (when === 'after a restart') await harness.kernel.restart();
    expect((await runCell(harness, takeProcess)).error).toBeUndefined();
    // Its parent is outside of what it sees, and so is everybody else.
    expect((await runCell(harness, '(P.pid, P.ppid)')).result).toBe('(1, 0)');
    expect((await runCell(harness, told(`P.kill(${victim.pid}, "SIGUSR1")`))).result).toMatch(/ESRCH/);
    expect((await runCell(harness, told(`P._debugProcess(${victim.pid})`))).result).not.toMatch(/did it/);
  });

  test('the checks say yes, and no server is reached', async () => {
    expect((await runCell(harness, spoilChecks(address))).error).toBeUndefined();
    const fetched = await runCell(harness, told(`await js.fetch("http://${address}/secret")`));
    expect(fetched.result).not.toMatch(/did it/);
    const dialled = await runCell(
      harness,
      `${takeProcess}
from pyodide.ffi import create_once_callable
net = P.getBuiltinModule("node:net")
end = asyncio.Future()
socket = net.connect(${address.split(':')[1]}, "127.0.0.1")
socket.on("connect", create_proxy(lambda *given: end.done() or end.set_result("connected")))
socket.on("error", create_proxy(lambda error, *given: end.done() or end.set_result(error.code)))
await end`,
    );
    expect(`${dialled.result}${dialled.error?.evalue}`).toMatch(/ECONNREFUSED|ENETUNREACH|may not/);
    expect(asked).toBe(0);
  });

  test('the inspector of the victim is not reached when somebody else has opened it', async () => {
    process.kill(victim.pid ?? 0, 'SIGUSR1');
    const { host } = new URL(await victim.inspectorUrl);
    expect((await fetch(`http://${host}/json/list`)).status).toBe(200);
    await runCell(harness, spoilChecks(host));
    expect((await runCell(harness, told(`await js.fetch("http://${host}/json/list")`))).result).not.toMatch(/did it/);
  });
});
