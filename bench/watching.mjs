// Measures what it costs a hub to be watched: `npm run bench -- watching [--rounds N] [--quick]`, after `npm run build`. Hubs that differ in that alone
// take turns. Traces need Node 22.15: with an older one all hubs run on a newer Node, which npm installs once.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { findChromium } from '../scripts/chromium.mjs';
import { newerNode } from '../scripts/newer-node.mjs';
import { callEcho, startGateway } from './gateways/gateway.mjs';
import { burst } from './gateways/measure.mjs';
import { guardedHub } from './gateways/targets.mjs';
import { toSummary } from './lib/crossing.mjs';
import { writeResults } from './lib/results-file.mjs';
import { shuffle, sleep } from './lib/stats.mjs';
import { divide, section, show, verdict } from './report.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' }, quick: { type: 'boolean', default: false } } });
const rounds = values.quick ? 2 : Number(values.rounds);
const ms = values.quick ? 100 : 300;
const warmMs = values.quick ? 1000 : 5000;
const callsPerSecond = 5000;
const load = loadavg()[0].toFixed(1);
const node = await newerNode();
const collector = await startCollector();

const hubs = new Map();
for (const [name, telemetry] of [
  ['unwatched', undefined],
  ['metrics', { metrics: true }],
  ['traces', { otlp: { endpoint: collector.url, traces: true, metrics: false } }],
  ['console', undefined],
]) {
  const config = telemetry === undefined ? {} : { notebridge: { telemetry } };
  hubs.set(name, await startGateway(guardedHub(name, { command: node, config })));
}
const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox', '--disable-gpu'] });
try {
  await main();
} finally {
  await browser.close();
  await Promise.all([...hubs.values()].map((hub) => hub.end()));
  collector.close();
}
process.exit(0);

async function main() {
  const paints = [];
  for (let round = 0; round < rounds; round++) paints.push(await firstPaint(hubs.get('unwatched')));
  // What is measured is a hub that has run for a while: until the code of spans is compiled, they cost three times as much.
  for (const hub of hubs.values()) await burst(hub, { concurrency: 64, ms: warmMs });
  const full = await measure(['unwatched', 'metrics', 'traces'], (hub) => burst(hub, { concurrency: 64, ms }));
  const tab = await openConsole(hubs.get('console'));
  const paced = await measure(['unwatched', 'console'], (hub) => pacedBurst(hub, 4 * ms));
  await tab.close();

  const row = (title, table, name, aim) => {
    const numbers = divide(of(table, name), of(table, 'unwatched'));
    return [title, show(of(table, name), 0), show(numbers, 2), aim, verdict(aim, numbers)];
  };
  const heading = `# Bench: what it costs to be watched

${new Date().toISOString().slice(0, 10)} · ${availableParallelism()} cores · ${process.platform} ${process.arch} · hubs on Node ${execFileSync(node, ['-v'], { encoding: 'utf8' }).trim()} · load at the start ${load} · \`npm run bench -- watching\`

Cells: median (least – greatest) of ${rounds} rounds, ratios inside each. Calls of \`echo\` at the tool proxy, with grant and audit; every answer is compared. Each hub has had ${warmMs / 1000} s of calls before. CPU is that of the hub's process alone.`;
  const cost = section(
    'CPU of the hub per call',
    `64 at once, as many as it can: with metrics, and with traces of every call that a collector takes. And ${callsPerSecond} calls a second while the console is open in a Chromium, with the list of calls in view.`,
    [
      ['', 'µs per call', 'beside an unwatched hub', 'aim', ''],
      ['unwatched, 64 at once', show(of(full, 'unwatched'), 0), '', '', ''],
      row('metrics', full, 'metrics', '≤ 1.1'),
      row('traces', full, 'traces', '≤ 1.5'),
      [`unwatched, ${callsPerSecond} a second`, show(of(paced, 'unwatched'), 0), '', '', ''],
      row('the console open', paced, 'console', '≤ 1.05'),
    ],
  );
  const paint = section('The console', 'From the address to the first paint, in a new browser context.', [
    ['', 'ms', 'aim', ''],
    ['first contentful paint', show(paints, 0), '≤ 1000', verdict('≤ 1000', paints)],
  ]);
  const markdown = `${heading}\n\n${cost}\n\n${paint}\n`;
  process.stdout.write(markdown);
  if (!values.quick) writeResults('watching', markdown, {});
}

/** A summary of each round, by the name of the hub. */
async function measure(names, work) {
  const measured = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const name of shuffle(names)) measured.get(name).push(toSummary([await work(hubs.get(name))]));
  return measured;
}

function of(table, name) {
  return table.get(name).map(({ cpuUsPerCall }) => cpuUsPerCall);
}

/** As many calls a second as are wanted, on 32 connections. */
async function pacedBurst(hub, durationMs) {
  let due = performance.now() + 20;
  const inTime = async (gateway, caller, connection) => {
    due += 1000 / callsPerSecond;
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    return callEcho(gateway, caller, connection);
  };
  return burst(hub, { concurrency: 32, ms: durationMs, call: inTime });
}

async function consoleAddress({ port, folder }) {
  const ownerToken = readFileSync(join(folder, 'state/notebridge/owner-token'), 'utf8').trim();
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/hub/console/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json' },
    body: '{}',
  });
  return (await answer.json()).address;
}

async function openConsole(hub) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(await consoleAddress(hub));
  await page.getByRole('link', { name: 'Calls', exact: true }).click();
  await page.getByRole('row').nth(5).waitFor();
  return page;
}

async function firstPaint(hub) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(await consoleAddress(hub));
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const paint = await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime");
  await context.close();
  return paint;
}

/** Takes all that it is sent. */
async function startCollector() {
  const server = createServer((request, response) => request.resume().once('end', () => response.end()));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}
