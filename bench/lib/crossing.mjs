import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Agent } from './agent.mjs';
import { endChild, startNode, within } from './children.mjs';
import { cpuUsOf } from './proc.mjs';
import { quantile } from './stats.mjs';

const pageFile = fileURLToPath(new URL('../page.mjs', import.meta.url));

/** Starts the thing in the middle, and puts an agent on one side of it. `nodeArgs` go before its own. */
export function startMiddle(target, nodeArgs = []) {
  const child = startNode([...nodeArgs, ...target.args], { env: target.env });
  const agent = new Agent(child);
  return { name: target.name, pid: child.pid, child, agent, end: () => endChild(child) };
}

/** Puts a page on the other side; resolves when a call has crossed. */
export async function addPage(target, middle) {
  const { port, token } = await within(15_000, `The address of ${target.name}`, target.findPage(middle.child, middle.agent));
  const page = startNode([pageFile, port, token]);
  const [said] = await within(
    15_000,
    `The page of ${target.name}`,
    Promise.race([once(page.stdout, 'data'), page.ended.then(() => ['nothing'])]),
  );
  if (String(said).trim() !== 'open') throw new Error(`The page of ${target.name} was not let in. ${page.complaints}`);
  await within(15_000, `The first call through ${target.name}`, middle.agent.echo());
  return { ...middle, end: () => Promise.all([middle.end(), endChild(page)]) };
}

export async function startCrossing(target, nodeArgs) {
  return addPage(target, startMiddle(target, nodeArgs));
}

/**
 * Calls for `ms` with so many calls under way at once, and at most `maxCalls` of them. `crossing.processes`: whose CPU counts, by default that
 * of the whole tree. Rejects at the first wrong answer, and when
 * nothing moves any more.
 */
export async function burst(crossing, { call, concurrency, ms, maxCalls }) {
  const callMs = [];
  let isOver = false;
  const cpuBefore = cpuUsOf(crossing.pid, crossing.processes);
  const start = performance.now();
  const callOneAfterAnother = async () => {
    for (let now = performance.now(); !isOver && now - start < ms && callMs.length + concurrency <= maxCalls; ) {
      await call(crossing.agent);
      const after = performance.now();
      callMs.push(after - now);
      now = after;
    }
  };
  const lines = Promise.all(Array.from({ length: concurrency }, callOneAfterAnother));
  try {
    await within(ms + 30_000, `A burst through ${crossing.name}`, lines);
  } finally {
    isOver = true;
  }
  const elapsedMs = performance.now() - start;
  return { callMs, elapsedMs, cpuUs: cpuBefore === undefined ? undefined : cpuUsOf(crossing.pid, crossing.processes) - cpuBefore };
}

/** What several bursts of one kind through one crossing come to. */
export function toSummary(bursts) {
  const callMs = bursts.flatMap((burst) => burst.callMs);
  const total = (key) => bursts.reduce((sum, burst) => sum + burst[key], 0);
  return {
    calls: callMs.length,
    callsPerSecond: (callMs.length * 1000) / total('elapsedMs'),
    medianMs: quantile(callMs, 0.5),
    p99Ms: quantile(callMs, 0.99),
    // Without /proc it is NaN, which the report leaves out and JSON prints as null.
    cpuUsPerCall: total('cpuUs') / callMs.length,
  };
}
