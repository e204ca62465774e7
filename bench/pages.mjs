// 500 pages and 50 agents on one hub of pages, and a storm of 200 that come back at once.
//   node bench/pages.mjs [PAGES] [AGENTS]      after `npm run build`
// Pages are in a process of their own (bench/pages-many.mjs), so that their memory is never counted as the hub's.

import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cancellation } from '../packages/notebridge/dist/core/cancellation.js';
import { PageServer } from '../packages/notebridge/dist/notebooks/pages/page-server.js';
import { colabProfile } from '../packages/notebridge/dist/notebooks/profiles/colab.js';

const pages = Number(process.argv[2] ?? 500);
const agents = Number(process.argv[3] ?? 50);
const storm = 200;
const dir = mkdtempSync(join(tmpdir(), 'notebridge-bench-'));
const quiet = () => {};
const options = { dir, profiles: [colabProfile], openTool: 'open', logger: { debug: quiet, info: quiet, warn: quiet, error: quiet } };
const child = fork(new URL('./pages-many.mjs', import.meta.url));
const waiting = new Map();
child.on('message', ({ id, ...answer }) => waiting.get(id)?.(answer));
let asked = 0;

try {
  let server = await PageServer.open(options);
  const one = await server.open({ key: 'p0', profile: 'colab' });
  await ask('open', { port: server.port, tokens: [one.slot.token] });
  await settled(server);
  await measure([one], 1, 2000);
  const alone = await measure([one], 1, 5000);
  const crowd = await measure([one], agents, 20_000);
  const calm = await measure([one], agents, 5000, 5);
  const before = memory();
  const notebooks = [one];
  for (let index = 1; index < pages; index++) notebooks.push(await server.open({ key: `p${index}`, profile: 'colab' }));
  await ask('open', { port: server.port, tokens: notebooks.slice(1).map(({ slot }) => slot.token) });
  await settled(server);
  await measure(notebooks, agents, 5000);
  const perPage = (memory() - before) / (pages - 1) / 1024;
  const unhurried = await measure(notebooks, agents, 5000, 5);
  const rush = await measure(notebooks, agents, 20_000);
  report(`1 page, 1 agent: p50 ${ms(alone.p50)}, p99 ${ms(alone.p99)}`);
  report(
    `1 page, ${agents} agents, each with 200 calls/s at most: p50 ${ms(calm.p50)}, p99 ${ms(calm.p99)}; without a pause: p99 ${ms(crowd.p99)}`,
  );
  report(
    `${pages} pages, ${agents} agents, each with 200 calls/s at most: p50 ${ms(unhurried.p50)}, p99 ${ms(unhurried.p99)} (${(unhurried.p99 / calm.p99).toFixed(1)} x of one page)`,
  );
  report(
    `${pages} pages, ${agents} agents, without a pause: p50 ${ms(rush.p50)}, p99 ${ms(rush.p99)} (${(rush.p99 / crowd.p99).toFixed(1)} x), ${Math.round(rush.perSecond)} calls/s (one: ${Math.round(alone.perSecond)})`,
  );
  report(`memory: ${perPage.toFixed(0)} KB per page`);

  await server.close();
  await ask('closed');
  server = await PageServer.open(options);
  const began = performance.now();
  await ask('open', { port: server.port, tokens: notebooks.slice(0, storm).map(({ slot }) => slot.token) });
  await settled(server, storm);
  report(`storm of ${storm} reconnects: settled in ${ms(performance.now() - began)}`);
  await server.close();
} finally {
  child.kill();
  rmSync(dir, { recursive: true, force: true });
}

/** Calls of so many agents at once, each of a page of its own; milliseconds. */
async function measure(notebooks, concurrent, calls, pauseMs = 0) {
  const times = [];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: concurrent }, async (_, agent) => {
      for (let call = 0; call < calls / concurrent; call++) {
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
        const { provider } = notebooks[(agent * 10 + call * concurrent) % notebooks.length];
        const start = performance.now();
        await provider.request('tools/call', { name: 'get_cells', arguments: {} }, context());
        times.push(performance.now() - start);
      }
    }),
  );
  times.sort((a, b) => a - b);
  const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
  return { p50: at(0.5), p99: at(0.99), perSecond: (times.length * 1000) / (performance.now() - began) };
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

function ms(value) {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
}

function report(text) {
  process.stdout.write(`${text}\n`);
}
