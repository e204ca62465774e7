// What is measured of the gateways. All of them are alive at once and take turns so short that whatever else the machine does hits
// them alike; a ratio divides two values of one round.

import { within } from '../lib/children.mjs';
import { toSummary } from '../lib/crossing.mjs';
import { quantile, shuffle, sleep } from '../lib/stats.mjs';
import { callEcho, callPayload, prepareTarget, startGateway } from './gateway.mjs';

const bursts = { latency: { concurrency: 1, ms: 200 }, at16: { concurrency: 16, ms: 200 }, at64: { concurrency: 64, ms: 200 } };

/** Builds what takes minutes to be built and is not there yet, before any clock runs. */
export async function buildAll(targets, skipped) {
  for (const target of targets) await orSkip(target, skipped, async () => target.build?.());
}

/** Starts what can be started. A peer that cannot is left out, with the reason; anything else ends the bench. */
export async function startAll(targets, skipped) {
  const gateways = [];
  for (const target of targets) await orSkip(target, skipped, async () => gateways.push(await startGateway(target)));
  return gateways;
}

/** Runs `work` unless the peer was left out before; leaves it out if that fails. */
async function orSkip(target, skipped, work) {
  if (skipped.has(target.name)) return;
  try {
    await work();
  } catch (error) {
    if (target.kind !== 'peer') throw new Error(`${target.name}: ${error.message}`, { cause: error });
    process.stderr.write(`bench: ${target.name} is left out: ${error.message}\n`);
    skipped.set(target.name, error.message);
  }
}

/** Short calls: latency alone, and throughput with 16 and 64 at once. Answers with `{latency, at16, at64}` by target, a value per round. */
export async function measureCalls(gateways, { rounds, quick, skipped }) {
  const measured = emptyTable(Object.keys(bursts), gateways);
  for (const gateway of gateways) {
    await orSkip(gateway.target, skipped, () => burst(gateway, { ...bursts.at64, ms: quick ? 300 : 1500 }));
  }
  for (let round = 1; round <= rounds; round++) {
    say(`calls, round ${round} of ${rounds}`);
    for (const [kind, options] of shuffle(Object.entries(bursts))) {
      const turns = new Map(gateways.map((gateway) => [gateway, []]));
      for (const isFirst of quick ? [true] : [true, false]) {
        // Most peers have one turn: their numbers are far enough away.
        for (const gateway of shuffle(gateways.filter(({ target }) => isFirst || target.kind !== 'peer' || target.isClose))) {
          await orSkip(gateway.target, skipped, async () => turns.get(gateway).push(await burst(gateway, options)));
        }
      }
      for (const [{ name }, own] of turns) if (own.length > 0) measured[kind][name].push(toSummary(own));
    }
  }
  return measured;
}

/** Results of `size` letters, one at a time. A peer may refuse them: then its row says so. */
export async function measurePayload(gateways, { size, rounds, skipped }) {
  const measured = emptyTable(['payload'], gateways).payload;
  const failed = new Map(skipped);
  const calls = async (gateway, count) => {
    const connection = gateway.connect();
    try {
      const cpuBefore = gateway.cpuUs();
      const callMs = [];
      const until = performance.now() + 1000;
      while (callMs.length < count && (callMs.length === 0 || performance.now() < until)) {
        callMs.push(await callPayload(gateway, gateway.caller, connection, size));
      }
      const cpuUsPerCall = cpuBefore === undefined ? undefined : (gateway.cpuUs() - cpuBefore) / callMs.length;
      return { mbPerSecond: size / 1e6 / (quantile(callMs, 0.5) / 1000), medianMs: quantile(callMs, 0.5), cpuUsPerCall };
    } finally {
      connection.close();
    }
  };
  for (const gateway of gateways) await orSkip(gateway.target, failed, () => calls(gateway, 2));
  for (let round = 1; round <= rounds; round++) {
    say(`results of ${size / 1e6} MB, round ${round} of ${rounds}`);
    for (const gateway of shuffle(gateways)) {
      await orSkip(gateway.target, failed, async () => measured[gateway.name].push(await calls(gateway, 3)));
    }
  }
  return { measured, failed: Object.fromEntries([...failed].filter(([name]) => !skipped.has(name))) };
}

