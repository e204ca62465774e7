import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, describe, expect, it } from 'vitest';
import { createNodeColabPage } from '../fixtures/colab-page/node-page.js';
import { Program } from '../support/program.js';

type NodePage = ReturnType<typeof createNodeColabPage>;
type Outputs = ReturnType<NodePage['notebook']['findCell']>['outputs'];

interface Answer {
  text: string;
  value: JsonObject & { outputs: { text?: string[]; data?: JsonObject }[] };
  images: { data: string; mimeType: string }[];
}

let program: Program;
let page: NodePage;

async function open(...args: string[]): Promise<void> {
  program = await Program.open({ args });
  page = createNodeColabPage(await program.address());
  await program.notification('notifications/tools/list_changed');
}

afterEach(async () => {
  page.close();
  await program.close();
});

async function call(name: string, args: JsonObject): Promise<Answer> {
  const { result } = await program.callTool(name, args);
  const { content } = result as { content: { type: string; text?: string; data: string; mimeType: string }[] };
  const text = content.find(({ type }) => type === 'text')?.text ?? '';
  return { text, value: JSON.parse(text), images: content.filter(({ type }) => type === 'image') };
}

const addCell = (text: string): string => page.notebook.addCell(0, { cellType: 'code', text, language: 'python' });

/** A cell that has these outputs, as if they came of a run. */
function cellWith(outputs: unknown): string {
  const id = addCell('x');
  page.notebook.recordRun(id, { outputs: outputs as Outputs });
  return id;
}

const readCells = (): Promise<Answer> => call('get_cells', { includeOutputs: true });
const printed = (text: string) => ({ output_type: 'stream', name: 'stdout', text: [text] });

