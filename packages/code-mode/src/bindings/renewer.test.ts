import { AsyncEvent } from '@notebridge/protocol/util/async-event';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Renewer } from './renewer.js';

describe('Renewer', () => {
  it('does once what is asked for often, one at a time, and once more what is asked for meanwhile', async () => {
    let running = 0;
    let most = 0;
    let count = 0;
    const begun = new AsyncEvent();
    const goOn = new AsyncEvent();
    const twice = new AsyncEvent();
    const renewer = new Renewer({
      work: async () => {
        most = Math.max(most, ++running);
        begun.set();
        await goOn.wait();
        running--;
        if (++count === 2) twice.set();
      },
      onFault: () => {},
      waitMs: 1,
      retryMs: 60_000,
    });
    onTestFinished(() => renewer.close());
    for (let n = 0; n < 20; n++) renewer.ask();
    await begun.wait();
    for (let n = 0; n < 20; n++) renewer.ask();
    goOn.set();
    expect(await twice.wait(10_000)).toBe(true);
    await renewer.close();
    expect([count, most]).toEqual([2, 1]);
  });

  it('reports a fault and tries again by itself', async () => {
    const faults: unknown[] = [];
    const mended = new AsyncEvent();
    let count = 0;
    const renewer = new Renewer({
      work: async () => {
        if (++count === 1) throw new Error('no space');
        mended.set();
      },
      onFault: (error) => faults.push(error),
      waitMs: 1,
      retryMs: 1,
    });
    onTestFinished(() => renewer.close());
    renewer.ask();
    expect(await mended.wait(10_000)).toBe(true);
    expect(faults).toEqual([new Error('no space')]);
  });

  it('waits in `close` for what runs, and does nothing after it', async () => {
    const begun = new AsyncEvent();
    const goOn = new AsyncEvent();
    let count = 0;
    const renewer = new Renewer({
      work: async () => {
        begun.set();
        await goOn.wait();
        count++;
      },
      onFault: () => {},
      waitMs: 0,
      retryMs: 1,
    });
    renewer.ask();
    await begun.wait();
    renewer.ask();
    const closed = renewer.close();
    goOn.set();
    await closed;
    await renewer.close();
    renewer.ask();
    expect(count).toBe(1);
  });
});
