// @module-tag P-214

import { describe, expect, it } from 'vitest';
import type { KernelState } from '../../src/kernel/kernel.js';
import { SwitchableKernel } from '../../src/kernels/switchable-kernel.js';
import { createDocument } from '../../src/model/document.js';
import { createNotebookSession } from '../../src/session/session.js';
import { TinyKernel } from '../fixtures/tiny-kernel.js';
import { until } from '../host/support/until.js';

const by = { kind: 'person', name: 'Ann' } as const;

function setUp(first = new TinyKernel()) {
  const kernel = new SwitchableKernel(first);
  const document = createDocument();
  const session = createNotebookSession({ document, kernel });
  const run = async (source: string) => {
    const { id } = document.insert(document.cells.length, { type: 'code', source }, { by });
    return { ...(await session.run(id, { by })), id };
  };
  const states: KernelState[] = [];
  kernel.onState((state) => states.push(state));
  return { kernel, first, session, run, states, document };
}

describe('a kernel that is put in', () => {
  it('takes over at the restart, with fresh variables and a count from 1, and the other one is closed', async () => {
    const { kernel, first, session, run, states } = setUp();
    await run('x = 1');
    expect(await run('x')).toMatchObject({ status: 'ok', executionCount: 2 });
    const second = new TinyKernel();
    await kernel.putIn(second);
    // Until then what runs is not touched.
    expect(await run('x')).toMatchObject({ status: 'ok', executionCount: 3 });
    states.length = 0;
    await session.restart({ by });
    expect(first.state).toBe('dead');
    expect(states).toEqual(['starting', 'idle']);
    expect(await run('x')).toMatchObject({ status: 'error', executionCount: 1 });
    await session.close();
    expect(second.state).toBe('dead');
  });

  it('the first start is that of the kernel put in before it, and the other never starts', async () => {
    const { kernel, first, session, run } = setUp();
    await kernel.putIn(new TinyKernel());
    expect(await run('1')).toMatchObject({ status: 'ok', executionCount: 1 });
    expect(first.state).toBe('dead');
    await session.close();
  });

  it('ends what runs, and what waits is not run by it', async () => {
    const { kernel, session, document } = setUp();
    const ids = ['forever()', 'print("never")'].map((source, index) => document.insert(index, { type: 'code', source }, { by }).id);
    const ran = Promise.allSettled(ids.map((id) => session.run(id, { by })));
    await until(() => kernel.state === 'busy');
    await kernel.putIn(new TinyKernel());
    await session.restart({ by });
    expect(await ran).toMatchObject([
      { status: 'fulfilled', value: { status: 'interrupted' } },
      { status: 'rejected', reason: { code: 'cancelled' } },
    ]);
    expect(kernel.state).toBe('idle');
    await session.close();
  });

  it('a kernel that cannot start is left dead with its reason, and another one can be put in', async () => {
    const { kernel, session, run } = setUp();
    await run('1');
    await kernel.putIn(new TinyKernel({ startFaults: ['no ipykernel here'] }));
    await expect(session.restart({ by })).rejects.toThrow('no ipykernel here');
    expect(kernel.state).toBe('dead');
    await kernel.putIn(new TinyKernel());
    await session.restart({ by });
    expect(await run('2')).toMatchObject({ status: 'ok', executionCount: 1 });
    await session.close();
  });

  it('is the last one where several are put in at once; none is left running', async () => {
    const { kernel, first, session, run } = setUp();
    await run('1');
    const others = [new TinyKernel(), new TinyKernel(), new TinyKernel()];
    await Promise.all(
      others.map(async (other) => {
        await kernel.putIn(other);
        await session.restart({ by });
      }),
    );
    expect(await run('2')).toMatchObject({ status: 'ok', executionCount: 1 });
    const idle = [first, ...others].filter(({ state }) => state !== 'dead');
    expect(idle).toEqual([others[2]]);
    await session.close();
    expect(others[2]?.state).toBe('dead');
  });

  it('closes what was put in and never begun', async () => {
    const { kernel, session, run } = setUp();
    await run('1');
    const next = new TinyKernel();
    await kernel.putIn(next);
    await session.close();
    expect(next.state).toBe('dead');
  });
});
