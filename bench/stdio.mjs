// Measures the way agent → tool server, both on stdio: Notebridge beside a minimal relay. `npm run bench -- stdio [--rounds N] [--quick]`
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { textOfSize } from './gateways/text.mjs';
import { home, within } from './lib/children.mjs';
import { burst, startMiddle, toSummary } from './lib/crossing.mjs';
import { writeResults } from './lib/results-file.mjs';
import { shuffle } from './lib/stats.mjs';
import { divide, section, show, verdict, withUnit } from './report.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' }, quick: { type: 'boolean', default: false } } });
const fileOf = (path) => fileURLToPath(new URL(path, import.meta.url));
const server = fileOf('./gateways/programs/echo-server.mjs');
const config = join(home, 'mcp.json');
const load = loadavg()[0].toFixed(1);
const turns = values.quick ? 2 : 6;

const echo = (agent) => agent.echo();
const size = 1024 * 1024;
const wanted = textOfSize(size);
const payload = async (agent) => {
  const { result } = await agent.request('tools/call', { name: 'payload', arguments: { size } });
  if (result?.content?.[0]?.text !== wanted) throw new Error(`A wrong answer: ${JSON.stringify(result).slice(0, 300)}`);
};
const kinds = {
  latency: { call: echo, concurrency: 1, ms: 250, maxCalls: 20_000 },
  at16: { call: echo, concurrency: 16, ms: 250, maxCalls: 100_000 },
  at64: { call: echo, concurrency: 64, ms: 250, maxCalls: 100_000 },
  mb1: { call: payload, concurrency: 1, ms: 250, maxCalls: 200 },
};
const [relay, relayEach, ours] = ['relay', 'relay --each', 'notebridge'];
const targets = [
  { name: relay, args: [fileOf('./stdio/relay.mjs'), server] },
  { name: relayEach, args: [fileOf('./stdio/relay.mjs'), '--each', server] },
  {
    name: ours,
    args: [fileOf('../packages/notebridge/bin/notebridge.js'), 'stdio', '--notebook', 'none', '--standalone', '--config', config],
  },
];

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`);
  process.exit(1);
}
process.exit(0);

async function main() {
  const rounds = values.quick ? 2 : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000)
    throw new Error(`--rounds "${values.rounds}" must be a whole number from 1 to 1000.`);
  writeFileSync(config, JSON.stringify({ mcpServers: { it: { command: process.execPath, args: [server], names: 'plain' } } }));
  const middles = [];
  for (const target of targets) middles.push(await open(target));
  for (const middle of middles) {
    await burst(middle, { ...kinds.at64, ms: values.quick ? 500 : 2000 });
    await burst(middle, { ...kinds.mb1, ms: 500 });
  }
  const measured = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, Object.fromEntries(targets.map(({ name }) => [name, []]))]));
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`bench: round ${round} of ${rounds}\n`);
    for (const [kind, options] of shuffle(Object.entries(kinds))) {
      const bursts = new Map(middles.map((middle) => [middle, []]));
      for (let turn = 0; turn < turns; turn++) for (const middle of shuffle(middles)) bursts.get(middle).push(await burst(middle, options));
      for (const [{ name }, own] of bursts) measured[kind][name].push(toSummary(own));
    }
  }
  for (const middle of middles) await middle.end();
  const markdown = toMarkdown(measured, rounds);
  process.stdout.write(markdown);
  if (!values.quick) writeResults('stdio', markdown, { date: new Date().toISOString().slice(0, 10), stdio: measured });
}

/** Resolves when a call has crossed. CPU is that of the process in the middle, without the tool server. */
async function open(target) {
  const middle = startMiddle(target);
  await within(15_000, `The handshake of ${target.name}`, middle.agent.initialize());
  await within(15_000, `The first call through ${target.name}`, middle.agent.echo());
  return { ...middle, processes: [middle.pid] };
}

function toMarkdown(measured, rounds) {
  const row = (title, kind, key, unit, aim) => {
    const of = (name) => measured[kind][name].map((summary) => summary[key]);
    const ratio = divide(of(ours), of(relay));
    return [
      title,
      withUnit(of(relay), unit),
      withUnit(of(ours), unit),
      show(ratio, 2),
      aim === undefined ? '' : `${aim}: ${verdict(aim, ratio)}`,
      show(divide(of(ours), of(relayEach)), 2),
    ];
  };
  const heading = `# Bench: what the way from stdio to stdio costs

${new Date().toISOString().slice(0, 10)} · ${availableParallelism()} cores · ${process.platform} ${process.arch} · Node ${process.version} · load at the start ${load} · \`npm run bench -- stdio\`

Cells: median (least – greatest) of ${rounds} rounds, ratios inside each. An agent and a tool server, both on stdio. Every answer was compared whole.`;
  const table = section(
    'Notebridge beside a minimal relay',
    'The relay starts the same tool server, parses each message, gives the request an id, and prints; no checks. It writes once per turn of the loop;\n`--each` writes each message by itself. CPU is that of the process in the middle, without the tool server.',
    [
      ['', relay, ours, 'ratio', 'aim', `ratio to ${relayEach}`],
      row('one call at a time: median', 'latency', 'medianMs', 'ms'),
      row('one call at a time: calls per second', 'latency', 'callsPerSecond', '/s', '≥ 0.8'),
      row('calls per second, 16 at once', 'at16', 'callsPerSecond', '/s', '≥ 0.8'),
      row('calls per second, 64 at once', 'at64', 'callsPerSecond', '/s', '≥ 0.8'),
      row('CPU per call, one at a time', 'latency', 'cpuUsPerCall', 'µs'),
      row('CPU per call, 64 at once', 'at64', 'cpuUsPerCall', 'µs'),
      row('a result of 1 MB: median', 'mb1', 'medianMs', 'ms'),
      row('CPU for a result of 1 MB', 'mb1', 'cpuUsPerCall', 'µs'),
    ],
  );
  return `${heading}\n\n${table}\n`;
}
