// @module-tag deep

import { existsSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type JupyterHarness, openJupyterHarness } from './support/jupyter-harness.js';
import { runCell } from './support/run-cell.js';

const startMs = 120_000;
const spec = '/usr/share/jupyter/kernels/ir/kernel.json';
const isThere = existsSync(spec);

describe('a kernel of Jupyter that is no Python: R', { timeout: startMs }, () => {
  beforeEach(({ skip }) =>
    skip(!isThere, `there is no R kernel on this machine (${spec}; Debian, Ubuntu: apt-get install r-cran-irkernel)`),
  );
  let harness: JupyterHarness;
  beforeAll(async () => {
    if (!isThere) return;
    harness = await openJupyterHarness({ kernelName: 'ir' });
    await harness.kernel.start();
  }, 5 * startMs);
  afterAll(() => harness?.close());

  test('says what it is, shows values, streams and pictures, and counts', async () => {
    expect(harness.kernel.info).toMatchObject({ name: 'ir', displayName: 'R', language: 'r', version: expect.stringMatching(/^\d+\.\d+/) });
    const { outputs, executionCount, stdout } = await runCell(harness, 'cat("é 🎈\\n"); x <- c(1, 2); plot(x); x');
    expect({ executionCount, stdout }).toEqual({ executionCount: 1, stdout: 'é 🎈\n' });
    const shown = outputs.filter((output) => output.output_type === 'display_data').map(({ data }) => data);
    expect(shown.some((data) => 'image/png' in data)).toBe(true);
    expect(shown.some((data) => data['text/plain'] === '[1] 1 2')).toBe(true);
  });

  test('errors, questions and interrupts', async () => {
    expect(await runCell(harness, 'stop("no")')).toMatchObject({ status: 'error', error: { evalue: expect.stringContaining('no') } });
    const outputs: unknown[] = [];
    const onInput = async ({ prompt }: { prompt: string }) => `Ada of ${prompt}`;
    await harness.kernel.execute('cat(readline("name? "))', { onOutput: (output) => outputs.push(output), onInput });
    expect(outputs.at(-1)).toMatchObject({ name: 'stdout', text: 'Ada of name? ' });
    expect(await runCell(harness, 'Sys.sleep(100)', AbortSignal.timeout(1000))).toMatchObject({ status: 'interrupted' });
    expect(await runCell(harness, 'x[2]')).toMatchObject({ status: 'ok' });
  });

  test('completes names, and restarts', async () => {
    const { matches } = await harness.kernel.complete('Sys.sl', 6);
    expect(matches).toContain('Sys.sleep');
    await harness.kernel.restart();
    expect(await runCell(harness, 'x')).toMatchObject({ status: 'error', executionCount: 1 });
  });
});
