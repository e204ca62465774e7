// Measures work in a notebook of JupyterLab, beside jupyter-mcp-server: `npm run bench -- jupyterlab`
//   node bench/jupyterlab.mjs [--quick] [--peer PYTHON]   PYTHON: one that has jupyter-mcp-server. Default: one is made
// Each agent is a real program on stdio, the server a real JupyterLab with jupyter-collaboration, the open tab a real Chromium.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { pythonWith } from '../scripts/python-env.mjs';
import { startJupyterLab, writeNotebook } from './lib/jupyterlab.mjs';
import { cellsOfTasks, measureTasks, notebridgeAgent, peerAgent } from './lib/jupyterlab-tasks.mjs';
import { quantile, sleep } from './lib/stats.mjs';

const program = fileURLToPath(new URL('../packages/notebridge/bin/notebridge.js', import.meta.url));
const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== 'jupyterlab'),
  options: { quick: { type: 'boolean', default: false }, peer: { type: 'string' } },
});
/** A program that loses its notebook does not answer any more. */
const stepMs = 240_000;
const count = values.quick ? 10 : 40;

const base = mkdtempSync(join(tmpdir(), 'notebridge-bench-'));
const closers = [() => rmSync(base, { recursive: true, force: true })];
try {
  await main();
} finally {
  for (const close of closers.reverse()) await close();
}
process.exit(0);

async function main() {
  const server = await startJupyterLab(base);
  closers.push(server.close);
  const { address, token } = server;
  for (const name of ['ours', 'peer', 'tab', 'flood', 'flood-peer']) writeNotebook(base, name, [cell('one', 'a = 1')]);
  for (const name of ['tasks', 'tasks-peer']) writeNotebook(base, name, cellsOfTasks(cell));
  writeNotebook(
    base,
    'large',
    Array.from({ length: 2000 }, (_, index) => cell(`c${index}`, `x${index} = ${index}`)),
  );
  const ours = (file) => ({
    command: process.execPath,
    args: [program, '--notebook', `jupyter=${address}lab/tree/${file}.ipynb?token=${token}`],
    run: (code) => ['run_code', { code }],
  });
  const peerPython = values.peer ?? (await pythonWith(['jupyter-mcp-server'], { environment: 'peer' }));
  const peer = (file) => ({
    command: join(dirname(peerPython), 'jupyter-mcp-server'),
    args: [
      'start',
      '--transport',
      'stdio',
      '--jupyter-url',
      address.replace(/\/$/, ''),
      '--jupyter-token',
      token,
      '--document-id',
      `${file}.ipynb`,
    ],
    run: (code) => ['insert_execute_code_cell', { cell_index: -1, cell_source: code }],
  });
  const results = {
    date: new Date().toISOString().slice(0, 10),
    machine: { cores: availableParallelism(), platform: `${process.platform} ${process.arch}`, node: process.version, load: loadavg()[0] },
  };
  const steps = {
    ours: () => measure(ours, ['ours', 'flood']),
    tab: () => measureTab(server, ours),
    large: () => measureLarge(ours),
    tasks: () => runTasks(ours('tasks'), notebridgeAgent),
    peerTasks: () => runTasks(peer('tasks-peer'), peerAgent),
    // Last, since it loses its room.
    peer: () => measure(peer, ['peer', 'flood-peer']),
  };
  for (const [name, step] of Object.entries(steps)) {
    process.stderr.write(`bench: ${name}\n`);
    results[name] = await Promise.race([step(), sleep(stepMs).then(() => ({ failed: `no end within ${stepMs / 1000} s` }))]).catch(
      (error) => ({
        failed: String(error).slice(0, 200),
      }),
    );
    process.stderr.write(`${JSON.stringify(results[name])}\n`);
  }
  process.stdout.write(`${JSON.stringify(results, null, 1)}\n`);
}

async function measure(of, [file, flood]) {
  const agent = of(file);
  const startedAt = performance.now();
  const client = await open(agent);
  const { tools } = await client.request('tools/list', {});
  const coldMs = performance.now() - startedAt;
  await client.call(...agent.run('1+1'));
  const times = await timesOf(count, () => client.call(...agent.run('1+1')));
  client.end();
  process.stderr.write(`${JSON.stringify({ coldMs, listBytes: JSON.stringify(tools).length, cellP50Ms: quantile(times, 0.5) })}\n`);
  const flooded = await open(of(flood));
  await flooded.call(...agent.run('1'));
  const floodedAt = performance.now();
  const answer = await flooded.call(...agent.run('for i in range(200_000): print("line", i, "of a long log file")'));
  const floodMs = performance.now() - floodedAt;
  const after = await flooded.call(...agent.run('6 * 7'));
  flooded.end();
  return {
    coldMs,
    listBytes: JSON.stringify(tools).length,
    cellP50Ms: quantile(times, 0.5),
    cellP90Ms: quantile(times, 0.9),
    floodCharacters: JSON.stringify(answer).length,
    floodMs,
    worksAfterFlood: JSON.stringify(after).includes('42'),
  };
}

async function runTasks(program, adapter) {
  const client = await open(program);
  const found = await measureTasks(client, adapter);
  client.end();
  return found;
}

/** From the call of the agent to the moment at which the open page has the text. */
async function measureTab({ address, token }, ours) {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  closers.push(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${address}doc/tree/tab.ipynb?token=${token}`);
  await page.locator('.jp-Notebook .jp-Cell .cm-content').first().waitFor();
  const client = await open(ours('tab'));
  await client.call('get_cells', {});
  const times = [];
  for (let round = 0; round < count; round++) {
    const text = `a = ${1000 + round}`;
    const seen = page.evaluate(async (wanted) => {
      const has = () => document.querySelector('.jp-Notebook .jp-Cell .cm-content')?.textContent?.includes(wanted);
      while (!has()) await new Promise((resolve) => requestAnimationFrame(resolve));
    }, text);
    const startedAt = performance.now();
    await client.call('update_cell', { cellId: 'one', content: text });
    await seen;
    times.push(performance.now() - startedAt);
  }
  client.end();
  return { seenP50Ms: quantile(times, 0.5), seenP90Ms: quantile(times, 0.9) };
}

async function measureLarge(ours) {
  const client = await open(ours('large'));
  const [openMs] = await timesOf(1, () => client.call('get_notebook_info', {}));
  const readMs = quantile(await timesOf(5, () => client.call('get_cells', {})), 0.5);
  await client.call('run_code', { code: '1+1' });
  const editMs = quantile(await timesOf(count, (round) => client.call('update_cell', { cellId: 'c1000', content: `y = ${round}` })), 0.5);
  const cellMs = quantile(await timesOf(count, () => client.call('run_code', { code: '1+1' })), 0.5);
  client.end();
  return { openMs, readMs, editMs, cellMs };
}

async function timesOf(rounds, work) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    await work(round);
    times.push(performance.now() - startedAt);
  }
  return times;
}

/** An MCP client on the stdio of a program. */
async function open({ command, args }) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, NOTEBRIDGE_STATE_DIR: base } });
  closers.push(() => child.kill());
  const waiting = new Map();
  let lastId = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, ({ result, error }) => (error ? reject(new Error(JSON.stringify(error))) : resolve(result)));
      send({ id, method, params });
    });
  await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
  send({ method: 'notifications/initialized' });
  return { request, call: (name, input) => request('tools/call', { name, arguments: input }), end: () => child.stdin.end() };
}

function cell(id, source) {
  return { cell_type: 'code', id, source, metadata: {}, outputs: [], execution_count: null };
}
