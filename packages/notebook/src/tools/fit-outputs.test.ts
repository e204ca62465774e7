import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyOutput } from '../../test/support/notebooks.js';
import type { Output } from '../model/output.js';
import { fromKernel, splitOutput } from '../model/outputs.js';
import { fitOutputs, shareOut } from './fit-outputs.js';

const printed = (lines: readonly string[]) => [{ name: 'stdout', output_type: 'stream', text: [...lines] }];

describe('fitOutputs', () => {
  it('leaves what fits as it is', () => {
    fc.assert(
      fc.property(fc.array(anyOutput, { maxLength: 3 }), (outputs) => {
        const onDisk = outputs.map((output) => splitOutput(fromKernel(output as Output)));
        expect(fitOutputs(onDisk, 100_000)).toEqual(onDisk);
      }),
    );
  });

  it('keeps to its limit, whatever the outputs are', () => {
    const long = anyOutput.map((output) => JSON.parse(JSON.stringify(output).replace(/"text":"/, `"text":"${'x\\n'.repeat(2000)}`)));
    fc.assert(
      fc.property(fc.array(long, { maxLength: 60 }), fc.integer({ min: 2000, max: 8000 }), (outputs, max) => {
        const onDisk = outputs.map((output) => splitOutput(fromKernel(output as Output)));
        expect(JSON.stringify(fitOutputs(onDisk, max)).length).toBeLessThanOrEqual(max);
      }),
      { numRuns: 100 },
    );
  });

  it('keeps to it where the outputs fit, and the list of them is one character too long', () => {
    const outputs = printed(['x'.repeat(3000)]);
    const max = JSON.stringify(outputs).length - 1;
    expect(JSON.stringify(fitOutputs(outputs, max)).length).toBeLessThanOrEqual(max);
  });

  it('keeps to it where metadata take more than all of it, and where each of many kinds is named as left out', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`application/x-${index}`, 'x'.repeat(500)]));
    const outputs = [
      { output_type: 'display_data', data: { 'text/plain': ['shown'] }, metadata: { of: 'x'.repeat(50_000) } },
      { output_type: 'display_data', data: many, metadata: {} },
      ...printed(['the end\n']),
    ];
    const fitted = fitOutputs(outputs, 3000);
    expect(JSON.stringify(fitted).length).toBeLessThanOrEqual(3000);
    expect(fitted).toMatchObject([
      { data: { 'text/plain': ['shown'] }, metadata: {} },
      { text: [expect.stringMatching(/left out here/)] },
      { text: ['the end\n'] },
    ]);
  });

  it('shows both ends of a long text, and counts what is between them', () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index}\n`);
    const [output] = fitOutputs(printed(lines), 5000);
    const text = output?.text as string[];
    expect(text[0]).toBe('line 0\n');
    expect(text.at(-1)).toBe('line 9999\n');
    const note = text.findIndex((line) => line.startsWith('['));
    const [, count] = /^\[(\d+) lines, \d+ characters, left out here/.exec(text[note] ?? '') ?? [];
    expect(Number(count) + text.length - 1).toBe(10_000);
  });

  it('shows both ends of one line that is too long, and cuts no character in two', () => {
    const [output] = fitOutputs(printed([`${'😀'.repeat(50_000)}end`]), 3000);
    const text = String((output?.text as string[] | undefined)?.join(''));
    expect(text).toMatch(/^(😀)+\[\d+ characters left out here; get_output has them\](😀)+end$/u);
  });

  it('keeps the error at the end of a flood of outputs', () => {
    const many = Array.from({ length: 1000 }, (_, index) => printed([`${index}\n`])[0] ?? {});
    const error = { output_type: 'error', ename: 'E', evalue: 'why', traceback: ['here'] };
    const fitted = fitOutputs([...many, error], 5000);
    expect(fitted.at(-1)).toEqual(error);
    expect(JSON.stringify(fitted)).toContain('outputs left out here');
  });

  it('leaves out HTML that does not fit, and keeps the plain text of it', () => {
    const data = { 'text/html': ['<table>', 'x'.repeat(10_000)], 'text/plain': ['a table'] };
    const [output] = fitOutputs([{ output_type: 'display_data', metadata: {}, data }], 2000);
    expect(output?.data).toEqual({ 'text/html': expect.stringMatching(/^\[left out: \d+ characters/), 'text/plain': ['a table'] });
  });
});

describe('shareOut', () => {
  it('gives small ones all, and large ones the same', () => {
    expect(shareOut([10, 1000, 20, 1000], 530)).toEqual([10, 250, 20, 250]);
  });
});
