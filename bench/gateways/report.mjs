// Turns the numbers of a run into the tables of results.md. `node bench/gateways/report.mjs FILE.json` prints them again.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { divide, section, show, verdict, withUnit } from '../report.mjs';

/** The targets that others are held against, or that are held against an aim. */
export const names = {
  empty: 'empty handler',
  inHandler: 'tool in the handler',
  twin: 'REST twin',
  guarded: 'notebridge, grant and audit',
  open: 'notebridge, --no-auth, no audit',
  legacy: 'notebridge, /mcp 2025-11-25',
  modern: 'notebridge, /mcp 2026-07-28',
  rust: 'mcp-proxy (Rust)',
  hub: 'mcp-hub',
};
const { empty, inHandler, twin, guarded, open, rust, hub } = names;

export function toGatewaysMarkdown(results) {
  const { date, machine, versions, skipped, calls, mb9, payload, rss, cold } = results;
  return [
    '# Bench: what the tool proxy costs, beside other gateways',
    `${date} · ${machine.cores} cores · ${machine.platform} · Node ${machine.node} · load at the start ${machine.load.toFixed(1)} · \`npm run bench -- gateways\``,
    'Cells: median (least – greatest). All stand in front of the same tool server over stdio. Every answer was compared whole.',
    `Peers: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.${Object.entries(skipped)
      .map(([name, reason]) => `\n${name} was left out: ${oneLine(reason)}`)
      .join('')}`,
    aimTable(results),
    ...(calls === undefined ? [] : [callTable(calls, results), ratioTable(calls, results)]),
    ...(mb9 === undefined ? [] : [payloadTable('Results of 9 MB', mb9, { base: rust, skipped })]),
    ...(payload === undefined ? [] : [payloadTable('Results of 10 MB', payload, { base: twin, skipped })]),
    ...(rss === undefined ? [] : [memoryTable(rss, results)]),
    ...(cold === undefined ? [] : [coldTable(cold, results)]),
    '',
  ].join('\n\n');
}

/** What issue and contract aim at, and what came out. */
function aimTable({ calls, payload, rss, cold, skipped }) {
  const cpu = (burst) => (name) => ratio(calls?.[burst], name, empty, 'cpuUsPerCall');
  const peers = calls === undefined ? [] : Object.keys(calls.at64).filter((name) => isPeer(name) && !(name in skipped));
  const best = (names) => mostOf(names.map((name) => valuesOf(calls.at64, name, 'callsPerSecond')));
  const besideBest = (names) => (name) => divide(valuesOf(calls?.at64, name, 'callsPerSecond'), best(names));
  // What is measured, of whom, the aim, and the numbers of any of them.
  const rows = [
    ['CPU per call, one at a time ÷ empty handler', guarded, '≤ 2.0', cpu('latency')],
    ['CPU per call, 64 at once ÷ empty handler', guarded, '≤ 2.0', cpu('at64')],
    ['CPU per call, one at a time ÷ empty handler', open, '≤ 1.5', cpu('latency')],
    ['CPU per call, 64 at once ÷ empty handler', open, '≤ 1.5', cpu('at64')],
    ['calls per second, 64 at once ÷ REST twin', guarded, '≥ 0.7', (name) => ratio(calls?.at64, name, twin, 'callsPerSecond')],
    ['calls per second, 64 at once ÷ best HTTP peer', guarded, '≥ 1.0', besideBest(peers)],
    ['calls per second, 64 at once ÷ best HTTP peer in Node', guarded, '≥ 1.0', besideBest(peers.filter((name) => name !== rust))],
    ['results of 10 MB, MB/s ÷ REST twin', guarded, '≥ 0.6', (name) => ratio(payload?.measured, name, twin, 'mbPerSecond')],
    ['MB with 200 sandboxes', guarded, '≤ 110', (name) => valuesOf(rss, name, 'sandboxesMb')],
    ['start to first answered call ÷ mcp-hub', guarded, '≤ 1.5', (name) => divide(cold?.[name] ?? [], cold?.[hub] ?? [])],
  ];
  const cells = rows.map(([title, name, aim, numbersOf]) => [
    title,
    name.replace('notebridge, ', ''),
    aim,
    shownOrNone(numbersOf(name)),
    verdict(aim, numbersOf(name)),
    shownOrNone(numbersOf(twin)),
  ]);
  const text = [
    'Ratios are taken inside each round. The last column has the same number of the REST twin: what no proxy in Node with a tool server',
    'behind a pipe can leave out.',
  ].join('\n');
  return section('Aims', text, [['', 'of notebridge with', 'aim', 'came out', '', 'the REST twin'], ...cells]);
}

