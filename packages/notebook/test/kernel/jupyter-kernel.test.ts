// @module-tag deep
// @module-tag P-205

import { describe, expect, test } from 'vitest';
import { until } from '../host/support/until.js';
import { describeKernel } from './kernel-behaviour.js';
import { openJupyterHarness } from './support/jupyter-harness.js';
import { runCell } from './support/run-cell.js';

describe('a kernel of Jupyter: ipykernel', { timeout: 180_000 }, () => {
  describeKernel(
    () => openJupyterHarness(),
    (get) =>
      test('a thread, and work that a pool gets, shows what it shows in the cell that began it', { tags: ['P-657'] }, async () => {
        const begin = (name: string, start: string) =>
          runCell(
            get(),
            `import threading, concurrent.futures
go_${name}, done_${name} = threading.Event(), threading.Event()
def ${name}():
    go_${name}.wait(); print("by ${name}"); display("shown by ${name}"); done_${name}.set()
${start}`,
          );
        const thread = await begin('thread', 'threading.Thread(target=thread).start()');
        const timer = await begin('timer', 'threading.Timer(0, timer).start()');
        await runCell(get(), 'pool = concurrent.futures.ThreadPoolExecutor(1); pool.submit(print, "the pool is there").result()');
        const work = await begin('work', 'future = pool.submit(work)');
        const last = await runCell(
          get(),
          'for each in "thread", "timer", "work": globals()["go_" + each].set(); globals()["done_" + each].wait()',
        );
        await until(() => [thread, timer, work].every(({ outputs }) => outputs.length === 2));
        expect(last.outputs).toEqual([]);
        for (const [name, { outputs }] of Object.entries({ thread, timer, work }))
          expect(JSON.stringify(outputs)).toMatch(new RegExp(`"by ${name}.*shown by ${name}|shown by ${name}.*"by ${name}`));
      }),
  );
});
