// Measures what an agent reads of large outputs, beside jupyter-mcp-server and raw nbformat: `npm run bench -- outputs`
//   node bench/outputs.mjs [--peer PYTHON]   PYTHON: one that has jupyter-mcp-server. Default: one is made
// The same cells run in the same JupyterLab through both programs on stdio; raw nbformat, as Colab's page answers it, is what the file has.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pythonWith } from '../scripts/python-env.mjs';
import { startJupyterLab, writeNotebook } from './lib/jupyterlab.mjs';
import { writeResults } from './lib/results-file.mjs';
import { sleep } from './lib/stats.mjs';

const program = fileURLToPath(new URL('../packages/notebridge/bin/notebridge.js', import.meta.url));
const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== 'outputs'),
  options: { peer: { type: 'string' }, quick: { type: 'boolean' } },
});

/** A frame as pandas shows it, all rows of it, and a plot that hardly compresses. */
const cells = {
  '100,000 rows × 4 columns as HTML': `class Frame:
    def _repr_html_(self):
        rows = "".join(f"<tr><th>{i}</th><td>{i*2}</td><td>{i/7:.6f}</td><td>name {i % 100}</td><td>{i % 2 == 0}</td></tr>" for i in range(100_000))
        return f'<table border="1" class="dataframe"><thead><tr><th></th><th>a</th><th>b</th><th>c</th><th>d</th></tr></thead><tbody>{rows}</tbody></table>'
    def __repr__(self):
        return "100000 rows"
Frame()`,
  'a plot of 4 MB': `import struct, zlib, random
from IPython.display import Image
random.seed(1)
w, h = 1400, 1000
rows = b"".join(b"\\0" + random.randbytes(3 * w) for _ in range(h))
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
Image(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))`,
  '200,000 printed lines': 'for i in range(200_000): print("line", i, "of a long log file")',
  'a progress bar of 2,000 steps': `import sys
for i in range(2000):
    sys.stdout.write(f"\\r{i // 20:3}%|{'#' * (i // 100):<20}| {i}/2000 \\x1b[32mit/s\\x1b[0m"); sys.stdout.flush()`,
};

const base = mkdtempSync(join(tmpdir(), 'notebridge-bench-'));
const closers = [() => rmSync(base, { recursive: true, force: true })];
try {
  await main();
} finally {
  for (const close of closers.reverse()) await close();
}
process.exit(0);

async function main() {
  const { address, token, close } = await startJupyterLab(base);
  closers.push(close);
  const peerPython = values.peer ?? (await pythonWith(['jupyter-mcp-server'], { environment: 'peer' }));
  const rows = [];
  for (const [index, [what, code]] of Object.entries(cells).entries()) {
    const [ours, peer] = [`ours${index}`, `peer${index}`];
    for (const name of [ours, peer]) writeNotebook(base, name);
    const url = `${address}lab/tree/${ours}.ipynb?token=${token}`;
    const read = await ask(process.execPath, [program, '--notebook', `jupyter=${url}`], ['run_code', { code }]);
    const options = ['--jupyter-url', address.slice(0, -1), '--jupyter-token', token, '--document-id', `${peer}.ipynb`];
    const command = join(dirname(peerPython), 'jupyter-mcp-server');
    const tool = ['insert_execute_code_cell', { cell_index: -1, cell_source: code }];
    const readByPeer = await ask(command, ['start', '--transport', 'stdio', ...options], tool);
    rows.push([what, read, await rawOf(ours), readByPeer]);
    process.stderr.write(`bench: ${JSON.stringify(rows.at(-1))}\n`);
  }
  writeResults('outputs', toMarkdown(rows), {});
}

function toMarkdown(rows) {
  const lines = rows.map((row) => `| ${row.join(' | ')} |`);
  return `# Bench: what an agent reads of large outputs

${new Date().toISOString().slice(0, 10)} · ${availableParallelism()} cores · ${process.platform} ${process.arch} · Node ${process.version} · \`npm run bench -- outputs\`

The same cells in the same JupyterLab. Characters of text, and bytes of images in blocks of their own, in one answer. Raw nbformat is what Colab's page
answers to colab-mcp, whose agents get it as text, base64 included; here it is what the file has after a limit of 1 MiB of text and 10 MiB of the rest.

| cell | notebridge | raw nbformat (colab-mcp) | jupyter-mcp-server 2.2 |
| --- | --- | --- | --- |
${lines.join('\n')}
`;
}

/** What one call of a new agent answers, for the table. */
async function ask(command, args, [name, input]) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, NOTEBRIDGE_STATE_DIR: base } });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (id, method, params) =>
    new Promise((resolve) => {
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  await request(1, 'initialize', client);
  send({ method: 'notifications/initialized' });
  const answered = await Promise.race([request(2, 'tools/call', { name, arguments: input }), sleep(120_000)]);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.end();
  await Promise.race([ended, sleep(5000).then(() => child.kill('SIGKILL'))]);
  const content = answered?.result?.content;
  if (content === undefined)
    return answered === undefined ? 'no answer in 120 s' : `fails: ${JSON.stringify(answered.error ?? answered).slice(0, 60)}`;
  const texts = content.filter(({ type }) => type === 'text').reduce((sum, { text }) => sum + text.length, 0);
  const images = content.filter(({ type }) => type === 'image').reduce((sum, { data }) => sum + Buffer.from(data, 'base64').length, 0);
  return `${count(texts)} characters${images === 0 ? '' : `, image of ${count(images)} bytes`}`;
}

/** The outputs of the last cell as Jupyter saves them, once it has. */
async function rawOf(name) {
  for (let attempt = 0; attempt < 60; attempt++) {
    const { cells: saved } = JSON.parse(readFileSync(join(base, 'work', `${name}.ipynb`), 'utf8'));
    const outputs = saved.at(-1)?.outputs ?? [];
    if (outputs.length > 0) return `${count(JSON.stringify({ outputs }).length)} characters`;
    await sleep(500);
  }
  return 'not saved';
}

function count(number) {
  return number.toLocaleString('en');
}
