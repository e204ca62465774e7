import type { IncomingMessage, ServerResponse } from 'node:http';
import type { EntryGate } from '@notebridge/system/net/entry-gate';
import { pathOf } from '@notebridge/system/net/request-head';
import { challengePath } from '../viewer/window-proof.js';
import { isOwnOrigin } from './admission.js';
import { send } from './assets.js';
import type { WindowTickets } from './window-tickets.js';

const entryPath = '/enter';
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

export function isDoor(path: string): boolean {
  return path === entryPath || path === challengePath;
}

/** Answers what a page of our own origin posts to one of the two paths, and nobody else. `Host` has been checked. */
export async function answerDoor(request: IncomingMessage, response: ServerResponse, door: EntryDoor): Promise<void> {
  if (!isOwnOrigin(request, door.origins)) {
    door.onRefused('wrong_origin');
    return send(request, response, { status: 403, body: 'This origin may not connect.\n' });
  }
  const said = await readBody(request);
  return pathOf(request) === entryPath
    ? answerEntry(request, response, { ...door, code: said })
    : answerChallenge(request, response, { ...door, nonce: said });
}

/** Exchanges the code of an address for the windows' key. */
async function answerEntry(
  request: IncomingMessage,
  response: ServerResponse,
  { gate, key, later, onRefused, code }: EntryDoor & { code: string | undefined },
): Promise<void> {
  if (code === undefined) {
    onRefused('malformed');
    return send(request, response, { status: 403, headers: { connection: 'close' }, body: 'unknown' });
  }
  const verdict = await gate.redeem(code, request.socket);
  if (verdict === 'good') return send(request, response, { status: 200, body: key });
  onRefused(verdict === 'used' ? 'expired' : verdict);
  const refuse = () => send(request, response, { status: verdict === 'used' || verdict === 'expired' ? 410 : 403, body: verdict });
  if (verdict === 'unknown') later(refuse);
  else refuse();
}

/** Proves to the page that this host knows the windows' key, whatever the page knows. */
function answerChallenge(
  request: IncomingMessage,
  response: ServerResponse,
  { tickets, nonce }: EntryDoor & { nonce: string | undefined },
): void {
  const answer = nonce === undefined ? undefined : tickets.answer(nonce, request.headers.origin ?? '');
  if (answer !== undefined) return send(request, response, { status: 200, body: JSON.stringify(answer) });
  send(request, response, { status: 400, headers: { connection: 'close' }, body: 'A nonce is expected.\n' });
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
