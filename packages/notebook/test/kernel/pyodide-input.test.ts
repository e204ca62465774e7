// @module-tag P-208
// @runs process

import { expect, it } from 'vitest';
import type { Output } from '../../src/model/output.js';
import { openNodeHarness } from './support/node-harness.js';

it('input() and getpass() of Pyodide are asked of who is there, and end with the cell', { timeout: 120_000 }, async () => {
  const harness = await openNodeHarness();
  const { kernel } = harness;
  const asked: unknown[] = [];
  const outputs: Output[] = [];
  const onOutput = (output: Output) => void outputs.push(output);
  const answered = await kernel.execute('import getpass\nprint("before")\ninput("name? "), getpass.getpass("secret? ")', {
    onOutput,
    onInput: async (question) => {
      asked.push({ ...question, seen: outputs.length });
      return question.password ? 'hidden' : 'Ada 🎈';
    },
  });
  expect(answered.status).toBe('ok');
  // What was printed is there before the question.
  expect(asked).toEqual([
    { prompt: 'name? ', password: false, seen: 1 },
    { prompt: 'secret? ', password: true, seen: 1 },
  ]);
  expect(outputs.at(-1)).toMatchObject({ data: { 'text/plain': "('Ada 🎈', 'hidden')" } });
  expect(await kernel.execute('input()', { onOutput, onInput: async () => undefined })).toMatchObject({ status: 'error' });
  expect(outputs.at(-1)).toMatchObject({ ename: 'EOFError' });
  const stopping = new AbortController();
  const waiting = kernel.execute('input()', {
    onOutput,
    signal: stopping.signal,
    onInput: (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(undefined));
        stopping.abort();
      }),
  });
  expect(await waiting).toMatchObject({ status: 'interrupted' });
  expect(await kernel.execute('1 + 1', { onOutput })).toMatchObject({ status: 'ok' });
  expect(outputs.at(-1)).toMatchObject({ data: { 'text/plain': '2' } });
  await harness.close();
});
