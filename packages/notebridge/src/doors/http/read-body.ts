import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { parseMessage } from '@notebridge/protocol/core/wire';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { type Refusal, refuse, toRefusal } from './refusal.js';

/** A body of so many bytes is taken however many come at once. */
const smallBytes = 64 * 1024;
/** What larger ones that have not come whole may hold together: a caller can send any number of them, slowly. */
const mostArrivingBytes = 256 * 1024 * 1024;
let arrivingBytes = 0;

/**
 * Reads the text of a JSON body, or hands over why it is not taken. Of a body that is too large nothing is kept; the rest of it is read away, so that the
 * caller gets to see the answer. Hands over undefined if the caller left before its end. What `take` throws is not caught.
 */
export function receiveBody(request: IncomingMessage, maxBytes: number, take: (body: string | Refusal | undefined) => void): void {
  const refusal = checkHeaders(request, maxBytes);
  if (refusal !== undefined) return take(refusal);
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let length = 0;
  let counted = 0;
  let isTaken = false;
  const takeOnce = (body: string | Refusal | undefined): void => {
    if (isTaken) return;
    isTaken = true;
    arrivingBytes -= counted;
    take(body);
  };
  const drop = (refusal: Refusal): void => {
    first = rest = undefined;
    takeOnce(refusal);
  };
  request.on('data', (chunk: Buffer) => {
    if (isTaken) return;
    length += chunk.length;
    if (length > maxBytes) return drop(tooLarge(maxBytes));
    if (length > smallBytes) {
      if (arrivingBytes + chunk.length > mostArrivingBytes) return drop(tooManyLarge);
      arrivingBytes += chunk.length;
      counted += chunk.length;
    }
    if (first === undefined) first = chunk;
    else {
      rest ??= [first];
      rest.push(chunk);
    }
  });
  request.on('end', () => takeOnce(toText(rest === undefined ? first : Buffer.concat(rest, length))));
  request.on('error', () => takeOnce(undefined));
}

const tooManyLarge = refuse(503, 'Too many large bodies are on their way. Send it again in a moment.', ['retry-after', '1']);

/** The value of a JSON body, numbers exactly as written, or why it has none. */
export function parseBody(text: string): { value: unknown } | Refusal {
  try {
    return { value: parseMessage(text) };
  } catch (error) {
    return toRefusal(error) ?? refuse(400, `The body could not be read: ${messageOf(error)}`);
  }
}

function checkHeaders({ headers }: IncomingMessage, maxBytes: number): Refusal | undefined {
  const type = headers['content-type'];
  if (type !== 'application/json' && !isJsonType(type))
    return refuse(415, `The body must be "application/json"${type === undefined ? '; no Content-Type was sent' : ''}.`);
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') return refuse(415, 'A compressed body is not read. Send it as it is.');
  return Number(headers['content-length'] ?? 0) > maxBytes ? tooLarge(maxBytes) : undefined;
}

function isJsonType(type: string | undefined): boolean {
  return type?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

function toText(bytes: Buffer | undefined): string | Refusal {
  if (bytes === undefined) return refuse(400, 'The body is empty. Send JSON.');
  return isUtf8(bytes) ? bytes.toString('utf8') : refuse(400, 'The body is not UTF-8.');
}

function tooLarge(maxBytes: number): Refusal {
  return refuse(413, `The body is larger than ${maxBytes} bytes.`);
}