function callTable({ latency, at16, at64 }, { skipped, rounds }) {
  const cells = shownOf(at64, skipped).map((name) => [
    name,
    withUnit(valuesOf(latency, name, 'medianMs'), 'ms'),
    withUnit(valuesOf(latency, name, 'p99Ms'), 'ms'),
    withUnit(valuesOf(at16, name, 'callsPerSecond'), '/s'),
    withUnit(valuesOf(at64, name, 'callsPerSecond'), '/s'),
    withUnit(valuesOf(latency, name, 'cpuUsPerCall'), 'µs'),
    withUnit(valuesOf(at64, name, 'cpuUsPerCall'), 'µs'),
  ]);
  const text = [
    `An \`echo\` of a short text, over kept-alive connections; ${rounds} rounds. CPU is that of the gateway's processes, user and system, without the tool server.`,
    'The empty handler is `node:http` that reads the body and answers with fixed bytes; the tool in the handler has neither gateway nor pipe.',
    'The REST twin is the least that a tool proxy can do: it splices the answer’s bytes into the response, and has no grants, log, time-outs or checks.',
  ].join('\n');
  return section('Short calls', text, [
    ['', 'one at a time: median', '99th percentile', '16 at once', '64 at once', 'CPU per call, one at a time', 'CPU per call, 64 at once'],
    ...cells,
  ]);
}

function ratioTable({ latency, at16, at64 }, { skipped }) {
  const cells = shownOf(at64, skipped).map((name) => [
    name,
    show(ratio(latency, name, empty, 'cpuUsPerCall'), 2),
    show(ratio(at64, name, empty, 'cpuUsPerCall'), 2),
    show(ratio(latency, name, inHandler, 'cpuUsPerCall'), 2),
    show(ratio(at64, name, inHandler, 'cpuUsPerCall'), 2),
    rust in at64 && !(rust in skipped) ? show(ratio(at64, name, rust, 'cpuUsPerCall'), 2) : 'left out',
    show(ratio(at16, name, twin, 'callsPerSecond'), 2),
    show(ratio(at64, name, twin, 'callsPerSecond'), 2),
  ]);
  return section('Short calls, as ratios', 'Each to the value of the base in the same round.', [
    [
      '',
      'CPU, one at a time ÷ empty handler',
      'CPU, 64 at once ÷ empty handler',
      'CPU, one at a time ÷ tool in the handler',
      'CPU, 64 at once ÷ tool in the handler',
      `CPU, 64 at once ÷ ${rust}`,
      'calls per second, 16 at once ÷ REST twin',
      'calls per second, 64 at once ÷ REST twin',
    ],
    ...cells,
  ]);
}

function payloadTable(title, { measured, failed }, { base, skipped }) {
  const cells = shownOf(measured, skipped).map((name) =>
    name in failed
      ? [name, `fails: ${oneLine(failed[name])}`, '', '', '']
      : [
          name,
          withUnit(valuesOf(measured, name, 'mbPerSecond'), 'MB/s'),
          withUnit(valuesOf(measured, name, 'medianMs'), 'ms'),
          withUnit(
            valuesOf(measured, name, 'cpuUsPerCall').map((us) => us / 1000),
            'ms',
          ),
          base in measured ? show(ratio(measured, name, base, 'mbPerSecond'), 2) : 'left out',
        ],
  );
  return section(title, 'So many million characters of text in one result, one call at a time, until the last byte is in.', [
    ['', 'speed', 'a call: median', 'CPU of a call', `speed ÷ ${base}`],
    ...cells,
  ]);
}

function memoryTable(rss, { skipped }) {
  const cells = shownOf(rss, skipped).map((name) => [
    name,
    withUnit(valuesOf(rss, name, 'aloneMb'), 'MB'),
    withUnit(valuesOf(rss, name, 'sandboxesMb'), 'MB'),
  ]);
  const text = [
    'Resident memory of the gateway’s processes, without tool servers. Each sandbox has a connection of its own, and all 200 call at once;',
    'over `/mcp` each has a session too, but for supergateway and inspector-server, which start a tool server for each session: there all share one.',
  ].join('\n');
  return section('200 sandboxes', text, [['', 'after the first call', 'with 200 sandboxes'], ...cells]);
}

function coldTable(cold, { skipped }) {
  const cells = shownOf(cold, skipped).map((name) => [
    name,
    withUnit(cold[name], 'ms'),
    hub in cold ? show(divide(cold[name], cold[hub]), 2) : '',
  ]);
  return section('Cold start', 'From the start of the program to the answer to its first call, the start of the tool server included.', [
    ['', 'time', '÷ mcp-hub'],
    ...cells,
  ]);
}

function isPeer(name) {
  return ![empty, inHandler, twin].includes(name) && !name.startsWith('notebridge');
}

const shownOf = (table, skipped) => Object.keys(table).filter((name) => !(name in skipped));
export const valuesOf = (table, name, key) => (table?.[name] ?? []).map((value) => value[key]);
export const ratio = (table, name, base, key) => divide(valuesOf(table, name, key), valuesOf(table, base, key));

/** Round by round, the greatest of several rows. */
function mostOf(rows) {
  return (rows[0] ?? []).map((_, round) => Math.max(...rows.map((row) => row[round] ?? 0)));
}

/** What was not measured in this run has no numbers. */
function shownOrNone(numbers) {
  return numbers.length === 0 ? 'not in this run' : show(numbers, 2);
}

/** A reason fit for a table that may be committed. */
export function oneLine(text) {
  return text
    .replaceAll(/(?:\/[\w.@-]+){2,}/g, '…')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .slice(0, 160);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(toGatewaysMarkdown(JSON.parse(readFileSync(process.argv[2], 'utf8'))));
}
