import { randomBytes, randomInt } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Principal } from '@notebridge/protocol/core/principal';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { CallTable } from '@notebridge/protocol/rpc/call-table';
import { MessageStream } from '@notebridge/protocol/rpc/message-stream';
import { idKey, isRpcId, type RpcId, toErrorAnswer, toNotification } from '@notebridge/protocol/rpc/messages';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { LeftSession } from '@notebridge/system/files/session-shelf';
import type { Hub } from '../../hub.js';
import { AgentSession } from './agent-session.js';
import { type Requests, unansweredAt } from './event-ids.js';
import type { McpHttpLimits } from './http-call.js';
import type { AnswerStream, HttpEventStreamOptions } from './http-event-stream.js';
import type { HttpExchange } from './http-exchange.js';
import type { AllSentEvents, ResumableStream } from './resumable-stream.js';
import { isSaidOnce, SaidOnce } from './said-once.js';
import { SessionStreams } from './session-streams.js';
import { KeptNotifications } from './unread-notifications.js';

export interface HttpSessionOptions {
  hub: Hub;
  principal: Principal;
  limits: McpHttpLimits;
  /** Ends its id. Default: nothing does. */
  mark?: string | undefined;
  /** Of one that another hub has left: its id, and what its agent has said. Default: a new one. */
  left?: ({ key: string } & LeftSession) | undefined;
  /** What the sessions keep of their streams. */
  allSent: AllSentEvents;
  /** Ends it: the owner of the hub wants that, its grant has ended, or its `initialize` was refused, and no one will come back to it. */
  end: (why?: BridgeError) => void;
}

/** An exchange with the requests in it that are not answered yet. */
interface Pending {
  exchange: HttpExchange;
  ids: Map<string | number, RpcId>;
  isBatch: boolean;
}

/** Streams that one agent may hold open; one more ends the oldest, which the agent may have lost without our knowing. */
const maxStreams = 4;

/** How long a question waits for the stream that an agent opens a moment after it has begun. Milliseconds. */
const streamWaitMs = 2000;

/** The first version whose agents know events without data. */
const firstPrimed = '2025-11-25';

const cancelledMethod = 'notifications/cancelled';

/**
 * An agent may answer what the hub before has asked, and that must answer nothing here. So the ids of a session that has moved begin at random,
 * above those of one that has not, within the 31 bits that an integer has in any client.
 */
const movedIds = { from: 2 ** 24, to: 2 ** 31 - 2 ** 24 };

/** One legacy agent over HTTP: its session of the protocol, and which of its connections takes which message. */
export class HttpSession {
  /** The `Mcp-Session-Id`: a secret, so it is not the id that logs and providers see. */
  readonly key: string;
  readonly principal: Principal;
  /** When the agent was last active, by the clock of the door. */
  lastHeard = 0;
  readonly #agent: AgentSession;
  readonly #incoming = new MessageStream<unknown>();
  readonly #pending = new CallTable<Pending>();
  readonly #said = new SaidOnce();
  readonly #kept = new KeptNotifications();
  readonly #end: (why?: BridgeError) => void;
  readonly #stopWaiting: () => void;
  readonly #all: SessionStreams;
  /** Those for what belongs to no request, while they are connected; the newest last. */
  #streams: ResumableStream[] = [];
  readonly #opened = new Listeners<void>();
  /** Another hub, or the last start of this one, has left it. */
  readonly #hasMoved: boolean;
  #version: string | undefined;

