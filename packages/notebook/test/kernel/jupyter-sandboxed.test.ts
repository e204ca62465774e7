/** A kernel of Jupyter with its helper in the sandbox of the operating system: it does what it does without, and gets nothing else. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Output } from '../../src/model/output.js';
import { whyNoSandbox } from '../sandbox/support/sandboxed.js';
import { describeKernel } from './kernel-behaviour.js';
import { type JupyterHarness, openJupyterHarness } from './support/jupyter-harness.js';

const missing = await whyNoSandbox();

describe.skipIf(missing !== undefined)('a kernel of Jupyter in the sandbox: ipykernel', { timeout: 180_000, tags: ['deep'] }, () => {
  describeKernel(() => openJupyterHarness({ sandbox: 'require', files: 'rw' }));
});

describe.skipIf(missing !== undefined)('in the sandbox', { timeout: 180_000 }, () => {
  let harness: JupyterHarness;
  beforeAll(async () => {
    harness = await openJupyterHarness({ sandbox: 'require' });
    mkdirSync(join(harness.folder, 'below'));
    writeFileSync(join(harness.folder, 'below/data.csv'), 'a,b\n1,2\n');
    await harness.kernel.start();
  });
  afterAll(() => harness?.close());

  const run = async (source: string, answer?: string): Promise<Output[]> => {
    const outputs: Output[] = [];
    await harness.kernel.execute(source, { onOutput: (output) => outputs.push(output), onInput: async () => answer });
    return outputs;
  };
  const textOf = (outputs: Output[]) =>
    outputs
      .map(({ text, data, ename, evalue }) => text ?? (data as { [type: string]: unknown })?.['text/plain'] ?? `${ename}: ${evalue}`)
      .join('');

  test('it says so, and what of the folder code may read', { tags: ['deep'] }, () => {
    expect(harness.kernel.layers).toEqual([
      {
        name: 'operating system',
        active: true,
        text: expect.stringContaining(`no network, no processes but its own, 512 at most, of your files "${harness.folder}" to read`),
      },
    ]);
  });

  test('everyday cells work: files of the folder, a shell, a figure, a data frame, a question', { tags: ['deep'] }, async () => {
    expect(textOf(await run('open("below/data.csv").read()'))).toBe("'a,b\\n1,2\\n'");
    expect(textOf(await run('!ls && echo from a shell'))).toMatch(/below\s+from a shell/);
    expect(textOf(await run('import pandas; pandas.read_csv("below/data.csv").sum().sum()'))).toMatch(/3/);
    const [figure] = await run('import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()');
    expect(figure?.data).toMatchObject({ 'image/png': expect.stringMatching(/^iVBOR/) });
    expect(textOf(await run('import subprocess; subprocess.run("exit 7", shell=True).returncode'))).toBe('7');
    expect(textOf(await run('input("name? ")', 'somebody'))).toContain("'somebody'");
  });

  test('nothing is written to the folder, and what is written elsewhere is gone with the kernel', { tags: ['deep'] }, async () => {
    expect(textOf(await run('open("new", "w")'))).toMatch(/Read-only file system/);
    expect(textOf(await run('open("/tmp/kept", "w").write("x")'))).toBe('1');
    await harness.kernel.restart();
    expect(textOf(await run('import os; os.path.exists("/tmp/kept")'))).toBe('False');
  });

  test('a fork bomb ends the kernel, which says why, and the next one works', { tags: ['P-216'], timeout: 180_000 }, async () => {
    await expect(run('import os, time\nfor _ in range(11): os.fork()\ntime.sleep(60)')).rejects.toMatchObject({
      code: 'kernel_died',
      message: expect.stringMatching(/it had \d+ processes, of 512 at most/),
    });
    await harness.kernel.restart();
    expect(textOf(await run('1 + 1'))).toBe('2');
  });
});

test('files are refused where there is no sandbox that would keep it', { tags: ['P-217'] }, async () => {
  const harness = await openJupyterHarness({ sandbox: 'off', files: 'ro' });
  try {
    await expect(harness.kernel.start()).rejects.toThrow(/"--files ro" needs the sandbox of the operating system, and it was switched off/);
  } finally {
    await harness.close();
  }
});

test.skipIf(missing !== undefined)(
  'files "none" shows nothing of the folder, "rw" lets it be written to',
  { tags: ['deep'], timeout: 60_000 },
  async () => {
    for (const files of ['none', 'rw'] as const) {
      const harness = await openJupyterHarness({ sandbox: 'require', files });
      writeFileSync(join(harness.folder, 'secret'), 'x');
      await harness.kernel.start();
      await harness.kernel.execute(`open(${JSON.stringify(join(harness.folder, 'made'))}, "w").write("made")`, { onOutput: () => {} });
      const outputs: Output[] = [];
      await harness.kernel.execute('import os; os.listdir()', { onOutput: (output) => outputs.push(output) });
      expect(outputs).toMatchObject(
        files === 'none'
          ? [{ data: { 'text/plain': expect.not.stringContaining('secret') } }]
          : [{ data: { 'text/plain': expect.stringContaining('secret') } }],
      );
      const made = () => readFileSync(join(harness.folder, 'made'), 'utf8');
      if (files === 'none') expect(made).toThrow(/ENOENT/);
      else expect(made()).toBe('made');
      await harness.close();
      rmSync(harness.folder, { recursive: true, force: true });
    }
  },
);

test.skipIf(missing !== undefined)(
  'code reaches the servers that were allowed, by the relay, and no other',
  { tags: ['P-218'], timeout: 60_000 },
  async () => {
    let asked = 0;
    const server = createServer((request, response) => {
      asked++;
      response.end(`hello ${request.headers.host}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const relaySeam = { lookup: async () => ['127.0.0.1'], mayConnect: (address: string) => address === '127.0.0.1' };
    const harness = await openJupyterHarness({ sandbox: 'require', allowNet: [`data.example.org:${port}`], relaySeam });
    try {
      await harness.kernel.start();
      expect(harness.kernel.layers?.[0]?.text).toContain(`of the network data.example.org:${port} by a relay`);
      const said = async (source: string) => {
        const outputs: Output[] = [];
        await harness.kernel.execute(source, { onOutput: (output) => outputs.push(output) });
        return outputs.map(({ text, evalue }) => text ?? evalue).join('');
      };
      expect(await said(`import urllib.request; print(urllib.request.urlopen("http://data.example.org:${port}/x").read())`)).toContain(
        `hello data.example.org:${port}`,
      );
      expect(await said(`!curl -s http://data.example.org:${port}/`)).toContain('hello');
      expect(await said(`urllib.request.urlopen("http://other.example.org:${port}/x")`)).toMatch(/403/);
      expect(await said(`import socket; socket.create_connection(("127.0.0.1", ${port}))`)).toMatch(/refused/);
      expect(await said(`!curl -s --noproxy '*' -m 5 http://127.0.0.1:${port}/ || echo not reached`)).toContain('not reached');
      expect(asked).toBe(2);
    } finally {
      await harness.close();
      await new Promise((resolve) => server.close(resolve));
    }
  },
);
