import { request as httpRequest, type IncomingMessage } from 'node:http';
import { BridgeError, type ErrorCode, errorTable } from '@notebridge/protocol/core/errors';
import { parseMessage, printMessage } from '@notebridge/protocol/core/wire';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { ownerPrefix } from '../../doors/owner/owner-routes.js';
import type { OwnerBody, OwnerBodyName } from '../../doors/owner/owner-schemas.js';
import type { OwnHub } from './own-hub.js';

export interface HubRequest {
  /** Sent as JSON; left out: a GET. */
  body?: JsonObject;
  /** Default: POST with a body, GET without. */
  method?: 'DELETE';
  accept?: string;
  /** Names and values that are sent besides. */
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  /** Given up after so long without a byte, milliseconds. Left out: never. */
  timeoutMs?: number;
}

/**
 * Asks the hub. Not by `fetch`, which gives up after five minutes of silence. Rejects with `cancelled`, `closed` if the hub is gone,
 * or what the hub said.
 */
export async function askHub(hub: OwnHub, path: string, options: HubRequest): Promise<unknown> {
  const response = await send(hub, path, options);
  return parseMessage(await textOf(response));
}

/** Asks a route of the owner's API, which answers with the body of that name. Given up after 10 s unless it is said otherwise. Rejects as `askHub`. */
export async function askOwner<Name extends OwnerBodyName>(hub: OwnHub, path: string, options: HubRequest = {}): Promise<OwnerBody<Name>> {
  return (await askHub(hub, `${ownerPrefix}${path}`, { timeoutMs: 10_000, ...options })) as OwnerBody<Name>;
}

/** As `askHub`, for an answer of one object per line. The last one is returned, those before are passed to the callback. */
export async function streamFromHub(
  hub: OwnHub,
  path: string,
  { onLine, ...options }: HubRequest & { onLine: (line: JsonObject) => void },
): Promise<JsonObject> {
  const response = await send(hub, path, options);
  let rest = '';
  let last: JsonObject | undefined;
  const take = (line: string): void => {
    const value = line === '' ? undefined : parseMessage(line);
    if (!isJsonObject(value)) return;
    if (last !== undefined) onLine(last);
    last = value;
  };
  try {
    for await (const text of response.setEncoding('utf8')) {
      const lines = (rest + String(text)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) take(line);
    }
  } catch (error) {
    throw toFault(error, options.signal);
  }
  take(rest);
  if (last === undefined) throw new BridgeError('closed', `The hub at ${hub.url} ended before it answered.`);
  return last;
}

async function send(
  { url, token }: OwnHub,
  path: string,
  { body, method: asked, accept = 'application/json', headers: more, signal, timeoutMs }: HubRequest,
): Promise<IncomingMessage> {
  const text = body === undefined ? undefined : printMessage(body);
  const method = asked ?? (text === undefined ? 'GET' : 'POST');
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      ...more,
      authorization: `Bearer ${token}`,
      accept,
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    const sent = httpRequest(new URL(path, url), {
      method,
      headers,
      ...(signal === undefined ? {} : { signal }),
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
    });
    // The agent's own time-out of an idle connection, 5 s, comes as the same event.
    if (timeoutMs !== undefined) sent.on('timeout', () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    sent.on('error', (error) => reject(toFault(error, signal)));
    sent.on('response', resolve);
    sent.end(text);
  });
  if (response.statusCode === 200) return response;
  throw toRefused(response.statusCode ?? 0, await textOf(response));
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const part of response.setEncoding('utf8')) text += String(part);
  } catch (error) {
    throw toFault(error);
  }
  return text;
}

function toFault(error: unknown, signal?: AbortSignal): BridgeError {
  if (signal?.aborted) return new BridgeError('cancelled', 'The call was cancelled.', { cause: error });
  return new BridgeError('closed', `The hub does not answer: ${messageOf(error)}. Look whether it still runs: notebridge servers`, {
    cause: error,
  });
}

/** What the hub said, under the code that it gave. */
function toRefused(status: number, text: string): BridgeError {
  let body: unknown;
  try {
    body = parseMessage(text);
  } catch {
    // Not from a hub; the status is all there is.
  }
  const { detail, error_code: code } = isJsonObject(body) ? body : {};
  const message =
    typeof detail === 'string'
      ? detail
      : `The hub answered with status ${status}${detail === undefined ? '' : `: ${printMessage(detail)}`}.`;
  const known = typeof code === 'string' && Object.hasOwn(errorTable, code) ? (code as ErrorCode) : undefined;
  return new BridgeError(known ?? (status === 404 ? 'unknown_server' : 'internal'), message);
}
