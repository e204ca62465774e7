import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EntryGate, EntryVerdict } from '@notebridge/kit/entry-gate';
import { isOwnOrigin } from './admission.js';
import { send } from './assets.js';
import type { WindowTickets } from './window-tickets.js';

export const entryPath = '/enter';
/** A code has 43 characters. */
const maxBytes = 200;

export interface EntryDoor {
  readonly gate: EntryGate;
  /** Values of `Origin` besides `http://` and the request's own `Host`. */
  readonly origins: ReadonlySet<string>;
  /** What a valid code is exchanged for: the windows' key. */
  readonly key: string;
  readonly tickets: WindowTickets;
  /** Slows down clients that guess. */
  readonly later: (answer: () => void) => void;
  /** Called with the reason of a refusal. */
  readonly onRefused: (why: 'wrong_origin' | 'malformed' | 'expired' | 'unknown' | 'other_user') => void;
}

const refusals: { readonly [verdict in Exclude<EntryVerdict, 'good'>]: { status: 403 | 410; body: string } } = {
  used: { status: 410, body: 'used' },
  expired: { status: 410, body: 'expired' },
  unknown: { status: 403, body: 'unknown' },
  other_user: { status: 403, body: 'other_user' },
};

/** Exchanges the code of an address for the windows' key, for a page of our own origin only. `Host` has been checked. */
export async function answerEntry(request: IncomingMessage, response: ServerResponse, door: EntryDoor): Promise<void> {
  if (!isOwnOrigin(request, door.origins)) {
    door.onRefused('wrong_origin');
    return send(request, response, { status: 403, body: 'This origin may not connect.\n' });
  }
  const code = await readBody(request);
  if (code === undefined) {
    door.onRefused('malformed');
    return send(request, response, { status: 403, headers: { connection: 'close' }, body: 'unknown' });
  }
  const verdict = await door.gate.redeem(code, request.socket);
  if (verdict === 'good') return send(request, response, { status: 200, body: door.key });
  door.onRefused(verdict === 'used' ? 'expired' : verdict);
  if (verdict === 'unknown') return door.later(() => send(request, response, refusals.unknown));
  send(request, response, refusals[verdict]);
}

/** Proves to a page of our own origin that this host knows the windows' key, whatever the page knows. `Host` has been checked. */
export async function answerChallenge(
  request: IncomingMessage,
  response: ServerResponse,
  { origins, tickets, onRefused }: Pick<EntryDoor, 'origins' | 'tickets' | 'onRefused'>,
): Promise<void> {
  if (!isOwnOrigin(request, origins)) {
    onRefused('wrong_origin');
    return send(request, response, { status: 403, body: 'This origin may not connect.\n' });
  }
  const nonce = await readBody(request);
  const answer = nonce === undefined ? undefined : tickets.answer(nonce, request.headers.origin ?? '');
  if (answer === undefined)
    return send(request, response, { status: 400, headers: { connection: 'close' }, body: 'A nonce is expected.\n' });
  send(request, response, { status: 200, body: JSON.stringify(answer) });
}

/** Undefined for one that is too long to be a code. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  let text = '';
  // An iterator that is left would end the connection, and with it the answer.
  for await (const chunk of request.setEncoding('utf8').iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
    text += chunk;
    if (text.length > maxBytes) return undefined;
  }
  return text;
}
