// `run_code("1+1")` of a real agent against Pyodide that runs `1+1` and nothing else. Both live at once and take turns.
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endChild, startNode, within } from './children.mjs';
import { burst, startMiddle, toSummary } from './crossing.mjs';
import { cpuUsOf } from './proc.mjs';
import { shuffle } from './stats.mjs';

// The one that the notebook itself uses, so that both run the same Pyodide.
const { findPyodide } = await import(new URL('../../packages/notebook/dist/kernel/pyodide-files.js', import.meta.url).href);
const pyodideFolder = fileURLToPath(findPyodide());
const benchFolder = fileURLToPath(new URL('../', import.meta.url));
export const programFile = fileURLToPath(new URL('../../packages/notebridge/bin/notebridge.js', import.meta.url));

/** Rates of both in each round, and the ms that Pyodide alone took to be ready. */
export async function measureRates(rounds, { turns, turnMs, warmUpMs }) {
  const alone = await startAlone();
  const notebook = await startNotebook();
  const targets = { alone: (ms) => alone.run(ms), notebook: (ms) => runCells(notebook, ms) };
  const measured = { alone: [], notebook: [] };
  try {
    for (const run of Object.values(targets)) await run(warmUpMs);
    for (let round = 0; round < rounds; round++) {
      const bursts = { alone: [], notebook: [] };
      for (let turn = 0; turn < turns; turn++)
        for (const [name, run] of shuffle(Object.entries(targets))) bursts[name].push(await run(turnMs));
      for (const [name, list] of Object.entries(bursts)) measured[name].push(toRate(list));
    }
  } finally {
    await Promise.all([alone.end(), notebook.end()]);
  }
  return measured;
}

/** From the start of the process to the first `1+1`, in ms: Pyodide alone, and the agent's first call. */
export async function measureFirstRuns(rounds) {
  const timesMs = { alone: [], notebook: [] };
  const starts = { alone: startAlone, notebook: startNotebook };
  // The first start of each reads its files from the disk; nobody waits for that twice.
  for (let round = -1; round < rounds; round++) {
    for (const [name, start] of shuffle(Object.entries(starts))) {
      const startMs = performance.now();
      const target = await start();
      if (round >= 0) timesMs[name].push(performance.now() - startMs);
      await target.end();
    }
  }
  return timesMs;
}

/** In a process with the flags of the kernel's own. */
async function startAlone() {
  const permission = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
  const readable = [pyodideFolder, benchFolder].map((folder) => `--allow-fs-read=${folder}`);
  const flags = ['--no-warnings', permission, ...readable, '--disallow-code-generation-from-strings'];
  const child = startNode([...flags, `${benchFolder}pyodide.mjs`, pyodideFolder]);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (ms) => {
    const { value } = await within(ms + 60_000, `Pyodide alone (${child.complaints})`, lines.next());
    if (value === undefined) throw new Error(`Pyodide alone ended. It said: ${child.complaints}`);
    return value;
  };
  if ((await next(0)) !== 'ready') throw new Error('Pyodide alone was not ready.');
  return {
    end: () => endChild(child),
    async run(ms) {
      const cpuBefore = cpuUsOf(child.pid);
      child.stdin.write(`${ms}\n`);
      const { runs, elapsedMs } = JSON.parse(await next(ms));
      return { runs, elapsedMs, cpuUs: cpuUsOf(child.pid) - cpuBefore };
    },
  };
}

/** A whole notebook on a file, as an agent host starts it, with its first call answered. */
async function startNotebook() {
  const args = [programFile, 'stdio', '--no-browser', '--notebook', `bench-${process.hrtime.bigint()}.ipynb`];
  const middle = startMiddle({ name: 'notebridge', args });
  await within(30_000, 'The notebook', middle.agent.initialize());
  await within(60_000, 'The first cell', runCell(middle.agent));
  return middle;
}

async function runCells(notebook, ms) {
  const { callMs, elapsedMs, cpuUs } = await burst(notebook, { call: runCell, concurrency: 1, ms, maxCalls: 1_000_000 });
  return { runs: callMs.length, callMs, elapsedMs, cpuUs };
}

async function runCell(agent) {
  const answer = await agent.request('tools/call', { name: 'run_code', arguments: { code: '1+1' } });
  const { status, outputs } = JSON.parse(answer.result?.content?.[0]?.text ?? '{}');
  if (status !== 'ok' || outputs?.[0]?.data?.['text/plain']?.join('') !== '2')
    throw new Error(`A wrong answer: ${JSON.stringify(answer).slice(0, 300)}`);
}

function toRate(bursts) {
  const total = (key) => bursts.reduce((sum, burst) => sum + burst[key], 0);
  const { medianMs, p99Ms } = bursts[0].callMs ? toSummary(bursts) : {};
  const runs = total('runs');
  return { runs, runsPerSecond: (runs * 1000) / total('elapsedMs'), cpuUsPerRun: total('cpuUs') / runs, medianMs, p99Ms };
}
