import { parseJson, printJson } from '@notebridge/protocol/exact-json';
import { isRpcId, type RpcId } from '@notebridge/protocol/rpc/messages';

/** The id of one request, or those of a batch. */
export type Requests = RpcId | RpcId[];

/** Longer ones stand in no event id: it comes back in a header, and goes with each event. */
const mostCharacters = 800;
const pattern = /^([\da-f]{12})-(\d{1,15})(?:-([\w-]{1,800}))?-(\d{1,15})$/;

/**
 * The ids of one stream's events. Until its requests are answered they stand in there: so an agent that comes back with one of them to another hub,
 * or to the next start of this one, is told that their answer is lost, though nobody there knows of them.
 */
export class EventIds {
  readonly #key: string;
  readonly #open: string;
  #answeredAt = Number.POSITIVE_INFINITY;

  /** `key`: a random prefix of 12 hexadecimal digits, and the number of the stream. */
  constructor(key: string, requests: Requests | undefined) {
    const named = requests === undefined ? '' : Buffer.from(printJson(requests)).toString('base64url');
    this.#key = key;
    this.#open = named === '' || named.length > mostCharacters ? key : `${key}-${named}`;
  }

  /** The event of that number answers the requests. */
  answeredAt(number: number): void {
    this.#answeredAt = Math.min(number, this.#answeredAt);
  }

  of(number: number): string {
    return `${number < this.#answeredAt ? this.#open : this.#key}-${number}`;
  }
}

/** The place that an event id names; undefined for one that is none of ours. */
export function placeOfEvent(eventId: string): { prefix: string; stream: number; number: number } | undefined {
  const [, prefix, stream, , number] = pattern.exec(eventId) ?? [];
  return prefix === undefined ? undefined : { prefix, stream: Number(stream), number: Number(number) };
}

/** The requests that were not answered when this event was sent; undefined if there were none. */
export function unansweredAt(eventId: string): Requests | undefined {
  const named = pattern.exec(eventId)?.[3];
  if (named === undefined) return undefined;
  try {
    const requests = parseJson(Buffer.from(named, 'base64url').toString());
    return isRpcId(requests) || (Array.isArray(requests) && requests.every(isRpcId)) ? requests : undefined;
  } catch {
    return undefined;
  }
}
