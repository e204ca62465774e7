import type { Output } from '@notebridge/notebook/outputs';
import { describe, expect, it } from 'vitest';
import { ExecutionOutputs, resultOf } from './execution-outputs.js';

const printed = (text: string, name = 'stdout'): Output => ({ output_type: 'stream', name, text });
const shown = (text: string): Output => ({ output_type: 'display_data', data: { 'text/plain': text }, metadata: {} });
const textsOf = (outputs: ExecutionOutputs) => outputs.outputs.map((output) => (output.output_type === 'stream' ? output.text : output));

describe('ExecutionOutputs', () => {
  it('joins what is printed in a row, and keeps the order of the rest', () => {
    const outputs = new ExecutionOutputs(10_000);
    for (const output of [printed('a'), printed('b'), printed('c', 'stderr'), shown('d'), printed('e')]) outputs.put(output);
    expect(textsOf(outputs)).toEqual(['ab', 'c', shown('d'), 'e']);
  });

  it('keeps the beginning and the end of what is too much, in bounded memory', () => {
    const outputs = new ExecutionOutputs(1000);
    for (let line = 0; line < 100_000; line++) outputs.put(printed(`${line}\n`));
    outputs.put({ output_type: 'error', ename: 'E', evalue: 'oh', traceback: ['oh'] });
    const texts = outputs.outputs;
    const kept = JSON.stringify(texts);
    expect(kept.length).toBeLessThan(100_000);
    expect(texts[0]).toMatchObject({ output_type: 'stream', text: expect.stringMatching(/^0\n1\n2\n/) });
    expect(kept).toMatch(/\d+ characters left out here/);
    expect(kept).toContain('99999\\n');
    expect(texts.at(-1)).toMatchObject({ output_type: 'error' });
  });

  it('counts outputs that do not fit', () => {
    const outputs = new ExecutionOutputs(200_000);
    for (let n = 0; n < 10; n++) outputs.put(shown('x'.repeat(80_000)));
    expect(JSON.stringify(outputs.outputs)).toMatch(/\d outputs left out here/);
    expect(JSON.stringify(outputs.outputs).length).toBeLessThan(400_000);
  });

  it('shows a display anew in its place, and forgets what is cleared', () => {
    const outputs = new ExecutionOutputs(10_000);
    outputs.put(shown('one'), 'id');
    outputs.put(printed('after'));
    outputs.update('id', shown('two'));
    expect(textsOf(outputs)).toEqual([shown('two'), 'after']);
    outputs.clear(true);
    expect(textsOf(outputs)).toHaveLength(2);
    outputs.put(printed('new'));
    expect(textsOf(outputs)).toEqual(['new']);
    outputs.clear(false);
    expect(textsOf(outputs)).toEqual([]);
  });
});

it('resultOf gives the last value as it is shown, unless it is long', () => {
  const value = (text: string): Output => ({
    output_type: 'execute_result',
    data: { 'text/plain': text },
    metadata: {},
    execution_count: 1,
  });
  expect(resultOf([printed('a'), value('42')], 10)).toBe('42');
  expect(resultOf([value('x'.repeat(11))], 10)).toBeUndefined();
  expect(resultOf([printed('a')], 10)).toBeUndefined();
});
