import { randomUUID } from 'node:crypto';
import { type SharedStore, StoreUnavailable } from '@notebridge/system/files/shared-store';
import type { NatsLink } from './nats-link.js';

export interface TriedRights {
  store: SharedStore;
  /** Of all subjects of the cluster. */
  prefix: string;
  /** That of the bucket first. */
  streams: readonly string[];
}

/**
 * What a hub does all the time, or once in a while, is tried once, so that a right that is missing is known at the start, and not in the middle
 * of a call. Nothing that is there is changed.
 */
export async function tryRights(link: NatsLink, { store, prefix, streams }: TriedRights): Promise<void> {
  let isHeard = false;
  const probe = `${prefix}probe.${randomUUID()}`;
  const subscription = link.listen(probe, () => {
    isHeard = true;
  });
  try {
    // Nobody answers these two: what is asked after them is answered later than they come back or are refused.
    link.send(probe);
    // How a watch says that it keeps up; without it the server falls silent after some megabytes.
    link.send(`$JS.FC.${streams[0]}.probe`);
    await Promise.all(streams.map((stream) => tryChanges(link, stream)));
    await tryStore(store);
  } finally {
    subscription.unsubscribe();
  }
  if (link.missingRight !== undefined) throw link.missingRight;
  if (!isHeard) throw new StoreUnavailable('NATS did not bring back a message to this hub itself.');
}

/** A question without a name, which the client does not ask, is refused for that: whoever gets any answer has the right to ask. */
async function tryChanges(link: NatsLink, stream: string): Promise<void> {
  for (const what of ['CREATE', 'UPDATE']) {
    const subject = `$JS.API.STREAM.${what}.${stream}`;
    await link.ask(`answer on "${subject}"`, (timeout) => link.connection.request(subject, '{}', { timeout }));
  }
}

async function tryStore(store: SharedStore): Promise<void> {
  const prefix = `probe.${randomUUID()}.`;
  await store.create(`${prefix}one`, '', { ttlMs: 1000 });
  await store.get(`${prefix}one`);
  // No more than its own: there may be any number of entries, of any size, that somebody else has written.
  await store.list(prefix);
}
