import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { AsyncEvent } from '@notebridge/protocol/util/async-event';

/** How long a caller waits for a change before it is told that there is none. Milliseconds. */
const newsMs = 25_000;
/** Changes often come together. Milliseconds. */
const settleMs = 100;

/**
 * What `look` finds. If that is no news to the caller, what it finds after the next change, within 25 s and as long as the caller is there:
 * so one who follows something is notified at once, and asks seldom.
 */
export async function awaitNews<Found>(
  socket: Socket,
  {
    subscribe,
    look,
    isNews,
  }: { subscribe: (listener: () => void) => () => void; look: () => Found | Promise<Found>; isNews: (found: Found) => boolean },
): Promise<Found> {
  // From before the first look, so that no change falls between a look and the wait.
  const changed = new AsyncEvent();
  const unsubscribe = subscribe(() => changed.set());
  const left = new AbortController();
  const leave = (): void => left.abort();
  socket.once('close', leave);
  try {
    const found = await look();
    if (isNews(found)) return found;
    if (await changed.wait(newsMs, left.signal)) await delay(settleMs);
    return await look();
  } finally {
    unsubscribe();
    // The connection is kept for further requests.
    socket.removeListener('close', leave);
  }
}