/** Memory of a fresh gateway: with one caller, and with 200 sandboxes that have each a connection, and all call at once. */
export async function measureSandboxes(targets, { rounds, quick, skipped, count = 200 }) {
  const measured = emptyTable(['rss'], targets).rss;
  for (let round = 1; round <= rounds; round++) {
    for (const target of shuffle(targets.filter(({ kind }) => round === 1 || kind !== 'peer'))) {
      say(`memory of ${target.name}, round ${round} of ${rounds}`);
      await orSkip(target, skipped, async () => {
        const gateway = await startGateway(target);
        try {
          await sleep(500);
          const aloneMb = gateway.rssMb();
          measured[target.name].push({ aloneMb, sandboxesMb: await withSandboxes(gateway, count, quick ? 3 : 10) });
        } finally {
          await gateway.end();
        }
      });
    }
  }
  return measured;
}

/** The most that was resident while the sandboxes were there. */
async function withSandboxes(gateway, count, waves) {
  const sandboxes = [];
  try {
    while (sandboxes.length < count) {
      const connection = gateway.connect();
      sandboxes.push({ connection, caller: gateway.caller });
      if (gateway.target.ownServers !== true) sandboxes.at(-1).caller = await gateway.open(connection);
      await callEcho(gateway, sandboxes.at(-1).caller, connection);
    }
    let mostMb = gateway.rssMb();
    for (let wave = 0; wave < waves; wave++) {
      await Promise.all(sandboxes.map(({ caller, connection }) => callEcho(gateway, caller, connection)));
      mostMb = Math.max(mostMb, gateway.rssMb());
    }
    await sleep(500);
    return Math.max(mostMb, gateway.rssMb());
  } finally {
    for (const { connection } of sandboxes) connection.close();
  }
}

/** From the start of the program to its first answered call. */
export async function measureColdStarts(targets, { rounds, skipped }) {
  const measured = emptyTable(['cold'], targets).cold;
  for (const target of targets) await orSkip(target, skipped, () => prepareTarget(target));
  const start = async (target) => {
    const gateway = await startGateway(target);
    await gateway.end();
    return gateway.firstCallMs;
  };
  // The first start of each reads its files from the disk; nobody waits for that twice.
  for (const target of targets) await orSkip(target, skipped, () => start(target));
  for (let round = 1; round <= rounds; round++) {
    say(`cold starts, round ${round} of ${rounds}`);
    for (const target of shuffle(targets)) await orSkip(target, skipped, async () => measured[target.name].push(await start(target)));
  }
  return measured;
}

/** Calls for `ms` on so many connections, each one call after the other. They are opened before the clock runs: a start is not a call. */
export async function burst(gateway, { concurrency, ms, call = callEcho }) {
  const connections = Array.from({ length: concurrency }, () => gateway.connect());
  const callMs = [];
  let isOver = false;
  try {
    await within(30_000, 'The connections', Promise.all(connections.map((connection) => call(gateway, gateway.caller, connection))));
    const cpuBefore = gateway.cpuUs();
    const start = performance.now();
    const callOneAfterAnother = async (connection) => {
      while (!isOver && performance.now() - start < ms) callMs.push(await call(gateway, gateway.caller, connection));
    };
    await within(ms + 30_000, 'A burst', Promise.all(connections.map(callOneAfterAnother)));
    const elapsedMs = performance.now() - start;
    return { callMs, elapsedMs, cpuUs: cpuBefore === undefined ? undefined : gateway.cpuUs() - cpuBefore };
  } finally {
    isOver = true;
    for (const connection of connections) connection.close();
  }
}

function emptyTable(kinds, targets) {
  return Object.fromEntries(kinds.map((kind) => [kind, Object.fromEntries(targets.map(({ name }) => [name, []]))]));
}

function say(text) {
  process.stderr.write(`bench: ${text}\n`);
}
