import { randomUUID } from 'node:crypto';
import { type SharedStore, StoreUnavailable } from '../../state/shared-store.js';
import { JetStreamFault, type NatsLink, type NatsRightMissing, operationMs } from './nats-link.js';

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
  let missing: NatsRightMissing | undefined;
  const unsubscribe = link.onRightMissing((right) => {
    missing ??= right;
  });
  try {
    // How a watch says that it keeps up; without it the server falls silent after some megabytes. Nobody answers it: what is asked next is
    // answered later than it is refused.
    link.send(`$JS.FC.${streams[0]}.probe`);
    await Promise.all(streams.map((stream) => tryChanges(link, stream)));
    await tryStore(store);
    if (missing !== undefined) throw missing;
  } finally {
    unsubscribe();
  }
  await tryMessages(link, `${prefix}probe.${randomUUID()}`);
}

/** A question without a name is refused for that, by who has the right to ask it. */
async function tryChanges(link: NatsLink, stream: string): Promise<void> {
  for (const what of ['CREATE', 'UPDATE']) {
    await link.ask(`$JS.API.STREAM.${what}.${stream}`, {}).catch((error) => {
      if (!(error instanceof JetStreamFault)) throw error;
    });
  }
}

async function tryStore(store: SharedStore): Promise<void> {
  const prefix = `probe.${randomUUID()}.`;
  await store.create(`${prefix}one`, '', { ttlMs: 1000 });
  await store.get(`${prefix}one`);
  // No more than its own: there may be any number of entries, of any size, that somebody else has written.
  await store.list(prefix);
}

async function tryMessages(link: NatsLink, subject: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const finish = (error?: Error): void => {
      clearTimeout(timer);
      unsubscribe();
      subscription.unsubscribe();
      if (error === undefined) resolve();
      else reject(error);
    };
    const timer = setTimeout(
      () => finish(new StoreUnavailable('NATS did not bring back a message to this hub itself.')),
      operationMs,
    ).unref();
    const unsubscribe = link.onRightMissing(finish);
    const subscription = link.listen(subject, () => finish());
    link.send(subject);
  });
}
