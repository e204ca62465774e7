// Measures what it costs to be many hubs: `npm run bench -- cluster [--rounds N] [--only calls] [--quick]`, after `npm run build`. Needs Linux, and Go
// where nats-server was not built yet. Everything is on one machine, over loopback.
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { measureCalls } from './cluster/calls.mjs';
import { measureGrowth } from './cluster/growth.mjs';
import { measurePages } from './cluster/pages.mjs';
import { callsSection, growthSection, pagesSection, timesSection } from './cluster/report.mjs';
import { measureRevocation, measureTakeOver } from './cluster/take-over.mjs';
import { writeResults } from './lib/results-file.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: ['calls', 'times', 'pages', 'growth'] },
  },
});
const { quick, only } = values;
const rounds = quick ? 2 : Number(values.rounds);
const load = loadavg()[0].toFixed(1);
const say = (text) => process.stderr.write(`bench: ${text}\n`);
const sections = [];

if (only.includes('calls')) sections.push(callsSection(await measureCalls({ rounds, quick, say })));
if (only.includes('times')) {
  const takeOver = await measureTakeOver({ rounds: Math.min(rounds, 5), say });
  sections.push(timesSection({ takeOver, revocation: await measureRevocation({ rounds: Math.min(rounds, 5), quick, say }) }));
}
if (only.includes('pages')) sections.push(pagesSection(await measurePages({ quick, say })));
if (only.includes('growth')) sections.push(growthSection(await measureGrowth({ rounds: Math.min(rounds, 3), quick, say })));

const heading = `# Bench: many hubs, one cluster

${new Date().toISOString().slice(0, 10)} · ${availableParallelism()} cores · ${process.platform} ${process.arch} · Node ${process.version} · load at the start ${load} · \`npm run bench -- cluster\`

Cells: median (least – greatest) over the rounds, ratios inside each round. Hubs are \`notebridge serve\` with a grant and the audit; one \`nats-server\`, on the
same machine; every answer is compared.`;
const markdown = [heading, ...sections].join('\n\n').concat('\n');
process.stdout.write(markdown);
const isWhole = ['calls', 'times', 'pages', 'growth'].every((part) => only.includes(part));
if (!quick && isWhole) writeResults('cluster', markdown, {});
process.exit(0);
