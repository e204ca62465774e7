import type { Claim, ServedCall } from '@notebridge/cluster/cluster-parts';
import { ExchangedCalls } from '@notebridge/cluster/hub-calls';
import type { ExchangeLimits } from '@notebridge/cluster/link-sender';
import type { JsonObject } from '@notebridge/protocol/json';
import { toLogger } from '@notebridge/protocol/util/logger';
import { createContext } from './create-context.js';
import { createKnownHubs, createLossyBus, createVirtualTime } from './hubs-in-memory.js';

/** Hub b has `server.s` in epoch 3; hub a calls. */
export function createCallingHubs({ seed = 1, limits }: { seed?: number; limits?: Partial<ExchangeLimits> } = {}) {
  const time = createVirtualTime(seed);
  const bus = createLossyBus(time);
  const known = createKnownHubs(['a', 'b']);
  const log: string[] = [];
  const claim = { resource: 'server.s', epoch: 3, isOurs: true };
  const held = {
    ...claim,
    isHeld: () => claim.isOurs,
    describe: async () => {},
    onLost: () => () => {},
    release: async () => {},
  } satisfies Claim & typeof claim;
  const create = (id: string) => {
    const connection = bus.connect();
    const calls = new ExchangedCalls({
      bus: connection,
      runtime: time,
      membership: known.membershipOf(id),
      claims: { held: (resource) => (id === 'b' && resource === 'server.s' ? held : undefined) },
      cluster: 'test',
      key: Buffer.alloc(32, 7),
      logger: toLogger((_level, line, fields) => log.push(`${line} ${JSON.stringify(fields)}`)),
      limits,
    });
    return { calls, connection };
  };
  const a = create('a');
  const b = create('b');
  const started: ServedCall[] = [];
  /** What hub b answers. */
  const serve = (answer: (call: ServedCall) => Promise<JsonObject> | JsonObject): void => {
    b.calls.serve('server.', async (call) => {
      started.push(call);
      return answer(call);
    });
  };
  const target = { hub: 'b', resource: 'server.s', epoch: 3 };
  const call = (params: JsonObject, context = createContext('tools/call', params), to = target) =>
    a.calls.call(to, 'tools/call', params, context);
  return { time, bus, known, log, claim, a, b, started, serve, target, call };
}
