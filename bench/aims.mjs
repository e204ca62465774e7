// What the paths of a call are to cost, each aim with the numbers that are held against it. results.md begins with them.
import { names, oneLine, ratio, valuesOf } from './gateways/report.mjs';
import { spread } from './lib/stats.mjs';
import { section, show, verdict } from './report.mjs';

const { empty, guarded, legacy, modern, open, rust } = names;

const besideRust = (title, aim, table, name, key) => ({
  bench: 'gateways',
  title: `${title} ÷ ${rust}`,
  aim,
  base: rust,
  numbersOf: (results) => ratio(table(results), name, rust, key),
});
const cpu = (title, aim, name) => besideRust(`CPU per call, 64 at once: ${title}`, aim, ({ calls }) => calls?.at64, name, 'cpuUsPerCall');
const speed = (title, aim, name) => besideRust(`speed of 9 MB results: ${title}`, aim, ({ mb9 }) => mb9?.measured, name, 'mbPerSecond');

/** `numbersOf` takes the results of that bench, and gives a number for each round; `base`: whom it needs in the run. */
const aims = [
  cpu('tool proxy', '≤ 0.75', open),
  cpu('/mcp, 2025-11-25', '≤ 1.0', legacy),
  cpu('/mcp, 2026-07-28', '≤ 1.1', modern),
  speed('/mcp, 2025-11-25', '≥ 1.0', legacy),
  speed('/mcp, 2026-07-28', '≥ 1.0', modern),
  {
    bench: 'crossing',
    title: 'CPU per call, 64 at once: agent → page ÷ relay',
    aim: '≤ 1.4',
    numbersOf: ({ bursts }) => ratio(bursts?.at64, 'notebridge', 'relay', 'cpuUsPerCall'),
  },
  {
    bench: 'gateways',
    title: 'CPU per call, 64 at once: tool proxy with grant and audit ÷ empty handler',
    aim: '≤ 2.0',
    numbersOf: ({ calls }) => ratio(calls?.at64, guarded, empty, 'cpuUsPerCall'),
  },
  {
    bench: 'gateways',
    title: 'idle memory of `serve` after the first call, MB: the greatest of the four',
    aim: '≤ 60',
    numbersOf: ({ rss }) => greatestOf([guarded, open, legacy, modern].map((name) => valuesOf(rss, name, 'aloneMb'))),
  },
];

/** The rows of the table: of what that bench measures from its results, all others as they stood `before`. */
export function toAimRows(bench, results, before = []) {
  const isTitled = (title) => (row) => row[0] === title;
  return aims
    .map((aim) => (aim.bench === bench ? toRow(aim, results) : before.find(isTitled(aim.title))))
    .filter((row) => row !== undefined);
}

export function toAimsMarkdown(rows) {
  const text = [
    'Cells: median (least – greatest) over the rounds, ratios inside each round; the median is held against the aim. How each was measured stands',
    `below, with its run. ${rust} is a native gateway, here without tokens and audit, and so is what stands beside it. As \`cargo install\` builds it,`,
    'it speaks MCP up to 2025-11-25; beside that stand both eras of ours.',
  ].join('\n');
  return `${section('Against the aims', text, [['', 'measured', 'aim', '', 'run'], ...rows])}\n`;
}

function toRow({ bench, title, aim, base, numbersOf }, results) {
  const numbers = numbersOf(results);
  const reason = results.skipped?.[base];
  const none = `not measured${reason === undefined ? '' : `, since ${base} was left out: ${oneLine(reason)}`}`;
  const measured = spread(numbers) === undefined ? none : show(numbers, 2);
  return [title, measured, aim, verdict(aim, numbers), `${bench}, ${results.date}`];
}

/** Round by round, the greatest of several rows; no number for a round that is not in all of them. */
function greatestOf([first, ...others]) {
  return first.map((number, round) => Math.max(number, ...others.map((row) => row[round])));
}
