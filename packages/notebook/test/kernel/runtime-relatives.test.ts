// @module-tag deep
// @module-tag P-191

/** The family of the ways out of Python's JavaScript, with the runtime layer alone, and again without it as the control. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { definitions, hostileCells } from './support/hostile-cells.js';
import type { KernelHarness } from './support/kernel-harness.js';
import { openNodeHarness } from './support/node-harness.js';
import { runCell } from './support/run-cell.js';

/** What each cell says, by its name. `way` is Python that awaits or calls `told(name)` and answers with its text. */
async function tellAll(harness: KernelHarness, way: string): Promise<{ [name: string]: string }> {
  const source = `import json
answers = {}
for name in attempts:
    answers[name] = ${way}
print(json.dumps(answers))`;
  const { stdout, error } = await runCell(harness, source);
  expect(error?.evalue).toBeUndefined();
  return JSON.parse(stdout);
}

const direct = 'await told(name)';
const inTask = 'await asyncio.create_task(told(name))';
/** Called by JavaScript, from within a method of its own, after others have tried to spoil it. */
const inCallback = `await (lambda made: (to_js([1]).forEach(create_proxy(lambda *given: made.append(asyncio.ensure_future(told(name))))), made)[1][0])([])`;

const poison = `
for holder in (O.prototype, prototype(array), prototype(group), prototype(octets), prototype(js.Object), js.AbortSignal.prototype):
    for name in [*O.getOwnPropertyNames(holder)]:
        try:
            setattr(holder, name, create_proxy(lambda *given: True))
        except BaseException:
            pass
        try:
            O.defineProperty(holder, name, record(value=None))
        except BaseException:
            pass`;

describe('with the runtime layer', () => {
  let harness: KernelHarness;
  beforeAll(async () => {
    harness = await openNodeHarness({ sandbox: 'off' });
    await harness.kernel.start();
  });
  afterAll(() => harness?.close());

  const expectNone = (answers: { [name: string]: string }) => {
    expect(Object.keys(answers)).toHaveLength(hostileCells.length);
    expect(Object.entries(answers).filter(([, answer]) => answer === 'had')).toEqual([]);
  };

  test('each relative fails: in a cell, in a task of a later cell, from a callback, after a spoiling one, after a restart', async () => {
    expect((await runCell(harness, definitions)).error).toBeUndefined();
    const first = await tellAll(harness, direct);
    console.log(
      `${hostileCells.length} relatives:\n${Object.entries(first)
        .map((entry) => entry.join(': '))
        .join('\n')}`,
    );
    expectNone(first);
    expectNone(await tellAll(harness, inTask));
    expectNone(await tellAll(harness, inCallback));
    expect((await runCell(harness, poison)).error).toBeUndefined();
    expectNone(await tellAll(harness, direct));
    expect((await runCell(harness, '1 + 1')).result).toBe('2');
    await harness.kernel.restart();
    await runCell(harness, definitions);
    expectNone(await tellAll(harness, direct));
  }, 120_000);
});

describe('without it', () => {
  test('each relative that the layer is there for succeeds', async () => {
    const harness = await openNodeHarness({ sandbox: 'off', hardening: false });
    try {
      await harness.kernel.start();
      await runCell(harness, definitions);
      const answers = await tellAll(harness, direct);
      expect(
        hostileCells.filter(({ name, control }) => control && answers[name] !== 'had').map(({ name }) => [name, answers[name]]),
      ).toEqual([]);
    } finally {
      await harness.close();
    }
  }, 60_000);
});
