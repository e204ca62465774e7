#!/usr/bin/env node
// The main job, end to end: an MCP client starts Notebridge as an agent host does, opens the notebook page, works in it, the
// page is reloaded, and the work goes on. The page is a stand-in for Google Colab's; everything else is real.
// Checks its own results: exit code 0 means that every step did what it says.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { heading, say, short } from './support/show.mjs';
import { startStandInBrowser } from './support/stand-in-browser.mjs';

const program = fileURLToPath(new URL('../packages/notebridge/bin/notebridge.js', import.meta.url));
const handOver = fileURLToPath(new URL('support/hand-over-url.mjs', import.meta.url));

const browser = await startStandInBrowser();
const browserCommand = await receiveUrls((url) => browser.open(url));
const agent = new Client({ name: 'demo-agent', version: '1.0.0' });
const watchdog = setTimeout(() => {
  console.error('The demo did not finish within 60 s.');
  process.exit(1);
}, 60_000);

try {
  heading('1. An agent host starts Notebridge over stdio');
  const env = { ...process.env, BROWSER: `"${process.execPath}" "${handOver}" %s`, NOTEBRIDGE_EXAMPLE_PORT: String(browserCommand.port) };
  await agent.connect(new StdioClientTransport({ command: process.execPath, args: [program], env }));
  say('agent', `connected to ${agent.getServerVersion()?.name} ${agent.getServerVersion()?.version}`);
  const { tools } = await agent.listTools();
  say('tools', `${tools.map(({ name }) => name).join(', ')} (listed before any page is there)`);
  assert.ok(tools.some(({ name }) => name === 'run_code_cell'));

  heading('2. The agent opens the notebook');
  say('page', `shown in ${browser.kind}`);
  const opened = await call('open_colab_browser_connection', {});
  assert.equal(opened, true);

  heading('3. It adds a text and a code cell, and runs the code');
  await call('add_text_cell', { cellIndex: 0, content: '# Squares' });
  const { newCellId } = await call('add_code_cell', {
    cellIndex: 1,
    language: 'python',
    code: 'total = 0\nfor n in range(1, 6):\n    total = total + n * n\n    print(n, n * n)\ntotal',
  });
  const { outputs } = await call('run_code_cell', { cellId: newCellId });
  assert.deepEqual(textOf(outputs), '1 1\n2 4\n3 9\n4 16\n5 25\n55');

  heading('4. It reads the notebook back');
  const before = await call('get_cells', { includeOutputs: true });
  assert.ok(before.cells.some(({ id }) => id === newCellId));

  heading('5. The person reloads the page; the agent just goes on');
  await browser.reload();
  say('page', 'reloaded: a fresh MCP server, which Notebridge has greeted anew');
  await call('update_cell', { cellId: newCellId, content: 'sum(range(101))' });
  const again = await call('run_code_cell', { cellId: newCellId });
  assert.equal(textOf(again.outputs), '5050');

  console.log('\nDone: one agent session, one open, one reload, no restart. Every result was checked.');
} finally {
  clearTimeout(watchdog);
  await agent.close();
  await browser.close();
  browserCommand.close();
}

/** Calls a tool as an agent does, shows the exchange, and gives the answer's value. */
async function call(name, args) {
  say('agent →', `${name} ${short(JSON.stringify(args))}`);
  const result = await agent.callTool(
    { name, arguments: args },
    { onprogress: ({ progress, total, message }) => say('progress', `${progress}/${total ?? '?'} ${message ?? ''}`) },
  );
  const [block] = result.content;
  say('page  ←', short(block.text));
  assert.ok(!result.isError, block.text);
  return JSON.parse(block.text);
}

/** The text of nbformat outputs: printed lines, then the value of the last line. */
function textOf(outputs) {
  const texts = outputs.map(({ text, data }) => [text ?? data?.['text/plain'] ?? []].flat().join(''));
  return texts.join('').trim();
}

/** Waits where `support/hand-over-url.mjs` delivers the URLs that Notebridge asks a browser to open. */
async function receiveUrls(onUrl) {
  const server = createServer(async (socket) => {
    let url = '';
    for await (const chunk of socket) url += chunk;
    await onUrl(url);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: server.address().port, close: () => server.close() };
}
