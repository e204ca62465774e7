// @module-tag deep

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { LabWorkspace } from '../../src/lab/lab-workspace.js';
import { Agent, type Answer } from './support/agent.js';
import { codeCell, installTimeoutMs, TestLab } from './support/jupyter.js';
import { until } from './support/patient-until.js';
import { hasBrowser, Person, withoutBrowser } from './support/person.js';

// Each is named by the thread of datalayer/jupyter-mcp-server in which its users ask for it. #96 and #146 are in live.test.ts.
const timeout = 400_000;
/** Longer than the three minutes after which the cell of #298 was given up. */
const longCellSeconds = 185;

let lab: TestLab;
let browser: Browser;
let person: Person;
let patient: Agent;
let longRun: Promise<Followed>;

interface Followed {
  /** What each call answered of what was printed. */
  pieces: string[];
  status: string;
}

beforeAll(async () => {
  if (!hasBrowser) return;
  [lab, browser] = await Promise.all([TestLab.start(), openChromium()]);
  await lab.write('long.ipynb', [codeCell('one', '')]);
  patient = await Agent.open(lab.server, 'long.ipynb');
  // It runs beside the other tests, in a notebook of its own.
  longRun = follow(patient, `import time\nfor second in range(${longCellSeconds}):\n    time.sleep(1)\n    print(second)`);
  longRun.catch(() => {});
  person = await Person.open(browser, lab);
}, installTimeoutMs);
afterAll(async () => {
  await patient?.close();
  await browser?.close();
  await lab?.close();
});

it('#256, #446, #447: two agents in two notebooks never meet, whoever switches when', {
  ...drivesBrowser,
  timeout,
  tags: ['P-224'],
}, async ({ skip }) => {
  skip(!hasBrowser, withoutBrowser);
  for (const name of ['a', 'b', 'c']) await lab.write(`${name}.ipynb`, [codeCell('one', `# ${name}`)]);
  const workspace = new LabWorkspace({ target: { baseUrl: lab.baseUrl, token: lab.token } });
  onTestFinished(() => workspace.close());
  const call = async (agent: string, name: string, args: object = {}) => {
    const { content } = await workspace.callTool(name, args, { sessionId: agent, agent });
    return JSON.parse(content[0]?.type === 'text' ? content[0].text : '{}');
  };
  expect((await call('ann', 'add_text_cell', { cellIndex: 0, content: 'x' })).error).toMatchObject({
    code: 'no_notebook',
    notebooks: expect.arrayContaining(['a.ipynb']),
  });
  // A person looks at the third, which must not matter.
  await person.show('c.ipynb');
  await Promise.all([call('ann', 'connect_notebook', { notebook: 'a.ipynb' }), call('bob', 'connect_notebook', { notebook: 'b.ipynb' })]);
  const steps = ['ann', 'bob'].map(async (agent) => {
    for (let step = 0; step < 10; step++) await call(agent, 'run_code', { code: `who = "${agent}"; ${step}` });
    return call(agent, 'run_code', { code: 'who' });
  });
  const [ofAnn, ofBob] = await Promise.all(steps);
  expect(ofAnn.outputs[0].data['text/plain']).toEqual(["'ann'"]);
  expect(ofBob.outputs[0].data['text/plain']).toEqual(["'bob'"]);
  expect(await call('bob', 'connect_notebook', { notebook: 'c.ipynb' })).toMatchObject({ path: 'c.ipynb', live: true });
  // Who is there is told from time to time.
  await until(async () => (await call('bob', 'get_notebook_info')).people.join().includes('Anonymous'));
  await call('bob', 'add_text_cell', { cellIndex: 1, content: 'From Bob.' });
  expect(await call('ann', 'get_notebook_info')).toMatchObject({ path: 'a.ipynb', cells: 12 });
  await person.sees('From Bob.');
  const textOf = async (file: string) => (await lab.read(file)).cells.map(({ source }) => [source].flat().join('')).join('\n');
  await until(
    async () =>
      (await textOf('a.ipynb')).endsWith('\nwho') &&
      (await textOf('b.ipynb')).endsWith('\nwho') &&
      (await textOf('c.ipynb')).endsWith('From Bob.'),
    100_000,
  );
  expect(await textOf('a.ipynb')).not.toMatch(/bob|Bob/);
  expect(await textOf('b.ipynb')).not.toMatch(/ann/);
  expect(await textOf('c.ipynb')).toBe('# c\nFrom Bob.');
});

