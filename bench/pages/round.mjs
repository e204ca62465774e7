// One round of bench/pages.mjs, in a process of its own, so that its memory is nobody else's: prints what came out as JSON.
//   node --expose-gc bench/pages/round.mjs PAGES AGENTS STORM
// Pages are in another process (many.mjs).

import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PageServer } from '../../packages/notebridge/dist/notebooks/pages/page-server.js';
import { colabProfile } from '../../packages/notebridge/dist/notebooks/profiles/colab.js';
import { Cancellation } from '../../packages/protocol/dist/core/cancellation.js';
import { quantile, sleep } from '../lib/stats.mjs';

const [pages, agents, storm] = process.argv.slice(2).map(Number);
/** Between two calls of an agent, on the average, where it is not to call as fast as it can. */
const pauseMs = 5;
const dir = mkdtempSync(join(tmpdir(), 'notebridge-bench-'));
const quiet = () => {};
const options = { dir, profiles: [colabProfile], openTool: 'open', logger: { debug: quiet, info: quiet, warn: quiet, error: quiet } };
const child = fork(new URL('./many.mjs', import.meta.url));
const waiting = new Map();
child.on('message', ({ id, ...answer }) => waiting.get(id)?.(answer));
let asked = 0;

try {
  let server = await PageServer.open(options);
  const one = await server.open({ key: 'p0', profile: 'colab' });
  await ask('open', { port: server.port, tokens: [one.slot.token] });
  await settled(server);
  await measure([one], 1, 2000);
  const one1 = await measure([one], 1, 5000);
  const oneFast = await measure([one], agents, 20_000);
  const oneCalm = await measure([one], agents, 20_000, pauseMs);
  const before = memory();
  const notebooks = [one];
  for (let index = 1; index < pages; index++) notebooks.push(await server.open({ key: `p${index}`, profile: 'colab' }));
  await ask('open', { port: server.port, tokens: notebooks.slice(1).map(({ slot }) => slot.token) });
  await settled(server);
  await measure(notebooks, agents, 5000);
  const kbPerPage = (memory() - before) / (pages - 1) / 1024;
  const allCalm = await measure(notebooks, agents, 20_000, pauseMs);
  const allFast = await measure(notebooks, agents, 20_000);

  await server.close();
  await ask('closed');
  server = await PageServer.open(options);
  const began = performance.now();
  await ask('open', { port: server.port, tokens: notebooks.slice(0, storm).map(({ slot }) => slot.token) });
  await settled(server, storm);
  const stormMs = performance.now() - began;
  process.stdout.write(`${JSON.stringify({ one: one1, oneCalm, allCalm, oneFast, allFast, kbPerPage, stormMs })}\n`);
  await server.close();
} finally {
  child.kill();
  rmSync(dir, { recursive: true, force: true });
}

/** Calls of so many agents at once, each of a page of its own; milliseconds. */
async function measure(notebooks, concurrent, calls, pause = 0) {
  const times = [];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: concurrent }, async (_, agent) => {
      for (let call = 0; call < calls / concurrent; call++) {
        if (pause > 0) await sleep(pause * (0.5 + Math.random()));
        const { provider } = notebooks[(agent * 10 + call * concurrent) % notebooks.length];
        const start = performance.now();
        await provider.request('tools/call', { name: 'get_cells', arguments: {} }, context());
        times.push(performance.now() - start);
      }
    }),
  );
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), perSecond: (times.length * 1000) / (performance.now() - began) };
}

function context() {
  const caller = { sessionId: 'bench', door: 'library', era: 'legacy', clientInfo: undefined };
  const cancellation = new Cancellation();
  return { callId: 'bench', caller, cancellation, wantsProgress: false, forwardProgress: quiet, log: quiet };
}

async function settled(server, count = server.notebooks.length) {
  const wanted = server.notebooks.slice(0, count);
  const all = await Promise.all(wanted.map(({ client }) => client.waitUntilConnected(30_000)));
  if (all.includes(false)) throw new Error('Not all pages came.');
}

function memory() {
  for (let times = 0; times < 3; times++) globalThis.gc?.();
  return process.memoryUsage().rss;
}

function ask(what, params = {}) {
  return new Promise((resolve) => {
    const id = ++asked;
    waiting.set(id, resolve);
    child.send({ id, what, ...params });
  });
}
