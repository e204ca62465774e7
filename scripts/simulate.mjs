// npm run simulate -- N [--seed S] [--trace] [--play NAME]: runs N schedules of faults against hubs that run in a simulated world, spread
// over the processors, and says what happened in them. A failed seed is named, and fails the same way again.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundleWorker } from '../packages/notebridge/test/simulation/bundle-worker.mjs';
import { runMain, StepFailed, secondsSince } from './run.mjs';
import { setup } from './setup.mjs';

await runMain(import.meta.url, async (args) => {
  const options = parse(args);
  await setup();
  const startMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'nb-simulate-'));
  try {
    const worker = join(folder, 'worker.mjs');
    await bundleWorker(worker);
    const workers = Math.min(availableParallelism(), options.count);
    const runs = Array.from({ length: workers }, (_, index) => runWorker(worker, options, index, workers));
    return report(await Promise.all(runs), options, startMs);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function parse(args) {
  const options = { count: undefined, seed: undefined, play: 'each', isTraced: false };
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (arg === '--trace') options.isTraced = true;
    else if (arg === '--seed') options.seed = wholeNumber(args[++index], '--seed');
    else if (arg === '--play') options.play = args[++index];
    else if (options.count === undefined) options.count = wholeNumber(arg, 'The number of schedules');
    else throw new StepFailed(`Unknown option "${arg}". Use: npm run simulate -- N [--seed S] [--trace] [--play NAME]`);
  }
  // Other schedules each time; the line at the end says which.
  const seed = options.seed ?? Math.floor(Date.now() / 1_000) % 1_000_000_000;
  return { ...options, seed, count: options.count ?? 2_000 };
}

function wholeNumber(text, what) {
  if (!/^\d{1,9}$/.test(text ?? '')) throw new StepFailed(`${what} is a whole number of at most nine digits, not "${text}".`);
  return Number(text);
}

/** Runs each n-th seed in a process of its own. */
function runWorker(worker, { count, seed, play, isTraced }, index, workers) {
  const own = Math.ceil((count - index) / workers);
  const args = ['--enable-source-maps', worker, play, seed + index, workers, own, ...(isTraced ? ['--trace'] : [])];
  const child = spawn(process.execPath, args.map(String), { stdio: ['ignore', 'pipe', 'inherit'] });
  const result = { schedules: 0, virtualMs: 0, counts: {}, failures: [] };
  createInterface({ input: child.stdout }).on('line', (text) => {
    const { line, failure, progress, ...rest } = JSON.parse(text);
    if (line !== undefined) process.stdout.write(`${line}\n`);
    else if (failure !== undefined) result.failures.push(failure);
    else if (progress === undefined) Object.assign(result, rest);
    else if (process.stdout.isTTY) process.stdout.write('.');
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      if (code !== 0 && result.failures.length === 0) result.failures.push(`A worker ended with exit code ${code}.`);
      resolve(result);
    });
  });
}

function report(results, { seed, count }, startMs) {
  const sum = (of) => results.reduce((total, result) => total + of(result), 0);
  const names = [...new Set(results.flatMap(({ counts }) => Object.keys(counts)))].sort();
  const failures = results.flatMap((result) => result.failures);
  const schedules = sum((result) => result.schedules);
  const hours = (sum((result) => result.virtualMs) / 3_600_000).toFixed(1);
  process.stdout.write(`\n${names.map((name) => `${name.padEnd(24)}${sum(({ counts }) => counts[name] ?? 0)}`).join('\n')}\n`);
  process.stdout.write(`${schedules} schedules from seed ${seed}, ${hours} virtual hours, in ${secondsSince(startMs)}: `);
  process.stdout.write(
    failures.length === 0 ? 'all held.\n' : `${failures.length > 0 ? 'failed' : ''} (of ${count}).\n${failures.join('\n')}\n`,
  );
  return failures.length === 0 ? 0 : 1;
}
