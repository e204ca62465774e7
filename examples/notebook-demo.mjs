#!/usr/bin/env node
// The built-in notebook, offline: an MCP client starts Notebridge on a new .ipynb file, draws an image, makes a mistake and mends
// it, takes a change back, and the file on disk is whole. Nothing is needed but Node. Checks its own results.
//   node examples/notebook-demo.mjs            works without a window
//   node examples/notebook-demo.mjs --browser  shows it in your browser as well, and stays until you press Enter
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { heading, say, short } from './support/show.mjs';

const program = fileURLToPath(new URL('../packages/notebridge/bin/notebridge.js', import.meta.url));
const showsWindow = process.argv.includes('--browser');
const folder = mkdtempSync(join(tmpdir(), 'notebridge-demo-'));
const file = join(folder, 'demo.ipynb');
const agent = new Client({ name: 'demo-agent', title: 'Demo agent', version: '1.0.0' });
const watchdog = setTimeout(() => {
  console.error('The demo did not finish within 60 s.');
  process.exit(1);
}, 60_000);

try {
  heading('1. An agent host starts Notebridge on a notebook file');
  await agent.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, 'stdio', '--notebook', file], env: { ...process.env } }),
  );
  const { tools } = await agent.listTools();
  say('tools', tools.map(({ name }) => name).join(', '));
  if (showsWindow) await call('open_notebook_window', {});

  heading('2. It writes, and draws an image');
  await call('add_text_cell', { cellIndex: 0, content: '# Squares\n\nHow fast they grow.' });
  const drawn = await call('run_code', {
    code: [
      'from IPython.display import SVG',
      'bars = "".join(f\'<rect x="{30 * i}" y="{90 - i * i}" width="24" height="{i * i}" fill="#3b6fd4"/>\' for i in range(10))',
      'SVG(f\'<svg xmlns="http://www.w3.org/2000/svg" width="300" height="90">{bars}</svg>\')',
    ].join('\n'),
  });
  assert.equal(drawn.status, 'ok');
  assert.ok('image/svg+xml' in drawn.outputs[0].data);

  heading('3. It makes a mistake, reads the error, and mends the cell');
  const wrong = await call('run_code', { code: 'total = sum(n * n for n in range(101)) / 0\ntotal' });
  assert.equal(wrong.status, 'error');
  assert.equal(wrong.outputs.at(-1).ename, 'ZeroDivisionError');
  await call('update_cell', { cellId: wrong.newCellId, content: 'total = sum(n * n for n in range(101))\ntotal' });
  const mended = await call('run_code_cell', { cellId: wrong.newCellId });
  assert.equal(mended.outputs[0].data['text/plain'].join(''), '338350');

  heading('4. It deletes the wrong cell, and takes that back');
  const before = await call('get_cells', { includeOutputs: true });
  await call('delete_cell', { cellId: drawn.newCellId });
  await call('undo_last_change', {});
  const after = await call('get_cells', { includeOutputs: true });
  assert.deepEqual(withoutRevisions(after), withoutRevisions(before));

  if (showsWindow) {
    console.log('\nLook at the window, then press Enter.');
    clearTimeout(watchdog);
    process.stdin.resume();
    await once(process.stdin, 'data');
  }
} finally {
  clearTimeout(watchdog);
  await agent.close();
}

heading('5. The file on disk');
const notebook = JSON.parse(readFileSync(file, 'utf8'));
assert.equal(notebook.nbformat, 4);
assert.equal(notebook.cells.length, 3);
say('file', `${notebook.cells.length} cells, nbformat ${notebook.nbformat}.${notebook.nbformat_minor}`);
rmSync(folder, { recursive: true, force: true });
console.log('\nDone: a real Python kernel, a real file, nothing installed and no network. Every result was checked.');

/** Calls a tool as an agent does, shows the exchange, and gives the answer's value. */
async function call(name, args) {
  say('agent →', `${name} ${short(JSON.stringify(args))}`);
  const result = await agent.callTool({ name, arguments: args });
  const [block] = result.content;
  say('←', short(block.text));
  assert.ok(!result.isError, block.text);
  return block.text.startsWith('{') ? JSON.parse(block.text) : block.text;
}

/** A cell that was put back is the same cell in a new revision. */
function withoutRevisions({ cells }) {
  return cells.map(({ rev: _, ...cell }) => cell);
}
