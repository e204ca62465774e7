// @module-tag P-272

import { codeOf } from '@notebridge/protocol/core/errors';
import { expect, it } from 'vitest';
import { assertTerms, kernelNote, type NotebookTerms } from './notebook-terms.js';

const file = '/home/you/work.ipynb';
const plain: NotebookTerms = { sandbox: 'auto', readOnly: false, allowNet: [] };

function refusalOf(held: Partial<NotebookTerms>, wanted: Partial<NotebookTerms>): string | undefined {
  try {
    assertTerms(file, { held: { ...plain, ...held }, wanted: { ...plain, ...wanted } });
    return undefined;
  } catch (error) {
    return `${String(codeOf(error))}: ${(error as Error).message}`;
  }
}

it('lets in who insists on nothing, or on what the notebook keeps', () => {
  const cases: [held: Partial<NotebookTerms>, wanted: Partial<NotebookTerms>][] = [
    [{}, {}],
    [{ files: 'rw', allowNet: ['pypi.org'], sandbox: 'require' }, {}],
    [{ files: 'none' }, { files: 'none' }],
    [{ files: 'none' }, { files: 'ro' }],
    [{ sandbox: 'require' }, { files: 'ro' }],
    [{ allowNet: ['pypi.org'] }, { files: 'ro' }],
    [{ files: 'rw' }, { files: 'rw' }],
    [{ files: 'ro' }, { allowNet: ['pypi.org'] }],
    [{ allowNet: ['PyPI.org'] }, { allowNet: ['pypi.org', 'example.org'] }],
  ];
  for (const [held, wanted] of cases) expect([held, wanted, refusalOf(held, wanted)]).toEqual([held, wanted, undefined]);
});

it('refuses who insists on less than it gives, names the option, and says what to do', () => {
  const cases: [held: Partial<NotebookTerms>, wanted: Partial<NotebookTerms>, why: RegExp][] = [
    [{}, { sandbox: 'require' }, /^sandbox_unavailable: .*without --sandbox=require/],
    [{}, { readOnly: true }, /^bad_usage: .*--read-only cannot be had/],
    [{}, { files: 'none' }, /^bad_usage: .*more than "--files none" allows.*leave --files out/],
    // An own Python without a sandbox reaches all of it.
    [{}, { files: 'rw' }, /--files rw/],
    [{ files: 'ro' }, { files: 'none' }, /--files none/],
    [{ files: 'rw' }, { files: 'ro' }, /--files ro/],
    [{ sandbox: 'require' }, { files: 'none' }, /--files none/],
    [{}, { allowNet: ['pypi.org'] }, /more than "--allow-net pypi\.org" allows.*leave --allow-net out/],
    [{ allowNet: ['pypi.org', 'example.org'] }, { allowNet: ['pypi.org'] }, /--allow-net/],
  ];
  for (const [held, wanted, why] of cases) {
    expect(refusalOf(held, wanted), JSON.stringify({ held, wanted })).toMatch(why);
    expect(refusalOf(held, wanted)).toContain(`"notebridge stop ${file}"`);
  }
});

it('tells who asked for another kernel that it is not used, and how it would be', { tags: ['P-266'] }, () => {
  const noteOf = (held: string, wanted: string | undefined, location: string | null = file) =>
    kernelNote({ location, kernel: 'Pyodide 3.14' }, { isUsing: (kernel) => kernel === held, wanted: { ...plain, kernel: wanted } });
  for (const same of [undefined, 'auto', 'pyodide']) expect(noteOf('pyodide', same)).toBeUndefined();
  expect(noteOf('pyodide', '/home/you/.venv/bin/python')).toMatch(
    /open already, with Pyodide 3\.14.*--kernel \/home\/you\/\.venv\/bin\/python was not used.*notebridge stop \/home\/you\/work\.ipynb/,
  );
  expect(noteOf('ir', 'python3', null)).not.toContain('notebridge stop');
});
