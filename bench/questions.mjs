// Measures what a question of a server costs: `npm run bench -- questions [--rounds N] [--quick]`, after `npm run build`.
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endChild, home, startNode, within } from './lib/children.mjs';
import { cpuUsOf } from './lib/proc.mjs';
import { writeResults } from './lib/results-file.mjs';
import { shuffle } from './lib/stats.mjs';
import { AskedAgent, turn } from './questions/asked-agent.mjs';
import { section, show, verdict } from './report.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' }, quick: { type: 'boolean', default: false } } });
const eras = ['legacy', 'modern'];
const names = { legacy: '2025-11-25', modern: '2026-07-28' };
const kinds = [
  { tool: 'plain', expected: 'plain' },
  { tool: 'ask', expected: 'Ann' },
];
const program = fileURLToPath(new URL('../packages/notebridge/bin/notebridge.js', import.meta.url));
const server = fileURLToPath(new URL('./questions/asking-server.mjs', import.meta.url));
const load = loadavg()[0].toFixed(1);
const ms = values.quick ? 100 : 300;

const lines = [];
for (const era of eras) lines.push(await open({ agent: era, server: era }, [server, era], ''));
for (const agent of eras) for (const of of eras) lines.push(await openBridge(agent, of));
for (const line of lines) for (const kind of kinds) await turn(line.client, { ...kind, tool: `${line.prefix}${kind.tool}`, ms: 4 * ms });
const rounds = [];
for (let round = 0; round < (values.quick ? 2 : Number(values.rounds)); round++) rounds.push(await runRound());
for (const { client } of lines) await endChild(client.child);

const of = (line, tool, key) => rounds.map((round) => round.get(line)[tool][key]);
const ratios = (line, key) => rounds.map((round) => round.get(line).ask[key] / round.get(line).plain[key]);
const rows = lines.map((line) => [
  line.title,
  show(of(line, 'plain', 'msPerCall'), 3),
  show(of(line, 'ask', 'msPerCall'), 3),
  show(ratios(line, 'msPerCall'), 2),
  ...(line.isBridge ? [show(ratios(line, 'cpuUsPerCall'), 2), `≤ 2: ${verdict('≤ 2', ratios(line, 'msPerCall'))}`] : ['', '']),
]);
const heading = `# Bench: what a question costs

${new Date().toISOString().slice(0, 10)} · ${availableParallelism()} cores · ${process.platform} ${process.arch} · Node ${process.version} · load at the start ${load} · \`npm run bench -- questions\`

Cells: median (least – greatest) of ${rounds.length} rounds, ratios inside each. Agent and server speak over stdio, one call at a time; the agent fills in each form at
once. CPU is that of Notebridge alone. Every answer is compared.`;
const table = section(
  'A call with a question',
  'Beside a plain call of the same tool server: by itself, and through Notebridge. The messages alone are twice as many, and a modern agent calls twice.',
  [['agent – server', 'plain call, ms', 'call with a question, ms', 'ratio', 'ratio of CPU', 'aim'], ...rows],
);
const markdown = `${heading}\n\n${table}\n`;
process.stdout.write(markdown);
if (!values.quick) writeResults('questions', markdown, {});
process.exit(0);

async function open({ agent, server: other }, args, title, child = startNode(args)) {
  const client = new AskedAgent(child, agent);
  await within(20_000, 'the handshake', client.open());
  return {
    title: title || `${names[agent]} – ${names[other]}, nothing between`,
    client,
    isBridge: title !== '',
    prefix: title === '' ? '' : 'it__',
  };
}

async function openBridge(agent, other) {
  const file = join(home, `${agent}-${other}.json`);
  writeFileSync(
    file,
    JSON.stringify({ mcpServers: { it: { command: process.execPath, args: [server, other], era: other, questions: 'serial' } } }),
  );
  return open({ agent, server: other }, [program, '--standalone', '--config', file], `${names[agent]} – Notebridge – ${names[other]}`);
}

/** All take turns, in another order each time. */
async function runRound() {
  const measured = new Map(lines.map((line) => [line, {}]));
  for (const { line, kind } of shuffle(lines.flatMap((line) => kinds.map((kind) => ({ line, kind }))))) {
    const { pid } = line.client.child;
    const before = cpuUsOf(pid, [pid]);
    const took = await turn(line.client, { ...kind, tool: `${line.prefix}${kind.tool}`, ms });
    const cpuUs = before === undefined ? Number.NaN : cpuUsOf(pid, [pid]) - before;
    measured.get(line)[kind.tool] = { msPerCall: took.ms / took.calls, cpuUsPerCall: cpuUs / took.calls };
  }
  return measured;
}
