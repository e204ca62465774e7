// Turns the numbers of notebook.mjs into its part of results.md.
import { cellsOfLarge } from './lib/notebook-rates.mjs';
import { divide, section, show, withUnit } from './report.mjs';

export function toNotebookMarkdown({ date, machine, rounds, rates, ready, starts, memory, bytes }) {
  return [
    '# Bench: what the built-in notebook costs',
    `${date} · ${machine.cores} cores · ${machine.platform} · Node ${machine.node} · load at the start ${machine.load.toFixed(1)} · \`npm run bench -- notebook\``,
    'Cells: median (least – greatest). Every answer was looked at; one that is wrong ends the run.',
    ...(rates === undefined ? [] : [rateTable(rates, rounds)]),
    ...(ready === undefined ? [] : [readyTable(ready)]),
    ...(starts === undefined ? [] : [startTable(starts)]),
    ...(memory === undefined ? [] : [memoryTable(memory)]),
    ...(bytes === undefined ? [] : [bytesTable(bytes)]),
    '',
  ].join('\n\n');
}

function rateTable({ alone, notebook, large }, rounds) {
  const of = (list, value) => list.map((round) => round[value]);
  const row = (title, value, unit, aim = '') => {
    const base = of(alone, value);
    const ours = [notebook, large].flatMap((list) => [withUnit(of(list, value), unit), show(divide(of(list, value), base), 2)]);
    return [title, withUnit(base, unit), ...ours, aim];
  };
  const only = (title, value) => [title, '', withUnit(of(notebook, value), 'ms'), '', withUnit(of(large, value), 'ms'), '', ''];
  const text = [
    '`run_code("1+1")` of an agent, one call at a time, the whole way: agent, MCP over stdio, `notebridge stdio --notebook FILE`, Python in its',
    'own process and back, each call a new cell that is shown, journalled and saved. Beside it Pyodide alone, in the same Node under the same',
    `permissions: \`runPythonAsync("1+1")\` in a loop, without any message. Both are alive at once and take turns; ratios are taken inside each of ${rounds} rounds.`,
    'CPU is that of the program and all its processes, without the agent. The notebook has at most 200 cells; beside it one that began with',
    `${cellsOfLarge} cells that have run.`,
  ].join('\n');
  return section('Runs', text, [
    ['', 'Pyodide alone', 'notebridge', 'ratio', `${cellsOfLarge} cells`, 'ratio', 'aim (notebridge)'],
    row('runs per second', 'runsPerSecond', '/s', '≥ 0.5'),
    row('CPU per run', 'cpuUsPerRun', 'µs'),
    only('one run: median', 'medianMs'),
    only('one run: 99th percentile', 'p99Ms'),
  ]);
}

function readyTable({ firstRunMs, earlyPerSecond, windowMs }) {
  return section(
    'Ready',
    `${windowMs.page.length} starts each, one after the other, a fresh program and a fresh browser profile each time.`,
    [
      ['', 'time'],
      ['Pyodide alone: from its start to its first `1+1`', withUnit(firstRunMs.alone, 'ms')],
      ['an agent: from the start of the program to the answer of its first `run_code("1+1")`', withUnit(firstRunMs.notebook, 'ms')],
      ['Pyodide alone: the rate of its next 200 runs', withUnit(earlyPerSecond.alone, '/s')],
      ['an agent: the rate of its next 200 runs', withUnit(earlyPerSecond.notebook, '/s')],
      ['`notebridge notebook FILE`: from the start to its address', withUnit(windowMs.address, 'ms')],
      ['page ready: from opening the address in Chromium to the first cell', withUnit(windowMs.page, 'ms')],
      ['kernel ready: from opening the address to an idle Python', withUnit(windowMs.kernel, 'ms')],
    ],
  );
}

function startTable({ notebridge, also }) {
  const builds = [notebridge, also].filter((list) => list !== undefined);
  const numbers = (list, key) => list.map((start) => start[key]);
  const row = (title, key, unit) => [title, ...builds.map((list) => withUnit(numbers(list, key), unit))];
  const text = [
    'From the start of `notebridge stdio --notebook FILE` to the answer of its first `run_code("1+1")`,',
    `${notebridge.length} starts each. CPU is that of the program and all its processes.`,
  ].join('\n');
  return section('The first answer', text, [
    ['', 'notebridge', ...(also === undefined ? [] : ['the other build'])],
    row('time', 'ms', 'ms'),
    row('CPU', 'cpuMs', 'ms'),
    row("most memory (RSS) of Python's process", 'peakMb', 'MB'),
  ]);
}

function memoryTable({ empty, window }) {
  const row = (title, list) => [
    title,
    withUnit(
      list.map(({ heapMb }) => heapMb),
      'MB',
    ),
    show(
      list.map(({ nodes }) => nodes),
      0,
    ),
    withUnit(
      list.map(({ rssMb }) => rssMb),
      'MB',
    ),
    withUnit(
      list.map(({ pssMb }) => pssMb),
      'MB',
    ),
  ];
  const text =
    'A window in Chromium with 200 cells that have an output each (printed lines, tables, plots, errors), all of them seen once.';
  return section('Memory of a window', text, [
    ['', 'JavaScript heap', 'DOM nodes', "RSS of the page's process", 'PSS'],
    row('an empty page', empty),
    row('200 outputs', window),
  ]);
}

function bytesTable({ minified, gzip }) {
  return section('The page library', '`@notebridge/page` as one module, as a web page loads it.', [
    ['minified', 'and gzip'],
    [`${minified} bytes`, `${gzip} bytes`],
  ]);
}
