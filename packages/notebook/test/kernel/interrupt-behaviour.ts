/** Ending what does not end, and output that does not: part of kernel-behaviour.ts. */
import { describe, expect, test } from 'vitest';
import type { KernelHarness } from './support/kernel-harness.js';
import { interruptWhen, plain, type Ran, runCell } from './support/run-cell.js';

const after = (ms: number) => AbortSignal.timeout(ms);
const isOn = (outputs: readonly unknown[]): boolean => outputs.length > 0;

export function describeInterrupts(get: () => KernelHarness): void {
  const run = (source: string, signal?: AbortSignal): Promise<Ran> => runCell(get(), source, signal);

  describe('interrupt', () => {
    test.each([
      ['while True: pass'],
      ['while True: print(1)'],
      ['await asyncio.sleep(100)'],
      ['while True: await asyncio.sleep(0)'],
      ['await asyncio.gather(asyncio.sleep(100), asyncio.sleep(100))'],
      ['time.sleep(100)'],
      ['[x for x in iter(int, 1)]'],
    ])('ends %j', async (source) => {
      await run('kept = 1');
      const { status } = await get().measure(source, { interruptAfterMs: 150 });
      expect(status).toBe('interrupted');
      // After the grace Python would have been restarted.
      expect((await run('kept')).result).toBe('1');
    });

    test('is a KeyboardInterrupt in the cell, which the cell may handle', async () => {
      const { status, error } = await interruptWhen(get(), 'print("on"); time.sleep(100)', isOn);
      expect(status).toBe('interrupted');
      expect(error).toMatchObject({ ename: 'KeyboardInterrupt', evalue: '' });
      expect(plain(error?.traceback.join('\n') ?? '')).toMatch(/----> 1 print\("on"\); time.sleep\(100\)/);
      const handles = 'try:\n    print("on")\n    while True: time.sleep(0.01)\nexcept KeyboardInterrupt:\n    print("handled")';
      expect(await interruptWhen(get(), handles, isOn)).toMatchObject({ status: 'ok', stdout: 'on\nhandled\n' });
    });

    test('an interrupt that comes before the first step of the cell, or after its end, is neither lost nor too much', async () => {
      for (let i = 0; i < 20; i++) {
        const cell = get().measure('await asyncio.sleep(i := 100)', { interruptAfterMs: i % 2 });
        expect(await cell).toMatchObject({ status: 'interrupted' });
        await run('1', after(i % 4));
        expect(await run('await asyncio.sleep(0.01)\n2')).toMatchObject({ status: 'ok', result: '2' });
      }
    });

    test('ends a task in the background that gives nobody a turn', async () => {
      await run('async def spin():\n    while True: pass\ntask = asyncio.create_task(spin())');
      const { status } = await run('await task', after(200));
      expect(status).not.toBe('ok');
      expect((await run('2')).result).toBe('2');
    });

    test('restarts Python when the code does not end, and says so', async () => {
      const survives =
        'while True:\n    try:\n        if said: print(said.pop())\n        while True: pass\n    except KeyboardInterrupt: pass';
      const queued = interruptWhen(get(), `await asyncio.sleep(0)\nsaid = ["on"]\n${survives}`, isOn);
      const behind = run('kept');
      expect(await queued).toMatchObject({ status: 'interrupted', error: { ename: 'KernelRestarted' } });
      expect(await behind).toMatchObject({ status: 'interrupted', executionCount: 0 });
      expect(await run('"kept" in globals()')).toMatchObject({ executionCount: 1, result: 'False' });
    });
  });

  test('a flood neither piles up nor floods: 50 MB in lines, and in one', async () => {
    const lines = await get().measure('for i in range(50_000): print("x" * 999)');
    expect(lines).toMatchObject({ status: 'ok', characters: 50_000_000 });
    expect(lines.longest).toBeLessThan(100_000);
    expect(await get().measure('print("é" * 25_000_001)')).toMatchObject({ status: 'ok', characters: 25_000_002 });
    const endless = await get().measure('while True: print(1)', { interruptAfterCharacters: 100_000 });
    expect(endless.status).toBe('interrupted');
    // Each has what was printed meanwhile: on a busy machine that is less, and an interrupt takes longer.
    expect(endless.characters / endless.outputs).toBeGreaterThan(50);
  });
}
