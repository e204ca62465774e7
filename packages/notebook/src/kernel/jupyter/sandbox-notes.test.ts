// @module-tag P-683

import { expect, it } from 'vitest';
import type { Output } from '../../model/output.js';
import { createSandboxNotes, type GivenReach, type Restriction } from './sandbox-notes.js';

const reach: GivenReach = { folder: '/home/you/work', files: 'ro', allowNet: [], python: '/home/you/.venv/bin/python' };

function errorOf(ename: string, evalue: string, ...traceback: string[]): Output {
  return { output_type: 'error', ename, evalue, traceback };
}

function textOf(text: string): Output {
  return { output_type: 'stream', name: 'stdout', text };
}

function noteOn(output: Output, { source = '', ...given }: Partial<GivenReach> & { source?: string } = {}) {
  const { outputs, restriction } = createSandboxNotes({ ...reach, ...given }, source)(output);
  const last = outputs.at(-1);
  const note =
    last?.output_type === 'error' ? last.traceback.at(-1) : outputs.length > 1 && last?.output_type === 'stream' ? last.text : '';
  return { note: String(note), restriction };
}

const unknown = '[Errno -2] Name or service not known';
it.each<[string, Output, object, RegExp, Restriction | undefined]>([
  [
    'a write to the folder',
    errorOf('OSError', "[Errno 30] Read-only file system: 'new.txt'"),
    {},
    /read-only for it.*--files rw/,
    { kind: 'write', folder: reach.folder },
  ],
  ['a write elsewhere', errorOf('OSError', "[Errno 30] Read-only file system: '/etc/x'"), {}, /below \/tmp alone/, undefined],
  [
    'a server by its address',
    errorOf('URLError', `<urlopen error ${unknown}>`, '\u001b[32murlopen\u001b[39m("https://pypi.org/simple")'),
    {},
    /reaches no server\..*--allow-net pypi\.org$/,
    { kind: 'network', host: 'pypi.org' },
  ],
  [
    'a server by its name',
    errorOf('gaierror', unknown),
    { source: 'socket.create_connection(("db.example.org", 5432))', allowNet: ['pypi.org'] },
    /no server but pypi\.org.*--allow-net db\.example\.org$/,
    { kind: 'network', host: 'db.example.org' },
  ],
  ['a server that is not named', errorOf('gaierror', unknown), {}, /--allow-net HOST$/, undefined],
  [
    'a program that reaches nothing',
    textOf('curl: (6) Could not resolve host: example.org\n'),
    {},
    /--allow-net example\.org/,
    { kind: 'network', host: 'example.org' },
  ],
  [
    'an installation',
    textOf(`Failed to resolve 'pypi.org' (${unknown})`),
    { source: '%pip install -q polars' },
    /In a terminal: \/home\/you\/\.venv\/bin\/python -m pip install polars\./,
    { kind: 'install' },
  ],
  [
    'an installation that pip has given up',
    textOf('ERROR: No matching distribution found for polars\n'),
    { source: '!pip install polars' },
    /in which nothing is installed/,
    { kind: 'install' },
  ],
  ['a missing module', errorOf('ModuleNotFoundError', "No module named 'polars'"), {}, /pip install polars/, { kind: 'install' }],
])('says of %s what would give it', (_, output, given, note, restriction) => {
  expect(noteOn(output, given)).toEqual({ note: expect.stringMatching(note), restriction });
});

it('says nothing of other errors, nor of text that a program prints, and nothing twice', () => {
  for (const output of [
    errorOf('PermissionError', "[Errno 13] Permission denied: 'x'", 'Traceback'),
    textOf("No module named 'polars'\nRead-only file system: 'x'"),
    textOf('x'.repeat(100_000)),
  ])
    expect(createSandboxNotes(reach, '')(output)).toEqual({ outputs: [output] });
  const note = createSandboxNotes(reach, '');
  const failing = textOf('Could not resolve host: example.org');
  expect([note(failing), note(failing)].map(({ outputs }) => outputs.length)).toEqual([2, 1]);
});

it('is quick about texts that almost match', () => {
  const start = performance.now();
  for (const text of ['https://'.repeat(20_000), `"${'a.'.repeat(50_000)}`, 'pip '.repeat(50_000), "resolve '".repeat(20_000)])
    createSandboxNotes(reach, text)(errorOf('gaierror', unknown, text));
  expect(performance.now() - start).toBeLessThan(2000);
});
