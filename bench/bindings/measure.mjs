// What is measured of the generated packages: making them, importing one function of them, calling it.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonWith } from '../../scripts/python-env.mjs';
import { tools } from '../gateways/echo-tools.mjs';
import { startGateway } from '../gateways/gateway.mjs';
import { targets } from '../gateways/targets.mjs';
import { home, startNode, startProgram, within } from '../lib/children.mjs';
import { shuffle } from '../lib/stats.mjs';
import { toolName } from './tools.mjs';

const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url));
const part = (path) => import(new URL(`../../packages/code-mode/dist/bindings/${path}.js`, import.meta.url).href);

/** By language and number of tools: emitting, writing, and the longest time for which a hub would have answered nobody. */
export async function measureWriting(rounds, counts) {
  const languages = ['python', 'typescript'];
  const measured = Object.fromEntries(languages.map((language) => [language, Object.fromEntries(counts.map((count) => [count, []]))]));
  for (let round = 0; round < rounds; round++) {
    for (const [language, count] of shuffle(languages.flatMap((one) => counts.map((count) => [one, count])))) {
      const folder = mkdtempSync(join(home, 'package-'));
      const said = await output(startNode([fileOf('emit.mjs'), language, String(count), join(folder, 'generated')]), 120_000);
      measured[language][count].push(JSON.parse(said));
      rmSync(folder, { recursive: true });
    }
  }
  return measured;
}

const imports = {
  'empty interpreter': ['-c', 'pass'],
  'with bytecode': ['-c', importOne()],
  // As a kernel does that runs as another user: it may not write beside the package.
  'without bytecode': ['-B', '-X', 'pycache_prefix=/nowhere', '-c', importOne()],
};

/** Times in ms of a Python from its start to its end, by what it does; a value per round, interleaved. */
export async function measureImports(rounds) {
  const python = await pythonWith([]);
  const folder = mkdtempSync(join(home, 'imported-'));
  await output(startNode([fileOf('emit.mjs'), 'python', '1000', join(folder, 'generated')]), 120_000);
  const timesMs = Object.fromEntries(Object.keys(imports).map((name) => [name, []]));
  // The first start of each reads its files from the disk, and one of them writes the bytecode.
  for (let round = -1; round < rounds; round++) {
    for (const [name, args] of shuffle(Object.entries(imports))) {
      const startMs = performance.now();
      await output(startProgram(python, args, { cwd: folder }), 30_000);
      if (round >= 0) timesMs[name].push(performance.now() - startMs);
    }
  }
  return timesMs;
}

function importOne() {
  const name = toolName(500);
  return `from generated.mcp.server_0 import ${name}; assert callable(${name})`;
}

/** The median and the processor time of a call in ms, by the way it is made; a value per round. */
export async function measureCalls(rounds, { turns, calls }) {
  const python = await pythonWith([]);
  const folder = mkdtempSync(join(home, 'calls-'));
  const { emitPython } = await part('python/emit-python');
  const { writePackage } = await part('write-package');
  const gateway = await startGateway(targets.find(({ name }) => name === 'notebridge, grant and audit'));
  try {
    const prefix = '/api/v1/mcp/proxy';
    const url = `http://127.0.0.1:${gateway.port}${prefix}`;
    const echo = { name: 'echo', description: undefined, tools };
    const options = { folder: join(folder, 'generated'), isLive: false, pid: process.pid };
    await writePackage(await emitPython({ servers: [echo], skills: false, hubUrl: url }), options);
    const env = { NOTEBRIDGE_URL: url, NOTEBRIDGE_TOKEN: gateway.token, PYTHONPATH: folder };
    const child = startProgram(python, [fileOf('calls.py')], { env, cwd: folder });
    const plan = { host: '127.0.0.1', port: gateway.port, path: `${prefix}/echo/tools/echo`, token: gateway.token };
    child.stdin.end(JSON.stringify({ ...plan, rounds, turns, calls }));
    return JSON.parse(await output(child, 60_000 + rounds * 30_000));
  } finally {
    await gateway.end();
  }
}

/** What a child prints until it ends; an error with its complaints if it fails. */
async function output(child, ms) {
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const closed = new Promise((resolve) => child.stdout.once('close', resolve));
  await within(ms, `"${child.spawnargs.slice(0, 4).join(' ')}"`, Promise.all([child.ended, closed]));
  if (child.exitCode !== 0) throw new Error(`"${child.spawnargs.slice(0, 4).join(' ')}" failed: ${child.complaints}`);
  return said;
}