it('#200: a plot is an image block, and no text of a hundred thousand characters', { ...drivesBrowser, timeout }, async ({ skip }) => {
  skip(!hasBrowser, withoutBrowser);
  await lab.write('plot.ipynb', [codeCell('one', '')]);
  const agent = await Agent.open(lab.server, 'plot.ipynb');
  onTestFinished(() => agent.close());
  await person.show('plot.ipynb');
  const { value, text, images } = await agent.call('run_code', { code: plot });
  expect(value.outputs[0].data['image/png']).toMatch(/^\[image block 1/);
  expect(images).toBe(1);
  expect(text.length).toBeLessThan(1000);
  const read = await agent.call('get_cells', { includeOutputs: true });
  expect([read.images, read.text.length < 2000]).toEqual([1, true]);
  // The person sees it whole.
  await until(
    async () =>
      (
        await person.page
          .locator('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-RenderedImage img')
          .evaluateAll((all) => all.map((image) => (image as HTMLImageElement).naturalWidth))
      )[0] === 300,
    100_000,
  );
});

it('#141, #169: of 200,000 printed lines the answer has the ends, and notebook, tab and room live on', {
  ...drivesBrowser,
  timeout,
}, async ({ skip }) => {
  skip(!hasBrowser, withoutBrowser);
  await lab.write('lines.ipynb', [codeCell('one', 'x = 1'), codeCell('two', 'x + 1')]);
  const agent = await Agent.open(lab.server, 'lines.ipynb');
  onTestFinished(() => agent.close());
  await person.show('lines.ipynb');
  const { value, text } = await agent.call('run_code', { code: 'for i in range(200_000): print("line", i, "of a long log file")' });
  expect(value.status).toBe('ok');
  expect(text.length).toBeLessThanOrEqual(20_000);
  const lines = value.outputs.flatMap((output: { text?: string[] }) => output.text ?? []);
  expect(lines[0]).toBe('line 0 of a long log file\n');
  expect(lines.join('')).toMatch(/lines, \d+ characters, left out here/);
  const read = await agent.call('get_cells', { includeOutputs: true });
  expect(read.text.length).toBeLessThanOrEqual(20_000);
  await agent.call('add_text_cell', { cellIndex: 3, content: 'After the flood.' });
  await until(async () => (await lab.read('lines.ipynb')).cells.length === 4);
  expect((await lab.read('lines.ipynb')).cells.map(({ id }) => id).slice(0, 2)).toEqual(['one', 'two']);
  await person.type(0, '0');
  await until(async () => (await agent.cells())[0]?.source === 'x = 10');
});

it('#298: a cell of more than three minutes is followed piece by piece, while others work', {
  ...drivesBrowser,
  timeout: 400_000,
}, async ({ skip }) => {
  skip(!hasBrowser, withoutBrowser);
  const { pieces, status } = await longRun;
  expect(status).toBe('ok');
  // A call that waits no longer than 45 seconds takes part in no more than so many lines.
  expect(pieces.length).toBeGreaterThan(longCellSeconds / 60);
  expect(pieces.join('')).toBe(Array.from({ length: longCellSeconds }, (_, second) => `${second}\n`).join(''));
});

it('a cell that takes longer than a call is followed, and ended', { ...drivesBrowser, timeout, tags: ['P-269'] }, async ({ skip }) => {
  skip(!hasBrowser, withoutBrowser);
  await lab.write('endless.ipynb', [codeCell('one', 'import time\nprint("begun")\nwhile True: time.sleep(0.1)')]);
  const agent = await Agent.open(lab.server, 'endless.ipynb');
  onTestFinished(() => agent.close());
  const { value } = await agent.call('run_code_cell', { cellId: 'one', wait_seconds: 0 });
  const begun = await agent.call('get_run', { run_id: value.run_id, wait_for: 'output', wait_seconds: 60 });
  expect(begun.value).toMatchObject({ status: 'running', outputs: [{ text: ['begun\n'] }] });
  const followed = agent.call('get_run', { run_id: value.run_id, cursor: begun.value.cursor, wait_seconds: 60 });
  await agent.call('interrupt_run', { run_id: value.run_id });
  expect((await followed).value).toMatchObject({ status: 'interrupted', outputs: [{ ename: 'KeyboardInterrupt' }] });
});

/** Runs the code as an agent does that waits no longer than usual for any call. */
async function follow(agent: Agent, code: string): Promise<Followed> {
  const textOf = ({ outputs }: Answer['value']): string => outputs.flatMap(({ text }: { text: string[] }) => text).join('');
  const pieces: string[] = [];
  let { value } = await agent.call('run_code', { code });
  const { run_id } = value;
  for (;;) {
    pieces.push(textOf(value));
    if (value.status !== 'running') return { pieces, status: value.status };
    ({ value } = await agent.call('get_run', { run_id, cursor: value.cursor, wait_seconds: 45 }));
  }
}

/** 300 × 300 pixels of noise, as matplotlib would give them: a png of more than 100,000 characters. */
const plot = `
import random, struct, zlib
from IPython.display import Image, display
random.seed(1)
rows = b"".join(b"\\0" + random.randbytes(900) for _ in range(300))
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 300, 300, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
display(Image(png))`;
