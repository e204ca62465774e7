import { expect, it } from 'vitest';
import { describeChoice } from './notebook.js';

it('says at a terminal which kernel runs, and what its code may do', { tags: ['P-695'] }, () => {
  const choice = { id: 'pyodide', displayName: 'Python (Pyodide)', reason: 'it was asked for', isolation: 'Python in WebAssembly.' };
  expect(describeChoice({ ...choice, proposal: null, options: [], mayAllow: null, notice: null })).toEqual([
    'Its code runs in Python (Pyodide): it was asked for.',
    'Python in WebAssembly.',
  ]);
});
