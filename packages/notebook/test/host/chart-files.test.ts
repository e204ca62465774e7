// @module-tag deep
// @module-tag P-668

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { readLibrary, readPage } from '../../src/host/chart-files.js';
import { type JupyterHarness, openJupyterHarness } from '../kernel/support/jupyter-harness.js';
import { runCell } from '../kernel/support/run-cell.js';

const textOf = (base64: string) => Buffer.from(base64, 'base64').toString();

describe('what charts need of the kernel', { timeout: 120_000 }, () => {
  let harness: JupyterHarness;
  beforeAll(async () => {
    harness = await openJupyterHarness({ python: await pythonWith(['ipykernel', 'jupyter_client', 'bokeh']) });
    await harness.kernel.start();
  }, 180_000);
  afterAll(() => harness?.close());

  it('is the library of a package, by the address at which a page looks for it', async () => {
    const library = textOf(await readLibrary(harness.kernel, 'https://cdn.bokeh.org/bokeh/release/bokeh-gl-3.9.2.min.js'));
    expect(library).toMatch(/WebGL|regl/i);
    expect(library.length).toBeGreaterThan(50_000);
  });

  it('is a page that code has written, while the cell still runs too, and leaves no trace', async () => {
    await writeFile(join(harness.folder, 'net "2".html'), '<p>ü</p>');
    const before = (await runCell(harness, '7')).executionCount;
    const running = runCell(harness, 'import time; time.sleep(0.3)');
    expect(textOf(await readPage(harness.kernel, 'net "2".html'))).toBe('<p>ü</p>');
    await running;
    const { executionCount, result } = await runCell(harness, '(_, [name for name in dir() if "base64" in name])');
    expect(executionCount).toBe(before + 2);
    expect(result).toBe('(7, [])');
    const { outputs } = await runCell(harness, 'import warnings');
    expect(await harness.kernel.evaluate?.('print("seen") or warnings.warn("seen") or "text"')).toBe('text');
    await runCell(harness, '1');
    expect(outputs).toEqual([]);
  });

  it('is refused where there is none, with what to do', async () => {
    await expect(readPage(harness.kernel, 'none.html')).rejects.toMatchObject({
      code: 'kernel_file_unreadable',
      message: expect.stringContaining('none.html'),
    });
    for (const path of ['/etc/passwd', 'https://x.example/a.html', 'file:///a.html'])
      await expect(readPage(harness.kernel, path), path).rejects.toThrow('no page of a file');
    await expect(readLibrary(harness.kernel, 'https://cdn.example/vis-network.min.js')).rejects.toThrow('"pyvis"');
    await expect(readLibrary(harness.kernel, 'https://cdn.example/other.js')).rejects.toThrow('No package');
    await harness.kernel.close();
    await expect(readLibrary(harness.kernel, 'https://cdn.bokeh.org/bokeh-3.9.2.min.js')).rejects.toThrow('Run the cell again');
  });

  it('is text alone: what quotes, fails or is none comes to nothing', async () => {
    const own = await openJupyterHarness({ python: await pythonWith(['ipykernel', 'jupyter_client', 'bokeh']) });
    try {
      await own.kernel.start();
      const values = [];
      for (const expression of ['"text"', '1', '"it\'s"', '1 / 0', 'syntax error', 'print(1)'])
        values.push(await own.kernel.evaluate?.(expression));
      expect(values).toEqual(['text', undefined, undefined, undefined, undefined, undefined]);
    } finally {
      await own.close();
    }
  });
});