  constructor({ hub, principal, limits, allSent, end, left, mark }: HttpSessionOptions) {
    this.key = left?.key ?? `${randomBytes(24).toString('base64url')}${mark === undefined ? '' : `.${mark}`}`;
    this.principal = principal;
    this.#hasMoved = left !== undefined;
    this.#end = end;
    this.#stopWaiting = hub.whileLive(principal, end);
    this.#all = new SessionStreams({ limits, allSent, isPrimed: () => this.#version !== undefined && this.#version >= firstPrimed });
    const outgoing = new MessageStream<unknown>();
    outgoing.consume({ onItem: (message) => this.#route(message) });
    this.#agent = new AgentSession({
      hub,
      channel: { incoming: this.#incoming, outgoing },
      door: 'http',
      lastId: left === undefined ? 0 : randomInt(movedIds.from, movedIds.to),
      principal,
      maxInFlight: limits.maxInFlight,
      sendDuring: (id, message) => this.#sendDuring(id, message),
      untilAskable: (id) => this.#untilAskable(id),
      disconnect: () => end(),
      traceOf: (id) => this.#pending.get(idKey(id))?.exchange.trace,
    });
    if (left === undefined) return;
    this.#version = left.version;
    // Nobody waits for what is answered: its agent had these answers.
    for (const message of left.said) if (isSaidOnce(message)) this.receive(message, [], undefined);
  }

  /** What another hub needs to go on with it; undefined for one that has not begun. */
  get left(): LeftSession | undefined {
    return this.#version === undefined ? undefined : { principal: this.principal, version: this.#version, said: this.#said.all };
  }

  /** The version that was agreed on; undefined until `initialize` is answered. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Under which callers of the hub know this agent. */
  get sessionId(): string {
    return this.#agent.sessionId;
  }

  /** True while the agent waits for something: an answer, or news. */
  get isBusy(): boolean {
    return this.#pending.size > 0 || this.#agent.inFlight > 0 || this.#streams.some(({ isOpen }) => isOpen);
  }

  /** True while a request of the agent is not answered yet, or the answer was given while it was away just now. */
  get isCalling(): boolean {
    return this.#pending.size > 0 || this.#agent.inFlight > 0 || this.#all.isAwaited;
  }

  /** True if a request of that id waits for its answer. */
  isWaiting(id: RpcId): boolean {
    return this.#pending.get(idKey(id)) !== undefined;
  }

  /** Takes what was posted, a message or a batch. The requests of these ids are answered on the exchange. */
  receive(posted: unknown, ids: readonly RpcId[], exchange: HttpExchange | undefined): void {
    if (exchange !== undefined) {
      const pending: Pending = { exchange, ids: new Map(ids.map((id) => [idKey(id), id])), isBatch: Array.isArray(posted) };
      for (const key of pending.ids.keys()) this.#pending.add(key, pending);
    }
    this.#incoming.send(posted);
    for (const message of Array.isArray(posted) ? posted : [posted]) {
      this.#said.note(message as JsonObject);
      this.#forgetCancelled(message as JsonObject);
    }
  }

  /** Opens the stream of these requests, which ends with their answer. */
  openAnswer(requests: Requests, response: ServerResponse, options: HttpEventStreamOptions): AnswerStream {
    return this.#all.open(response, { ...options, requests });
  }

  /** Opens a stream for what belongs to no request, and sends what was kept for it. */
  openStream(response: ServerResponse, options: HttpEventStreamOptions): void {
    this.#addStream(this.#all.open(response, options));
  }

  /** Goes on with the stream of that event, and with no other. False if there is none. */
  resumeStream(eventId: string, response: ServerResponse, options: HttpEventStreamOptions): boolean {
    const found = this.#all.find(eventId);
    if (found === undefined) return false;
    found.stream.connect(response, options, found.number);
    if (!found.stream.hasAnswer) this.#addStream(found.stream);
    return true;
  }

  /** Opens a stream for an agent that asks for one of the hub that has left the session: what it has missed nobody knows any more. False if it is no such session. */
  openAfterMove(eventId: string, response: ServerResponse, options: HttpEventStreamOptions): boolean {
    if (!this.#hasMoved) return false;
    const requests = unansweredAt(eventId);
    if (requests !== undefined) {
      const stream = this.#all.open(response, { ...options, requests });
      stream.send(Array.isArray(requests) ? requests.map(toLostAnswer) : toLostAnswer(requests));
      stream.end();
      return true;
    }
    for (const list of ['tools', 'prompts', 'resources']) this.#kept.add(toNotification(`notifications/${list}/list_changed`));
    this.openStream(response, options);
    return true;
  }

  /** Forgets what was kept of its streams for too long. */
  sweep(): void {
    this.#all.sweep();
  }

  /** Ends the streams; requests that run may still be answered. `retryMs`: when its agent may open them anew, if not as usual. */
  endStreams(retryMs?: number): void {
    for (const stream of this.#streams.splice(0)) stream.end(retryMs);
  }

  /** Ends everything: streams, and requests with the error. Closing twice is harmless. */
  close(error = new BridgeError('closed', 'The session has ended. Start a new one with "initialize".')): void {
    this.#stopWaiting();
    this.#agent.withdrawQuestions(error);
    this.endStreams();
    const all = new Set(this.#pending.takeAll());
    this.#agent.close();
    for (const { exchange, ids, isBatch } of all) {
      const answers = [...ids.values()].map((id) => toErrorAnswer(id, error));
      exchange.answer(isBatch ? answers : answers[0]);
    }
    this.#all.close();
    this.#opened.emit();
  }

  #addStream(stream: ResumableStream): void {
    this.#streams = [...this.#streams.filter((other) => other.isOpen && other !== stream), stream];
    if (this.#streams.length > maxStreams) this.#streams.shift()?.disconnect();
    for (const message of this.#kept.takeAll()) stream.send(message);
    this.#opened.emit();
  }

  #route(message: unknown): void {
    const [first] = Array.isArray(message) ? message : [message];
    if (!isJsonObject(first)) return;
    if (first.method !== undefined) return this.#notify(first);
    const pending = isRpcId(first.id) ? this.#pending.get(idKey(first.id)) : undefined;
    if (pending === undefined) return;
    // Throws what cannot be printed, and is called again with that error.
    pending.exchange.answer(message);
    for (const key of pending.ids.keys()) this.#forget(key);
    // The first answer of all is that of `initialize`.
    if (this.#version !== undefined) return;
    if (isJsonObject(first.result)) this.#version = String(first.result.protocolVersion);
    else this.#end();
  }

  /** What belongs to a request goes ahead of its answer, if the agent takes it there. */
  #sendDuring(id: RpcId, message: JsonObject): boolean {
    const exchange = this.#pending.get(idKey(id))?.exchange;
    return message.method === cancelledMethod || message.id !== undefined
      ? this.#askDuring(exchange, message)
      : this.#notifyDuring(exchange, message);
  }

  /** A question that no request of the agent can carry goes to a stream of its own. */
  #untilAskable(id: RpcId): Promise<unknown> | undefined {
    if (this.#pending.get(idKey(id))?.exchange.takesNotifications === true || this.#streams.some(({ isOpen }) => isOpen)) return undefined;
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        stop();
        resolve(undefined);
      };
      const timer = setTimeout(finish, streamWaitMs).unref();
      const stop = this.#opened.add(finish);
    });
  }

  /** A question, or that it is not to be answered any more. It is never kept for later, nor left out for a slow reader. */
  #askDuring(exchange: HttpExchange | undefined, message: JsonObject): boolean {
    const taker = exchange?.takesNotifications === true ? exchange : undefined;
    const stream = this.#streams.findLast(({ isOpen }) => isOpen);
    if (taker?.isOpen === true || (taker !== undefined && stream === undefined)) taker.notify(message);
    else if (stream !== undefined) stream.send(message);
    else if (message.id !== undefined)
      throw new BridgeError('closed', 'The agent can’t be asked: it takes no event stream, or its connection is gone.');
    return true;
  }