describe('outputs of a Colab page', () => {
  it('are answered with both ends of a long text, and get_output reads the rest without a gap', { tags: ['P-316'] }, async () => {
    await open();
    const cellId = addCell('for i in range(20000): print(i)');
    const { text, value } = await call('run_code_cell', { cellId });
    expect(text.length).toBeLessThanOrEqual(20_000);
    const shown = value.outputs[0]?.text ?? [];
    expect([shown[0], shown.at(-1)]).toEqual(['0\n', '19999\n']);
    expect(shown.join('')).toMatch(/\[\d+ lines, \d+ characters, left out here; get_output has them\]/);
    let whole = '';
    for (let from: number | undefined = 0; from !== undefined; ) {
      const part = await call('get_output', { cellId, outputIndex: 0, from });
      whole += part.value.text;
      from = part.value.next_from as number | undefined;
    }
    expect(whole).toBe(Array.from({ length: 20_000 }, (_, index) => `${index}\n`).join(''));
  });

  it('show a plot of 4 MB as one image block that a host can take, and a region of it in full size', { tags: ['deep'] }, async () => {
    await open();
    const cellId = addCell('display_png(1200, 1200)');
    const { text, images } = await call('run_code_cell', { cellId });
    expect(text.length).toBeLessThan(1000);
    expect(text).toContain('[image block 1 of this result: ');
    expect(images).toEqual([{ type: 'image', data: expect.any(String), mimeType: expect.stringMatching(/^image\/(png|jpeg)$/) }]);
    expect(Buffer.from(images[0]?.data ?? '', 'base64').length).toBeLessThanOrEqual(256 * 1024);
    const part = await call('get_output', { cellId, type: 'image/png', region: '100,100,50,40' });
    expect(part.text).toContain('50×40 PNG');
    expect(part.images).toHaveLength(1);
  });

  it('show a frame once, as a few lines, without codes of a terminal and with the last state of a bar', { tags: ['deep'] }, async () => {
    await open();
    const rows = Array.from({ length: 5000 }, (_, row) => `<tr><th>${row}</th><td>${row * 2}</td></tr>`).join('');
    const html = `<div><style>.x{}</style><table><tr><th></th><th>a</th></tr>${rows}</table></div>`;
    cellWith([
      printed('\r  0%|  | 0/2\r100%|##| 2/2\n\u001b[31mred\u001b[0m\n'),
      {
        output_type: 'execute_result',
        execution_count: 1,
        metadata: {},
        data: { 'text/html': [html], 'text/plain': ['      a\n0     0\n...'] },
      },
    ]);
    const { text, value } = await readCells();
    expect(text.length).toBeLessThan(3000);
    const [bar, frame] = (value.cells as Answer['value'][])[0]?.outputs ?? [];
    expect(bar?.text).toEqual(['100%|##| 2/2\n', 'red\n']);
    const table = [frame?.data?.['text/plain']].flat().join('');
    expect(table).toMatch(/^\[table: 5000 rows × 1 columns\]\n \| a\n0 \| 0\n/);
    expect(table).toMatch(/\n4999 \| 9998$/);
  });

  it('say what a chart shows in place of its script, however short that is', { tags: ['P-665'] }, async () => {
    await open();
    // Names of tags are of either case: https://html.spec.whatwg.org/multipage/syntax.html#elements-2
    const script = '<SCRIPT>Plotly.newPlot("p", [{"y": [1, 2]}], {})</SCRIPT>';
    const page = `<script>L.map("m", {center: [52.5, 13.4]}); L.marker([52.5, 13.4])</script>`.replaceAll('"', '&quot;');
    const data = [
      { 'text/html': [script], 'text/plain': ['Figure()'] },
      { 'application/vnd.plotly.v1+json': { data: [{ y: [1, 2] }] } },
      { 'text/html': [`<iframe srcdoc="${page}"></iframe>`] },
    ];
    cellWith(data.map((each) => ({ output_type: 'display_data', metadata: {}, data: each })));
    const { text } = await readCells();
    expect(text.match(/Plotly chart, 1 trace|Map \(Leaflet\), center 52.5, 13.4/g)).toHaveLength(3);
    expect(text).not.toMatch(/script>|newPlot|srcdoc/);
  });

  it('outputs that are small pass exactly as the page wrote them', { tags: ['P-317'] }, async () => {
    await open();
    const cellId = addCell('1 + 1');
    const { text } = await call('run_code_cell', { cellId });
    expect(text).toBe(JSON.stringify({ outputs: page.notebook.findCell(cellId).outputs }));
  });

  it('are read from the page, where nothing is remembered of them', { tags: ['deep'] }, async () => {
    await open();
    const cellId = cellWith([printed('seen by a person\n')]);
    expect((await call('get_output', { cellId })).value.text).toBe('seen by a person\n');
    expect((await call('get_output', { cellId: 'none' })).value.error).toMatchObject({ message: 'The cell "none" has no outputs.' });
    expect((await call('get_output', { cellId, outputIndex: -1 })).value.error).toMatchObject({ code: 'bad_arguments' });
  });

  it.each([
    [
      '10,000 displays',
      () =>
        Array.from({ length: 10_000 }, (_, index) => ({ output_type: 'display_data', metadata: {}, data: { 'text/plain': `${index}` } })),
    ],
    ['20 MB of text', () => [printed('line of text\n'.repeat(1_600_000))]],
    ['halves of characters and codes that never end', () => [printed(`\ud800${'\u001b]0;'.repeat(100_000)}\udc00`)]],
    ['what is no output', () => [null, 7, 'text', { output_type: 'new', data: 'x'.repeat(50_000) }, { output_type: 'error' }]],
    [
      'a damaged image',
      () => [{ output_type: 'display_data', metadata: {}, data: { 'image/png': 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ' } }],
    ],
  ])('are within the budget, whatever they are: %s', { tags: ['deep', 'P-316'] }, async (_, make) => {
    await open();
    cellWith(make());
    const { text, value, images } = await readCells();
    expect(text.length).toBeLessThanOrEqual(20_000);
    expect(value.cells).toHaveLength(1);
    expect(images).toEqual([]);
  });

  it.each([
    ['--outputs whole', ['--outputs', 'whole']],
    ['--list dynamic', ['--list', 'dynamic']],
  ])('pass as they are with %s', { tags: ['deep', 'P-317'] }, async (_, args) => {
    await open(...args);
    const cellId = addCell('display_png(300, 300)\nfor i in range(5000): print(i)');
    const { text, images } = await call('run_code_cell', { cellId });
    expect(text).toBe(JSON.stringify({ outputs: page.notebook.findCell(cellId).outputs }));
    expect(images).toEqual([]);
    const { result } = await program.request('tools/list');
    expect((result as { tools: { name: string }[] }).tools.map(({ name }) => name)).not.toContain('get_output');
  });
});
