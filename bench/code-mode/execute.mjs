// What execute_code costs: `1+1`, nested calls beside a plain Python over HTTP with the same functions, and the first answer beside Pyodide alone.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Agent } from '../lib/agent.mjs';
import { endChild, home, startNode, startProgram, stopChild } from '../lib/children.mjs';

const program = fileURLToPath(new URL('../../packages/notebridge/bin/notebridge.js', import.meta.url));
const require = createRequire(import.meta.url);
const everything = join(dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')), 'dist/index.js');
const { findPyodide } = await import(new URL('../../packages/notebook/dist/kernel/pyodide-files.js', import.meta.url).href);
const pyodideFolder = fileURLToPath(findPyodide());
const calls = 100;
const script = `
import time
from generated.mcp.everything import echo
began = time.perf_counter()
for n in range(${calls}):
    answer = CALL
    assert answer == f"Echo: {n}", answer
(time.perf_counter() - began) * 1000`;

/** Numbers in milliseconds: the medians' own measurements, one for each round. */
export async function measureExecution({ rounds }) {
  const folder = mkdtempSync(join(home, 'code-mode-'));
  const config = join(folder, 'mcp.json');
  // What a type check costs is measured by itself (check.mjs).
  const notebridge = { codeMode: { typeCheck: 'off' } };
  writeFileSync(config, JSON.stringify({ mcpServers: { everything: { command: process.execPath, args: [everything] } }, notebridge }));
  return {
    onePlusOne: await measureWarm(config, rounds * 100),
    ready: await measureReady(config, rounds),
    nested: await measureNested(config, rounds),
    plain: await measurePlain(config, folder, rounds),
    ...(await inTurns(rounds, { first: () => measureFirst(config), alone: measurePyodide })),
  };
}

async function measureWarm(config, count) {
  return withAgent(config, async (execute) => {
    await repeat(200, () => execute('1+1', '2'));
    return repeat(count, () => timed(() => execute('1+1', '2')));
  });
}

/** In a Python that was started in advance: long enough before to be ready. */
async function measureReady(config, rounds) {
  return withAgent(config, async (execute) => {
    await execute('1+1', '2');
    await execute('1+1', '2', { kernel: 'fresh' });
    return repeat(rounds, async () => {
      await new Promise((resolve) => setTimeout(resolve, 6000));
      return timed(() => execute('1+1', '2', { kernel: 'fresh' }));
    });
  });
}

async function measureNested(config, rounds) {
  const code = script.replace('CALL', 'await echo(message=str(n))');
  return withAgent(config, async (execute) => {
    await execute(code);
    return repeat(rounds, async () => Number(await execute(code)));
  });
}

async function measurePlain(config, folder, rounds) {
  const hub = startNode([program, 'serve', '--port', '0', '--config', config, '--notebook', 'none']);
  try {
    while (!hub.complaints.includes('"msg":"Serving."')) await once(hub.stderr, 'data');
    const out = join(folder, 'package');
    const generate = startNode([program, 'generate', '--out', join(out, 'generated')]);
    await generate.ended;
    const body = `${script.trim().split('\n').slice(0, -1).join('\n').replace('CALL', 'echo.sync(message=str(n))')}\nprint((time.perf_counter() - began) * 1000)`;
    const run = async () => {
      const python = startProgram('python3', ['-c', body], { cwd: out });
      let text = '';
      python.stdout.on('data', (chunk) => {
        text += chunk;
      });
      await python.ended;
      if (!(Number(text) > 0)) throw new Error(`The plain Python failed: ${python.complaints}`);
      return Number(text);
    };
    await run();
    return await repeat(rounds, run);
  } finally {
    await stopChild(hub);
  }
}

async function measureFirst(config) {
  const start = performance.now();
  return withAgent(config, async (execute) => {
    await execute('1+1', '2');
    return performance.now() - start;
  });
}

async function measurePyodide() {
  const start = performance.now();
  const child = startNode([fileURLToPath(new URL('../pyodide.mjs', import.meta.url)), pyodideFolder]);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  if (line !== 'ready') throw new Error(`Pyodide said ${line}`);
  const ms = performance.now() - start;
  await endChild(child);
  return ms;
}

async function withAgent(config, work) {
  const child = startNode([program, 'stdio', '--code-mode', '--config', config, '--standalone', '--notebook', 'local', '--no-browser']);
  try {
    const agent = new Agent(child);
    await agent.initialize();
    // As agents do before anything else.
    await agent.request('tools/list');
    return await work(async (code, expected, more = {}) => {
      const { result } = await agent.request('tools/call', { name: 'execute_code', arguments: { code, ...more } });
      const { status, result: value } = result.structuredContent ?? {};
      if (status !== 'ok' || (expected !== undefined && value !== expected)) throw new Error(`A wrong answer: ${JSON.stringify(result)}`);
      return value;
    });
  } finally {
    await endChild(child);
  }
}

/** Whatever else the machine does hits both. */
async function inTurns(rounds, measures) {
  const results = Object.fromEntries(Object.keys(measures).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) for (const [name, measure] of Object.entries(measures)) results[name].push(await measure());
  return results;
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function repeat(count, work) {
  const results = [];
  for (let n = 0; n < count; n++) results.push(await work());
  return results;
}

/** The Python beside which nested calls are measured. */
export const pythonVersion = execFileSync('python3', ['--version'], { encoding: 'utf8' }).trim();
