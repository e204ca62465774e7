// A call at another hub than the one that has the server, beside the same call there. All callers take turns in one run.
import { Connection } from '../gateways/connection.mjs';
import { statelessHttp, streamableHttp } from '../gateways/dialects.mjs';
import { callEcho } from '../gateways/gateway.mjs';
import { burst } from '../gateways/measure.mjs';
import { toolProxy } from '../gateways/targets.mjs';
import { toSummary } from '../lib/crossing.mjs';
import { shuffle } from '../lib/stats.mjs';
import { askOwner, endAll, findOwner, startHubs, startNats } from './hubs.mjs';

const toName = (tool) => `echo__${tool}`;
/** How a hub is called, by the name of the row. */
const doors = {
  'tool proxy': toolProxy,
  '/mcp 2025-11-25': (token) => streamableHttp({ toName, headers: bearer(token) }),
  '/mcp 2026-07-28': (token) => statelessHttp({ toName, headers: bearer(token) }),
};
const bursts = { alone: { concurrency: 1, ms: 300 }, at16: { concurrency: 16, ms: 300 }, at64: { concurrency: 64, ms: 300 } };

/** A caller of a hub, by a grant that holds at all hubs. `cpuUs`: of all that is to be counted. */
export async function openCaller({ hub, door, token, cpuUs }) {
  const connect = () => new Connection(hub.port);
  const connection = connect();
  const caller = await doors[door](token)(connection);
  const opened = { name: `${door} at hub ${hub.name}`, target: {}, caller, connect, cpuUs };
  await callEcho(opened, caller, connection);
  connection.close();
  return opened;
}

export async function issueToken(hub, door) {
  const { token } = await askOwner(hub, 'POST', '/grants', {
    allow: ['echo:*'],
    door: door === 'tool proxy' ? 'tools' : 'agent',
    ttl_seconds: 7200,
  });
  return token;
}

/** By door, kind of burst, and `owner` or `other`: a summary of each round. */
export async function measureCalls({ rounds, quick, say }) {
  const nats = await startNats();
  const hubs = await startHubs(nats, 2);
  try {
    const cpuUs = () => hubs.reduce((sum, hub) => sum + hub.cpuUs(), 0);
    const tokens = {};
    for (const door of Object.keys(doors)) tokens[door] = await issueToken(hubs[0], door);
    const { owner, others } = await findOwner(hubs, (hub) => openCaller({ hub, door: 'tool proxy', token: tokens['tool proxy'], cpuUs }));
    const callers = [];
    for (const door of Object.keys(doors))
      for (const [place, hub] of [
        ['owner', owner],
        ['other', others[0]],
      ])
        callers.push({ door, place, gateway: await openCaller({ hub, door, token: tokens[door], cpuUs }) });
    // What is measured are hubs that have run for a while.
    for (const { gateway } of callers) await burst(gateway, { concurrency: 64, ms: quick ? 500 : 4000 });
    const emptyKinds = () => Object.fromEntries(Object.keys(bursts).map((kind) => [kind, { owner: [], other: [] }]));
    const table = Object.fromEntries(Object.keys(doors).map((door) => [door, emptyKinds()]));
    for (let round = 1; round <= rounds; round++) {
      say(`calls, round ${round} of ${rounds}`);
      for (const [kind, options] of shuffle(Object.entries(bursts)))
        for (const { door, place, gateway } of shuffle(callers)) {
          const natsBefore = nats.cpuUs();
          const done = await burst(gateway, options);
          const natsUsPerCall = (nats.cpuUs() - natsBefore) / (done.callMs.length + options.concurrency);
          table[door][kind][place].push({ ...toSummary([done]), natsUsPerCall });
        }
    }
    return table;
  } finally {
    await endAll(hubs, nats);
  }
}

function bearer(token) {
  return `authorization: Bearer ${token}\r\n`;
}
