// Measures many pages and agents on one port: `npm run bench -- pages [--rounds N] [--quick]`, after `npm run build`.
import { spawnSync } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeResults } from './lib/results-file.mjs';
import { section, show, verdict } from './report.mjs';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== 'pages'),
  options: { rounds: { type: 'string', default: '9' }, quick: { type: 'boolean', default: false } },
});
const [pages, agents, storm] = values.quick ? [50, 10, 20] : [500, 50, 200];
const load = loadavg()[0].toFixed(1);
const rounds = Array.from({ length: values.quick ? 1 : Number(values.rounds) }, runRound);

const of = (key, part) => rounds.map((round) => round[key][part]);
const ratio = (key, base) => rounds.map((round) => round[key].p99 / round[base].p99);
const row = (title, key, base) => [
  title,
  show(of(key, 'p50'), 2),
  show(of(key, 'p99'), 2),
  show(of(key, 'perSecond'), 0),
  base === undefined ? '' : show(ratio(key, base), 2),
];
const kept = (aim, numbers) => `${aim}: ${verdict(aim, numbers)}`;
const kbPerPage = rounds.map((round) => round.kbPerPage);
const stormMs = rounds.map((round) => round.stormMs);

const heading = `# Bench: many pages and agents on one port

${new Date().toISOString().slice(0, 10)} · ${availableParallelism()} cores · ${process.platform} ${process.arch} · Node ${process.version} · load at the start ${load} · \`npm run bench -- pages\`

Cells: median (least – greatest) of ${rounds.length} rounds; each is a fresh process with a fresh port. Pages are WebSockets of another process that answer
at once; agents are callers inside the process that holds the port, so that its own share is what is seen.`;
const calls = section(
  'Calls',
  `${agents} agents that each call ${pages} pages in turn, beside the same agents at one page: with a pause of 5 ms between two calls of an agent, which is\nmore than agents do, and as fast as answers come.`,
  [
    ['', 'median, ms', '99th percentile, ms', 'calls per second', '99th percentile ÷ one page', 'aim'],
    [...row('1 page, 1 agent', 'one'), ''],
    [...row(`1 page, ${agents} agents, a pause`, 'oneCalm'), ''],
    [...row(`${pages} pages, ${agents} agents, a pause`, 'allCalm', 'oneCalm'), kept('≤ 3', ratio('allCalm', 'oneCalm'))],
    [...row(`1 page, ${agents} agents, no pause`, 'oneFast'), ''],
    [...row(`${pages} pages, ${agents} agents, no pause`, 'allFast', 'oneFast'), kept('≤ 3', ratio('allFast', 'oneFast'))],
  ],
);
const costs = section(
  'Memory, and coming back',
  'Resident memory of the process with the port, after a collection, for each page more. The port is closed and opened again, and pages dial it at once.',
  [
    ['', 'measured', 'aim'],
    ['memory per page, KB', show(kbPerPage, 0), kept('≤ 150', kbPerPage)],
    [`${storm} pages come back at once, ms until each is greeted`, show(stormMs, 0), kept('≤ 5000', stormMs)],
  ],
);
const markdown = `${heading}\n\n${calls}\n\n${costs}\n`;
process.stdout.write(markdown);
if (!values.quick) writeResults('pages', markdown, {});

function runRound() {
  const file = fileURLToPath(new URL('./pages/round.mjs', import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, ['--expose-gc', file, pages, agents, storm].map(String), {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`A round ended with ${status}.`);
  return JSON.parse(stdout);
}
