// What a cluster costs with more and more hubs: at rest, in entries, and for each call at a hub that has not the server.
import { burst } from '../gateways/measure.mjs';
import { shuffle, sleep } from '../lib/stats.mjs';
import { issueToken, openCaller } from './calls.mjs';
import { endAll, findOwner, startHubs, startNats } from './hubs.mjs';

/** By the number of hubs, a measurement of each round. */
export async function measureGrowth({ rounds, quick, say }) {
  const table = new Map([1, 2, 4, 8].map((count) => [count, []]));
  for (let round = 1; round <= rounds; round++)
    for (const count of shuffle([...table.keys()])) {
      say(`${count} hubs, round ${round} of ${rounds}`);
      table.get(count).push(await measureHubs(count, quick));
    }
  return table;
}

async function measureHubs(count, quick) {
  const nats = await startNats();
  const hubs = await startHubs(nats, count);
  const door = 'tool proxy';
  const cpuUs = () => hubs.reduce((sum, hub) => sum + hub.cpuUs(), 0);
  try {
    const token = await issueToken(hubs[0], door);
    const { owner, others } = await findOwner(hubs, (hub) => openCaller({ hub, door, token, cpuUs }));
    const callers = await Promise.all((count === 1 ? [owner] : others).map((hub) => openCaller({ hub, door, token, cpuUs })));
    // One after the other: together they would share the cores, and most of their code would not be compiled yet.
    for (const caller of callers) await burst(caller, { concurrency: 16, ms: quick ? 500 : 3000 });
    await sleep(quick ? 1000 : 3000);
    const idleMs = quick ? 3000 : 10_000;
    const before = { nats: nats.cpuUs(), hubs: cpuUs(), messages: await nats.messages() };
    await sleep(idleMs);
    const rest = {
      nats: (nats.cpuUs() - before.nats) / idleMs,
      hubs: (cpuUs() - before.hubs) / idleMs,
      messages: ((await nats.messages()) - before.messages) / idleMs,
    };
    const counted = { nats, cpuUs, rest, ms: quick ? 500 : 3000 };
    return {
      natsMsPerSecond: rest.nats,
      hubMsPerSecond: rest.hubs / count,
      messagesPerSecond: rest.messages * 1000,
      ...(await nats.bucket()),
      one: await countCalls(callers.slice(0, 1), counted),
      all: await countCalls(callers, counted),
    };
  } finally {
    await endAll(hubs, nats);
  }
}

/** Sixteen calls at once by each caller: what a call costs, without what the cluster costs at rest. */
async function countCalls(callers, { nats, cpuUs, rest, ms }) {
  const concurrency = 16;
  const before = { nats: nats.cpuUs(), hubs: cpuUs(), messages: await nats.messages(), at: performance.now() };
  const done = await Promise.all(callers.map((caller) => burst(caller, { concurrency, ms })));
  await sleep(100);
  const after = { nats: nats.cpuUs(), hubs: cpuUs(), messages: await nats.messages(), at: performance.now() };
  const grown = (key) => after[key] - before[key] - rest[key] * (after.at - before.at);
  // Each connection begins with a call that is not in `callMs`.
  const calls = done.reduce((sum, { callMs }) => sum + callMs.length + concurrency, 0);
  return {
    messages: grown('messages') / calls,
    hubUs: grown('hubs') / calls,
    natsUs: grown('nats') / calls,
  };
}