  /** Progress and log lines of a request. */
  #notifyDuring(exchange: HttpExchange | undefined, notification: JsonObject): boolean {
    const isProgress = notification.method === 'notifications/progress';
    if (!isProgress && notification.method !== 'notifications/message') return false;
    // Progress means nothing to others.
    if (exchange?.takesNotifications !== true) return isProgress;
    // A slow reader loses these, not the answer.
    if (!exchange.isFull) exchange.notify(notification);
    return true;
  }

  /** To the newest stream that takes it; log lines also ahead of any answer; else it is kept for the next stream. */
  #notify(notification: JsonObject): void {
    for (;;) {
      const stream = this.#streams.at(-1);
      if (stream === undefined) break;
      if (stream.isOpen && !stream.isFull) return stream.send(notification);
      this.#streams.pop();
      // A reader that has stopped reading must not fill our memory.
      if (stream.isOpen) stream.cut();
    }
    const isLog = notification.method === 'notifications/message';
    for (const { exchange } of isLog ? this.#pending.all() : []) {
      if (exchange.isOpen && exchange.takesNotifications && !exchange.isFull) return exchange.notify(notification);
    }
    this.#kept.add(notification);
  }

  /** A cancelled request gets no answer, so its exchange must not wait for one. */
  #forgetCancelled({ method, params }: JsonObject): void {
    if (method !== cancelledMethod || !isJsonObject(params) || !isRpcId(params.requestId)) return;
    const exchange = this.#forget(idKey(params.requestId));
    if (exchange !== undefined) exchange.finish();
  }

  /** Returns the exchange if nothing more is waited for on it. */
  #forget(key: string | number): HttpExchange | undefined {
    const pending = this.#pending.take(key);
    pending?.ids.delete(key);
    return pending?.ids.size === 0 ? pending.exchange : undefined;
  }
}

/** To an agent that waited at the hub before. */
function toLostAnswer(id: RpcId): JsonObject {
  const message =
    'The hub that had the call has ended before its answer was fetched. Whether the call had an effect is unknown; it was not repeated.';
  return toErrorAnswer(id, new BridgeError('closed', message));
}
