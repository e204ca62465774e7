import { BridgeError } from '@notebridge/protocol/core/errors';
import { isLegacyVersion, legacyVersions, modernVersions } from '@notebridge/protocol/core/protocol-versions';
import type { Classified, RpcId } from '@notebridge/protocol/rpc/messages';
import type { CallsUnderWay } from '../http/calls-under-way.js';
import { sendEmpty } from '../http/http-context.js';
import { type HttpCall, headerOf, type McpHttpLimits } from './http-call.js';
import { HttpExchange } from './http-exchange.js';
import { fault, faultOf, type HttpFault, tooMany } from './http-fault.js';
import type { HttpSession } from './http-session.js';
import type { HttpSessions } from './http-sessions.js';

export interface HttpLegacyOptions {
  sessions: HttpSessions;
  limits: McpHttpLimits;
  /** All calls that run for HTTP callers. */
  calls: CallsUnderWay;
}

const sessionHeader = 'mcp-session-id';
const openAlready = 'This session is open already. Start another by sending "initialize" without Mcp-Session-Id.';
const noSuchEvent =
  'Last-Event-ID names no event of this session, or one of a stream that is not kept any more. Open a new stream by a GET without it.';

/** Legacy agents over HTTP: POST, GET and DELETE of their sessions. Each returns why it was not served, or nothing. */
export class HttpLegacy {
  readonly #options: HttpLegacyOptions;

  constructor(options: HttpLegacyOptions) {
    this.#options = options;
  }

  /** Takes a message or a batch. `messages`: the same, classified; none of them is a fault. */
  post(call: HttpCall, posted: unknown, messages: readonly Classified[]): HttpFault | undefined {
    const ids = messages.flatMap((each) => (each.kind === 'request' ? [each.message.id] : []));
    const isOpening = messages.some((each) => each.kind === 'request' && each.message.method === 'initialize');
    const isBatch = Array.isArray(posted);
    if (isOpening && isBatch) return fault(400, 'bad_message', '"initialize" opens a session; it cannot stand in a batch.', ids[0]);
    const isNew = isOpening && headerOf(call.request, sessionHeader) === undefined;
    const session = isNew ? this.#open(call) : this.#find(call, isOpening);
    if (!('receive' in session)) return { ...session, id: ids[0] ?? null };
    if (isOpening && !isNew) return fault(400, 'bad_message', openAlready, ids[0]);
    if (isBatch && takesNoBatch(session)) return fault(400, 'bad_message', noBatches(session), ids[0]);
    if (ids.length === 0) {
      session.receive(posted, [], undefined);
      sendEmpty(call.response, 202, call.headers);
      return undefined;
    }
    const taken = ids.find((id) => session.isWaiting(id));
    if (taken !== undefined) return fault(400, 'bad_message', 'A request of that id is running already.', taken);
    this.#exchange(call, session, posted, ids);
    return undefined;
  }

  /** Opens the stream for what belongs to no request. */
  get(call: HttpCall): HttpFault | undefined {
    const session = this.#find(call);
    if (!('receive' in session)) return session;
    const options = { ...this.#options.limits, headers: headersOf(call, session) };
    const eventId = headerOf(call.request, 'last-event-id');
    if (eventId === undefined) session.openStream(call.response, options);
    else if (!session.resumeStream(eventId, call.response, options) && !session.openAfterMove(eventId, call.response, options))
      return fault(400, 'bad_message', noSuchEvent);
    return undefined;
  }

  delete(call: HttpCall): HttpFault | undefined {
    const session = this.#find(call);
    if (!('receive' in session)) return session;
    this.#options.sessions.end(session);
    sendEmpty(call.response, 204, call.headers);
    return undefined;
  }

  #exchange(call: HttpCall, session: HttpSession, posted: unknown, ids: RpcId[]): void {
    const { calls, limits } = this.#options;
    // A connection that closes does not cancel in this era: the agent says so if it means it.
    const exchange = new HttpExchange({
      call: { ...call, headers: headersOf(call, session) },
      limits,
      calls,
      isLasting: true,
      openStream: (response, options) => session.openAnswer(Array.isArray(posted) ? ids : (ids[0] ?? []), response, options),
    });
    session.receive(posted, ids, exchange);
  }

  #open({ principal }: HttpCall): HttpSession | HttpFault {
    const { sessions, limits } = this.#options;
    return sessions.open(principal) ?? tooMany(`${limits.maxSessions} agents are connected; wait for one to leave.`, 60);
  }

  #find({ request, principal }: HttpCall, isOpening = false): HttpSession | HttpFault {
    const version = headerOf(request, 'mcp-protocol-version');
    if (!isOpening && version !== undefined && !isLegacyVersion(version)) return unsupportedVersion(version);
    const key = headerOf(request, sessionHeader);
    if (key === undefined) return fault(400, 'bad_message', 'The header Mcp-Session-Id is missing. Open a session with "initialize".');
    const session = this.#options.sessions.find(key, principal);
    if (session === undefined)
      return fault(404, 'closed', 'There is no session of that id, or it has ended. Start a new one with "initialize".');
    return isOpening || version === undefined || version === (session.version ?? version) ? session : wrongVersion(session, version);
  }
}

/** Batches came and went with revisions of the protocol. */
function takesNoBatch({ version = '' }: HttpSession): boolean {
  return version > '2025-03-26';
}

function noBatches({ version }: HttpSession): string {
  return `This session has agreed on protocol version ${version}, which has no batches. Send each message by itself.`;
}

function wrongVersion({ version }: HttpSession, requested: string): HttpFault {
  return fault(
    400,
    'bad_message',
    `MCP-Protocol-Version says "${requested}", but this session has agreed on "${version}". Send that one, or start a new session with "initialize".`,
  );
}

function headersOf({ headers }: HttpCall, { key }: HttpSession): string[] {
  return [...headers, sessionHeader, key];
}

function unsupportedVersion(requested: string): HttpFault {
  const supported = [...modernVersions, ...legacyVersions];
  const error = new BridgeError('unsupported_version', 'Unsupported protocol version', { data: { supported, requested } });
  return faultOf(400, error);
}
