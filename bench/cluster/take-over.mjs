// What takes time in a cluster: a server whose hub is killed, and grants that are revoked.
import { callEcho } from '../gateways/gateway.mjs';
import { sleep } from '../lib/stats.mjs';
import { issueToken, openCaller } from './calls.mjs';
import { allSeen, askOwner, endAll, findOwner, startHub, startHubs, startNats, until } from './hubs.mjs';

/** Seconds from `kill -9` of the hub that has the server to the first answer by another one, each round. */
export async function measureTakeOver({ rounds, say }) {
  const nats = await startNats();
  let hubs = await startHubs(nats, 3);
  const seconds = [];
  try {
    const token = await issueToken(hubs[0], 'tool proxy');
    const open = (hub) => openCaller({ hub, door: 'tool proxy', token, cpuUs: () => 0 });
    for (let round = 1; round <= rounds; round++) {
      say(`take-over, round ${round} of ${rounds}`);
      const { owner, others } = await findOwner(hubs, open);
      const callers = await Promise.all(others.map(open));
      // Somewhere between two renewals of its lease.
      await sleep(2500 * Math.random());
      const start = performance.now();
      await owner.kill();
      await Promise.all(callers.map(untilAnswered));
      seconds.push((performance.now() - start) / 1000);
      hubs = [...others, await startHub(nats, owner.name, owner.keyFile)].sort((a, b) => a.name.localeCompare(b.name));
      await allSeen(hubs);
    }
    return seconds;
  } finally {
    await endAll(hubs, nats);
  }
}

async function untilAnswered(gateway) {
  for (const end = performance.now() + 60_000; ; ) {
    const connection = gateway.connect();
    try {
      return await callEcho(gateway, gateway.caller, connection);
    } catch (error) {
      if (performance.now() > end) throw error;
    } finally {
      connection.close();
    }
    await sleep(10);
  }
}

/**
 * Grants that are all revoked at one hub, 128 at once: ms from the answer of the last one that was revoked until another hub refuses the last of
 * all, and how long all revocations took.
 */
export async function measureRevocation({ rounds, quick, say }) {
  const count = quick ? 200 : 2000;
  const nats = await startNats();
  const hubs = await startHubs(nats, 3);
  const [one, , other] = hubs;
  const measured = { count, lateMs: [], allMs: [] };
  try {
    for (let round = 1; round <= rounds; round++) {
      say(`revocation, round ${round} of ${rounds}`);
      const grants = [];
      await inLines(32, count, async () => {
        grants.push(await askOwner(one, 'POST', '/grants', { allow: ['echo:*'], ttl_seconds: 7200 }));
      });
      await until(`Grants at hub ${other.name}`, async () => (await liveAt(other)).length >= count);
      let last;
      const start = performance.now();
      await inLines(128, count, async (index) => {
        await askOwner(one, 'DELETE', `/grants/${grants[index].grant.id}`);
        last = grants[index];
      });
      const end = performance.now();
      // A wrong token is answered late, on purpose: whether all are refused is asked of what the hub itself goes by.
      await until(`Revocations at hub ${other.name}`, async () => (await liveAt(other)).length === 0);
      measured.lateMs.push(performance.now() - end);
      measured.allMs.push(end - start);
      const headers = { authorization: `Bearer ${last.token}` };
      const { status } = await fetch(`http://127.0.0.1:${other.port}/api/v1/mcp/proxy/servers`, { headers });
      if (status !== 401) throw new Error(`Grant ${last.grant.id} was revoked and is answered with ${status}.`);
    }
    return measured;
  } finally {
    await endAll(hubs, nats);
  }
}

async function liveAt(hub) {
  return (await askOwner(hub, 'GET', '/grants')).grants;
}

async function inLines(lines, count, work) {
  let next = 0;
  const line = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: lines }, line));
}
