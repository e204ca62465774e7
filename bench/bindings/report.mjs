// Turns the numbers of bindings.mjs into its part of results.md.
import { divide, section, show, withUnit } from '../report.mjs';

export function toBindingsMarkdown({ date, machine, rounds, writing, imports, calls }) {
  return [
    '# Bench: what generated packages cost',
    `${date} · ${machine.cores} cores · ${machine.platform} · Node ${machine.node} · load at the start ${machine.load.toFixed(1)} · \`npm run bench -- bindings\``,
    `Cells: median (least – greatest) of ${rounds} rounds.`,
    ...(writing === undefined ? [] : [writingTable(writing)]),
    ...(imports === undefined ? [] : [importTable(imports)]),
    ...(calls === undefined ? [] : [callTable(calls)]),
    '',
  ].join('\n\n');
}

const writingAims = { python: { 1000: '≤ 2000 ms', 10000: '≤ 20000 ms' } };

function writingTable(writing) {
  const cells = Object.entries(writing).flatMap(([language, byCount]) =>
    Object.entries(byCount).map(([count, runs]) => {
      const of = (key) => runs.map((run) => run[key]);
      const [{ files, characters }] = runs;
      return [
        `${language}, ${count} tools`,
        withUnit(of('emitMs'), 'ms'),
        withUnit(of('writeMs'), 'ms'),
        withUnit(of('bothMs'), 'ms'),
        writingAims[language]?.[count] ?? '',
        withUnit(of('longestBlockMs'), 'ms'),
        `${files} files, ${(characters / 1e6).toFixed(1)} MB`,
      ];
    }),
  );
  const text =
    'A package is emitted and written once by a fresh process, into a new folder. The longest block is that of emitting: so long a hub answers nobody.';
  return section('Writing', text, [['', 'emit', 'write', 'both', 'aim (both)', 'longest block', 'what is written'], ...cells]);
}

function importTable(timesMs) {
  const empty = timesMs['empty interpreter'];
  const cells = Object.entries(timesMs).map(([name, times]) => {
    const above = times.map((time, round) => time - empty[round]);
    return [name, withUnit(times, 'ms'), ...(times === empty ? ['', ''] : [withUnit(above, 'ms'), '≤ 150 ms'])];
  });
  const text =
    'A fresh CPython imports one function of a package of 1,000 tools, and ends. Without bytecode: from a folder that it may not write to.';
  return section('Import', text, [['', 'start to end', 'above the empty interpreter', 'aim'], ...cells]);
}

const titles = {
  bare: '`http.client`: a kept-alive POST, JSON printed and parsed',
  sync: '`echo.sync(…)`',
  await: '`await echo(…)`',
  gather: '`asyncio.gather` of 32, for each call',
};

function callTable(calls) {
  const of = (name, key) => calls[name].map((round) => round[key]);
  const cells = Object.keys(titles).map((name) => {
    const ratio = (key) => (name === 'bare' ? '' : show(divide(of(name, key), of('bare', key)), 2));
    const cpuUs = of(name, 'cpuMs').map((ms) => ms * 1000);
    const aim = name === 'bare' ? '' : '≤ 1.3';
    return [titles[name], withUnit(of(name, 'medianMs'), 'ms'), ratio('medianMs'), aim, withUnit(cpuUs, 'µs'), ratio('cpuMs')];
  });
  const text = [
    'The tool `echo` over the tool proxy of `notebridge serve`, with a grant and the audit. All ways are in one Python process and take turns;',
    'a ratio divides two medians of one round. CPU is that of the Python process.',
  ].join('\n');
  return section('Calls', text, [['', 'a call: median', 'ratio', 'aim', 'CPU of a call', 'ratio'], ...cells]);
}
