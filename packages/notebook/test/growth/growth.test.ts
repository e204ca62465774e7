// @runs process
import { parseJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { type GrowingKind, growthOfWork, testGrowth } from '../../../notebridge/test/support/growth.js';
import { mergeNotebooks } from '../../src/host/merge.js';
import { parseViewerMessage } from '../../src/host/viewer-request.js';
import { createSandboxNotes } from '../../src/kernel/jupyter/sandbox-notes.js';
import { parseKernelMessage } from '../../src/lab/kernel-channel.js';
import { createDocument } from '../../src/model/document.js';
import { parseNotebook, printNotebook } from '../../src/model/nbformat.js';
import type { Output } from '../../src/model/output.js';
import { fromKernel } from '../../src/model/outputs.js';
import { describeScripted } from '../../src/outputs/scripted-summary.js';
import { fitOutputs } from '../../src/tools/fit-outputs.js';
import { createImageCollector } from '../../src/tools/output-content.js';
import { ModelState, parseStatePart } from '../../src/widgets/model-state.js';

type Make = (part: unknown) => unknown;

const by = { by: { kind: 'agent', name: 'one' } as const };
const bundle = (data: unknown, more: JsonObject = {}) => ({ output_type: 'display_data', data, metadata: {}, ...more });
const outputs: Record<string, Make> = {
  'the bundle of a display': (part) => bundle(part),
  'a value of a display': (part) => bundle({ 'text/plain': part, 'text/html': part, 'application/json': part }),
  'the metadata of a display': (part) => bundle({ 'text/plain': 'x' }, { metadata: part }),
  'a printed text': (part) => ({ output_type: 'stream', name: 'stdout', text: part }),
  'a traceback': (part) => ({ output_type: 'error', ename: 'E', evalue: 'e', traceback: part }),
  'a message of an error': (part) => ({ output_type: 'error', ename: 'E', evalue: part, traceback: [] }),
};
const notebookOf = (cells: unknown, metadata: unknown = {}) => ({ cells, metadata, nbformat: 4, nbformat_minor: 5 });
const cellOf = (more: JsonObject) => ({
  id: 'a',
  cell_type: 'code',
  execution_count: null,
  metadata: {},
  outputs: [],
  source: '',
  ...more,
});
const notebooks: Record<string, Make> = {
  'the metadata of a notebook': (part) => notebookOf([], part),
  'the metadata of a cell': (part) => notebookOf([cellOf({ metadata: part })]),
  'the source of a cell': (part) => notebookOf([cellOf({ source: part })]),
  'the outputs of a cell': (part) => notebookOf([cellOf({ outputs: Array.isArray(part) ? part.map((text) => bundle({ text })) : [] })]),
  'the cells of a notebook': (part) =>
    notebookOf(Array.isArray(part) ? part.slice(0, 10_000).map((source, at) => cellOf({ id: `c${at}`, source: `${source}` })) : []),
};

async function takeOutput(text: string): Promise<void> {
  const output = fromKernel(parseJson(text) as Output);
  const document = createDocument();
  const { id } = document.insert(0, { type: 'code', source: '' }, by);
  document.appendOutput(id, output, by);
  document.replaceOutput(id, 0, output, by);
  document.appendOutput(id, output, by);
  document.finishOutputs(id, by);
  const kept = document.get(id).cell.outputs ?? [];
  fitOutputs(await createImageCollector({}).collect(kept), 20_000);
  printNotebook(document.toNotebook());
}

function takeNotebook(text: string): void {
  const { notebook } = parseNotebook(text);
  printNotebook(notebook);
  mergeNotebooks({ ...notebook, cells: [] }, notebook, { ...notebook, cells: notebook.cells.toReversed() });
}

function takeState(text: string): void {
  const part = parseStatePart(JSON.parse(text), []);
  if (part === undefined) return;
  const state = new ModelState();
  state.set(part);
  state.part();
}

const kinds: GrowingKind[] = [
  ...Object.entries(outputs).map(([name, make]): GrowingKind => [name, make, takeOutput]),
  ...Object.entries(notebooks).map(([name, make]): GrowingKind => [name, make, takeNotebook]),
  ['the state of a widget', (part) => ({ state: part, buffer_paths: [] }), takeState],
  ['an attribute of a widget', (part) => ({ state: { value: part }, buffer_paths: [] }), takeState],
  ['the buffer paths of a widget', (part) => ({ state: {}, buffer_paths: part }), takeState],
  [
    'a message of a window',
    (part) => ({ type: 'request', id: 1, action: { do: 'callWidget', commId: 'x', cellId: 'a', data: part } }),
    parseViewerMessage,
  ],
  [
    'a source of a window',
    (part) => ({ type: 'request', id: 1, action: { do: 'setSource', cellId: 'a', source: part } }),
    parseViewerMessage,
  ],
  [
    'a message of Jupyter',
    (part) => ({ channel: 'iopub', header: { msg_id: 'x', msg_type: 'stream' }, parent_header: {}, metadata: {}, content: part }),
    (text) => parseKernelMessage(Buffer.from(text), false),
  ],
];

describe('a message that grows', () => testGrowth(kinds, { coreHasOneIn: 12, tags: ['P-648'] }));

const reach = { folder: '/a', files: 'ro', allowNet: [], python: 'python3' } as const;
it.each<[string, (size: number) => unknown, largest: number]>([
  ['a page of frames that do not end', (size) => describeScripted({ 'text/html': '<iframe'.repeat(size) }), 2 ** 13],
  ['a source of empty lines', (size) => createSandboxNotes(reach, '\n'.repeat(size)), 2 ** 10],
])('%s costs no more than it is larger', { tags: ['P-648'] }, async (_, work, largest) => {
  expect(await growthOfWork(work, largest)).toBeLessThan(8);
});
