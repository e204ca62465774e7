// Makes the picture of the console: `node scripts/console-screenshot.mjs`. A real hub with servers of third parties, seen in a real Chromium.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { findChromium } from './chromium.mjs';

const program = fileURLToPath(new URL('../packages/notebridge/bin/notebridge.js', import.meta.url));
const picture = fileURLToPath(new URL('../docs/images/console.png', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'notebridge-screenshot-'));
const env = { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: join(home, 'state'), XDG_CONFIG_HOME: home };
const config = join(home, 'mcp.json');
const require = createRequire(import.meta.url);
const entry = (name) => join(dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`)), 'dist/index.js');
const node = (...args) => ({ command: process.execPath, args });
const mcpServers = {
  everything: node(entry('everything')),
  files: node(entry('filesystem'), home),
  memory: node(entry('memory')),
  weather: node('-e', 'console.error("WEATHER_API_KEY is not set"); process.exit(1)'),
};
writeFileSync(config, JSON.stringify({ mcpServers }));

const hub = spawn(process.execPath, [program, 'serve', '--port', '0', '--config', config, '--notebook', 'none'], { env, stdio: 'pipe' });
try {
  await untilSaid(hub.stderr, 'is given up');
  const token = run('grant', '--label', 'nightly report', '--ttl', '8h').trim();
  run('grant', '--label', 'research agent', '--agent', '--allow', 'memory:*');
  for (let times = 0; times < 12; times++) run('call', 'memory', 'read_graph');
  await call(token, 'files', 'read_text_file', { path: join(home, 'report.csv') });
  await call(token, 'memory', 'read_notes', {});
  const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox', '--disable-gpu'] });
  const page = await browser.newPage({ viewport: { width: 1240, height: 860 }, deviceScaleFactor: 1.5 });
  await page.goto(run('console', '--no-browser').trim());
  await page.getByRole('heading', { name: 'Failed last' }).waitFor();
  await page.screenshot({ path: picture });
  await browser.close();
} finally {
  hub.kill();
  await once(hub, 'close');
  rmSync(home, { recursive: true, force: true });
}

function run(...args) {
  try {
    return execFileSync(process.execPath, [program, ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (error) {
    return String(error.stdout);
  }
}

async function call(token, server, tool, args) {
  const { url } = JSON.parse(run('status', '--json'));
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  await fetch(`${url}/api/v1/mcp/proxy/${server}/tools/${tool}`, { method: 'POST', headers, body: JSON.stringify({ arguments: args }) });
}

function untilSaid(stream, text) {
  let said = '';
  return new Promise((resolve) => {
    // Heard to the end, so that the pipe never fills.
    stream.setEncoding('utf8').on('data', (part) => {
      said += part;
      if (said.includes(text)) resolve();
    });
  });
}
