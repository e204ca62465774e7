// Turns the numbers of a run into the tables of results.md. `node bench/report.mjs FILE.json` prints them again.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { spread } from './lib/stats.mjs';

/** A row of the first table: which burst, which of its numbers, in which unit, and what is aimed at. */
const rows = [
  { burst: 'latency', value: 'medianMs', title: 'one call at a time: median', unit: 'ms' },
  { burst: 'latency', value: 'p99Ms', title: 'one call at a time: 99th percentile', unit: 'ms' },
  { burst: 'latency', value: 'cpuUsPerCall', title: 'CPU per call, one at a time', unit: 'µs' },
  { burst: 'at16', value: 'callsPerSecond', title: 'calls per second, 16 at once', unit: '/s', aim: '≥ 0.8' },
  { burst: 'at64', value: 'callsPerSecond', title: 'calls per second, 64 at once', unit: '/s', aim: '≥ 0.8' },
  { burst: 'at16', value: 'cpuUsPerCall', title: 'CPU per call, 16 at once', unit: 'µs', aim: '≤ 1.4' },
  { burst: 'at64', value: 'cpuUsPerCall', title: 'CPU per call, 64 at once', unit: 'µs', aim: '≤ 1.4' },
  { burst: 'kb64', value: 'medianMs', title: 'a result of 64 KB: median', unit: 'ms' },
  { burst: 'kb64', value: 'cpuUsPerCall', title: 'CPU for a result of 64 KB', unit: 'µs' },
  { burst: 'mb1', value: 'medianMs', title: 'a result of 1 MB: median', unit: 'ms' },
  { burst: 'mb1', value: 'cpuUsPerCall', title: 'CPU for a result of 1 MB', unit: 'µs' },
];

export function toMarkdown(results) {
  const { date, command, machine, rounds, bursts, coldMs, idleMb, programs } = results;
  const [ours, ...others] = programs;
  return [
    '# Bench: what the crossing agent → page costs',
    `${date} · ${machine.cores} cores · ${machine.platform} · Node ${machine.node} · load at the start ${machine.load.toFixed(1)} · \`${command}\``,
    'Cells: median (least – greatest). Every answer was compared whole; one that is wrong or missing ends the run.',
    ...(bursts === undefined ? [] : programs.map((name) => burstTable(bursts, name, ['relay', 'relay --each'], rounds))),
    ...(bursts === undefined ? [] : others.map((name) => burstTable(bursts, name, [ours], rounds))),
    ...(coldMs === undefined ? [] : [coldTable(coldMs)]),
    ...(idleMb === undefined ? [] : [idleTable(idleMb)]),
    '',
  ].join('\n\n');
}

/** The program beside the first base, with ratios to all of them. */
function burstTable(bursts, name, bases, rounds) {
  const cells = rows.map(({ burst, value, title, unit, aim = '' }) => {
    const valuesOf = (target) => bursts[burst][target].map((measured) => measured[value]);
    const ratios = bases.map((base) => show(divide(valuesOf(name), valuesOf(base)), 2));
    return [title, withUnit(valuesOf(bases[0]), unit), withUnit(valuesOf(name), unit), ratios[0], aim, ...ratios.slice(1)];
  });
  const text = [
    `Ratios are taken inside each of ${rounds} rounds. CPU is that of the process in the middle alone, user and system.`,
    'The relay is the bare limit: parse, give an id, print; no checks. It writes once per turn of the loop; `--each` writes each message by itself.',
  ].join('\n');
  return section(`${name} beside ${bases[0]}`, text, [
    ['', bases[0], name, 'ratio', 'aim', ...bases.slice(1).map((base) => `ratio to ${base}`)],
    ...cells,
  ]);
}

export function divide(numbers, others) {
  return numbers.map((number, round) => number / others[round]);
}

function coldTable(coldMs) {
  const empty = coldMs['empty node'];
  const cells = Object.entries(coldMs).map(([name, timesMs]) => [
    name,
    withUnit(timesMs, 'ms'),
    timesMs === empty ? '' : (spread(timesMs).median / spread(empty).median).toFixed(2),
    timesMs === empty ? '' : '≤ 3.5',
  ]);
  return section(
    'Cold start',
    `From the start to the answer to tools/list; the empty node (\`node -e 0\`) to its end. ${empty.length} starts each.`,
    [['', 'time', 'ratio of medians', 'aim'], ...cells],
  );
}

function idleTable(idleMb) {
  const states = [
    ['alone', '3 s after its start'],
    ['withPage', '3 s after a page came'],
  ];
  const cells = Object.entries(idleMb).flatMap(([name, memory]) =>
    states.map(([state, title]) => {
      const rss = memory[state].map((measured) => measured?.rssMb);
      const pss = memory[state].map((measured) => measured?.pssMb);
      return [`${name}, ${title}`, withUnit(rss, 'MB'), withUnit(pss, 'MB'), name === 'relay' ? '' : '≤ 80 MB'];
    }),
  );
  return section('Idle memory', 'Resident memory, and PSS: pages shared with other processes count in part.', [
    ['', 'RSS', 'PSS', 'aim (RSS)'],
    ...cells,
  ]);
}

/** Whether the median keeps an aim like "≤ 2.0"; nothing if there is none. */
export function verdict(aim, numbers) {
  const median = spread(numbers)?.median;
  if (median === undefined) return '';
  const [sign, limit] = aim.split(' ');
  return (sign === '≤' ? median <= Number(limit) : median >= Number(limit)) ? 'kept' : '**missed**';
}

export function section(title, text, [head, ...cells]) {
  const line = (row) => `| ${row.join(' | ')} |`;
  return `## ${title}\n\n${text}\n\n${[line(head), line(head.map(() => '---')), ...cells.map(line)].join('\n')}`;
}

export function withUnit(numbers, unit) {
  const digits = unit === 'ms' ? 2 : 0;
  const shown = show(numbers, digits);
  return shown === notMeasured ? shown : `${shown} ${unit}`;
}

const notMeasured = 'not measured (needs /proc)';

export function show(numbers, digits) {
  const found = spread(numbers);
  if (found === undefined) return notMeasured;
  const [median, min, max] = [found.median, found.min, found.max].map((number) => number.toFixed(digits));
  return `${median} (${min} – ${max})`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(toMarkdown(JSON.parse(readFileSync(process.argv[2], 'utf8'))));
}
