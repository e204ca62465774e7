import { toLogger } from '@notebridge/protocol/util/logger';
import { expect, it } from 'vitest';
import { createKnownHubs, createLossyBus, createVirtualTime } from '../../notebridge/test/support/hubs-in-memory.js';
import { Exchanges } from './exchanges.js';

it('a message that comes late of a hub that has ended does nothing, and is no warning', async () => {
  const time = createVirtualTime(1);
  const bus = createLossyBus(time);
  const known = createKnownHubs(['a', 'b']);
  const said: string[] = [];
  let heard = 0;
  const open = (id: string): Exchanges =>
    new Exchanges({
      bus: bus.connect(),
      runtime: time,
      membership: known.membershipOf(id),
      cluster: 'test',
      key: Buffer.alloc(32, 7),
      logger: toLogger((_level, line) => said.push(line)),
      onOpen: () => ({ onMessage: () => heard++, onEnd: () => {} }),
    });
  const [a, b] = [open('a'), open('b')];
  const exchange = a.open('b', { onMessage: () => {}, onEnd: () => {} });
  exchange.send(1, Buffer.from('in time'));
  await time.pass(1_000);
  exchange.send(1, Buffer.from('its last words'));
  known.remove('a');
  await time.pass(5_000);
  expect(heard).toBe(1);
  expect(b.counts.dropped.stranger).toBeGreaterThan(0);
  expect(said).toEqual([]);
  a.close();
  b.close();
});
