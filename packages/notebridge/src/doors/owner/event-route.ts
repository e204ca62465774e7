import { principalKey } from '@notebridge/protocol/core/principal';
import type { ToolServers } from '@notebridge/protocol/core/tool-server';
import { printMessage } from '@notebridge/protocol/core/wire';
import { largestOf } from '@notebridge/protocol/util/long-lists';
import type { Redacting } from '@notebridge/protocol/util/redactor';
import type { RecentCalls, SeenCall } from '../../recent/recent-calls.js';
import type { Authenticate } from '../http/authenticator.js';
import { EventStream } from '../http/event-stream.js';
import type { HttpContext } from '../http/http-context.js';
import { refuse } from '../http/refusal.js';
import { describeCall } from './call-routes.js';
import type { OwnerBody } from './owner-schemas.js';

const heartbeatMs = 15_000;
/** A reader who is slower than this is told less often. Bytes. */
const maxUnsentBytes = 1024 * 1024;
/** However many calls there are, a page is told of them so often. Milliseconds. */
const tellEveryMs = 250;
/** Of more calls in that time only the newest are told of; how many there were stands beside them. */
const mostCalls = 200;
/** Streams at once, of the owner; those who watch have as many of their own, and share them. */
const mostStreams = 32;
/** So often it is looked whether the reader still may. Milliseconds. */
const checkEveryMs = 500;

export interface Watched {
  calls: RecentCalls;
  /** By the name of the event: what calls a function when a list is to be asked for anew. Each returns what ends it. */
  lists: { readonly [event: string]: (listener: () => void) => () => void };
  /** Asked again while a stream is open: a tab may have been signed out, a grant revoked. */
  authenticate: Authenticate;
  /** Takes the secrets out of names that callers and servers chose. */
  redactor: Redacting;
}

/** A server has started, stopped, or has other tools. */
export function watchServers(servers: ToolServers): (listener: () => void) => () => void {
  return (listener) => servers.subscribe(({ kind }) => kind !== 'notification' && listener());
}

/**
 * Tells the owner what changes, as server-sent events: `calls` with those that began or ended since the last one, and the name
 * of a list (`servers`, `agents`, `notebooks`, `config`, `cluster`) when that is to be asked for anew. A call costs an entry in a map for each reader, and nothing where nobody reads.
 */
export class OwnerEvents {
  readonly #watched: Watched;
  readonly #open = { owner: new StreamPlaces(mostStreams), watchers: new StreamPlaces(mostStreams) };

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  answer(context: HttpContext): void {
    const { response, headers, principal } = context;
    const places = this.#open[principal.kind === 'owner' ? 'owner' : 'watchers'];
    const giveBack = places.take(principalKey(principal), () => response.destroy());
    if (giveBack === undefined) return context.refuse(tooMany);
    const stream = new EventStream(response, { headers, heartbeatMs, maxUnsentBytes });
    const stop = this.#tell(stream);
    const check = setInterval(() => void this.#endIfOver(context), checkEveryMs);
    response.once('close', () => {
      giveBack();
      clearInterval(check);
      stop();
    });
    stream.open();
  }

  async #endIfOver({ request, response, principal }: HttpContext): Promise<void> {
    try {
      const now = await this.#watched.authenticate(request.headers.authorization);
      if (principalKey(now) === principalKey(principal)) return;
    } catch {
      // It opens nothing any more.
    }
    // One who does not read would keep the place, and what waits for him.
    if (response.writableLength > 0 || response.writableEnded) response.destroy();
    else response.end();
  }

  /** Returns what ends it. */
  #tell(stream: EventStream): () => void {
    const { calls, lists, redactor } = this.#watched;
    const changed = new Map<string, SeenCall>();
    const changedLists = new Set<string>();
    let timer: NodeJS.Timeout | undefined;
    const tell = (): void => {
      timer = undefined;
      // What waits is told of in one piece when the reader has caught up.
      if (stream.isFull) return later();
      if (changed.size > 0) stream.send('calls', redactor.redactOurs(printMessage(toNews(calls, changed))));
      for (const event of changedLists) stream.send(event, '{}');
      changed.clear();
      changedLists.clear();
    };
    const later = (): void => {
      timer ??= setTimeout(tell, tellEveryMs);
    };
    const ends = [
      calls.changed.add((call) => {
        // The newest last, also of one that is told of already.
        changed.delete(call.id);
        changed.set(call.id, call);
        if (changed.size > mostCalls) changed.delete(changed.keys().next().value ?? '');
        later();
      }),
      ...Object.entries(lists).map(([event, watch]) =>
        watch(() => {
          changedLists.add(event);
          later();
        }),
      ),
    ];
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }
}

/** Beside the calls stand the totals: of many calls only the newest are told of. */
function toNews(calls: RecentCalls, changed: ReadonlyMap<string, SeenCall>): OwnerBody<'Calls'> {
  return { calls: [...changed.values()].map(describeCall), totals: calls.totals };
}

const tooMany = refuse(503, `There are ${mostStreams} streams of events open already. Close one.`);

interface Place {
  holder: string;
  cut: () => void;
}

/** A bounded number of streams at once. When all are taken, who has most of them loses one to a holder that has fewer; nobody loses one to himself. */
class StreamPlaces {
  readonly #most: number;
  /** The oldest first. */
  readonly #taken = new Set<Place>();

  constructor(most: number) {
    this.#most = most;
  }

  /** `cut`: ends the stream, when another holder needs its place. Returns what gives the place back; undefined if there is none. */
  take(holder: string, cut: () => void): (() => void) | undefined {
    if (this.#taken.size >= this.#most && !this.#makeRoom(holder)) return undefined;
    const place = { holder, cut };
    this.#taken.add(place);
    return () => this.#taken.delete(place);
  }

  #makeRoom(holder: string): boolean {
    const counts = new Map<string, number>();
    for (const place of this.#taken) counts.set(place.holder, (counts.get(place.holder) ?? 0) + 1);
    const most = largestOf(counts.values());
    if ((counts.get(holder) ?? 0) + 1 >= most) return false;
    for (const place of this.#taken) {
      if (counts.get(place.holder) !== most) continue;
      this.#taken.delete(place);
      place.cut();
      return true;
    }
    return false;
  }
}
