// @module-tag deep
// @module-tag P-104
// @module-tag P-205
// @module-tag P-219

import { describe, expect, test } from 'vitest';
import { describeKernel } from './kernel-behaviour.js';
import { describePyodide } from './pyodide-behaviour.js';
import { openNodeHarness } from './support/node-harness.js';

describe('the kernel in a process of Node', { timeout: 180_000 }, () => {
  describeKernel(openNodeHarness, (get) => {
    describePyodide(get);

    test('Python waits for a host that is busy, instead of piling up its output', async () => {
      const { kernel } = get();
      let text = '';
      let memoryBefore = 0;
      const source = ['start = time.monotonic()', 'for i in range(20_000): print("x" * 999)', 'print(f"took {time.monotonic() - start}")'];
      await kernel.execute(source.join('\n'), {
        onOutput(output) {
          if (output.output_type !== 'stream') return;
          text = String(output.text);
          if (memoryBefore > 0) return;
          memoryBefore = process.memoryUsage().rss;
          const endMs = performance.now() + 1500;
          while (performance.now() < endMs);
        },
      });
      expect(Number(text.match(/took ([\d.]+)/)?.[1])).toBeGreaterThan(1.2);
      expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(100_000_000);
    });
  });
});
