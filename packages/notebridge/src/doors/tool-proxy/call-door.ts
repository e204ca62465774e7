import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Cancellation } from '../../core/cancellation.js';
import type { Principal } from '../../core/principal.js';
import type { ToolAddress } from '../../core/tool-address.js';
import type { JsonObject } from '../../util/json.js';
import type { Authenticator } from '../http/authenticator.js';
import { logFault } from '../http/faults.js';
import { type HttpApp, sendFault } from '../http/http-app.js';
import { printRefusal, sendJson, sendRefusal } from '../http/raw-answer.js';
import { receiveBody } from '../http/read-body.js';
import { isRefusal, type Refusal, refuse, toRefusal } from '../http/refusal.js';
import { requestIdOf } from '../http/request-id.js';
import { EventStream, streamFormatOf } from './event-stream.js';
import { parseCallBody } from './parse-call-body.js';
import { printAnswer } from './print-answer.js';
import { lateFailure, proxyToolCall, type ToolCallOptions, type ToolCallRequest, type ToolCallResponse } from './proxy-tool-call.js';
import { type Outcome, StoredAnswers } from './stored-answers.js';
import { principalKey, type ToolProxy } from './tool-proxy-context.js';

/** One call on its way from request to answer. */
interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  address: ToolAddress;
  callId: string;
  headers: readonly string[];
  principal: Principal;
  /** Answers with an unexpected fault. Never throws. */
  fail: (error: unknown) => void;
}

interface ParsedCall {
  args: JsonObject;
  /** What a key was sent with. */
  repeatable: { key: string; text: string } | undefined;
}

type CallOptions = ToolCallRequest & ToolCallOptions & { callId: string };

const usableKey = /^[\x21-\x7e]{1,255}$/;
/** Failures that come before the tool could run. */
const hasNotRun: ReadonlySet<string | null> = new Set([
  'tool_not_found',
  'invalid_arguments',
  'denied',
  'budget_exhausted',
  'limit_reached',
]);

/**
 * The route of calls, on Node's own request and response: it is the one route whose cost counts, and a framework around it costs
 * as much as the whole rest. The checks are those of every other route.
 */
export class CallDoor {
  readonly #app: HttpApp;
  readonly #proxy: ToolProxy;
  readonly #authenticator: Authenticator;
  readonly #stored: StoredAnswers;

  constructor(app: HttpApp, proxy: ToolProxy, authenticator: Authenticator) {
    this.#app = app;
    this.#proxy = proxy;
    this.#authenticator = authenticator;
    const { storedAnswers, storedBytes, storedMs } = proxy.limits;
    this.#stored = new StoredAnswers({ maxAnswers: storedAnswers, maxBytes: storedBytes, keepMs: storedMs, now: proxy.now });
  }

  /**
   * Answers a call. Never throws. Nothing on its way is async that need not be: each promise of our own would cost more than the
   * check behind it.
   */
  answer(request: IncomingMessage, response: ServerResponse, address: ToolAddress): void {
    const callId = this.#proxy.nextCallId();
    const fail = (error: unknown): void => sendFault(this.#app, request, response, { error, callId });
    try {
      const headers = this.#app.headersFor(request, requestIdOf(request) ?? callId);
      const receive = (principal: Principal | Refusal): void =>
        this.#receive({ request, response, address, callId, headers, fail }, principal);
      const checked = this.#app.rules(request) ?? this.#authenticator.check(request);
      if (checked instanceof Promise) checked.then(receive).catch(fail);
      else receive(checked);
    } catch (error) {
      fail(error);
    }
  }

  #receive(arrived: Omit<Exchange, 'principal'>, principal: Principal | Refusal): void {
    const { request, response, headers, fail } = arrived;
    if (isRefusal(principal)) return sendRefusal(response, principal, headers);
    receiveBody(request, this.#app.maxBodyBytes, (body) => {
      try {
        if (body === undefined) return;
        const call = isRefusal(body) ? body : this.#parse(request, body.text);
        if (isRefusal(call)) sendRefusal(response, call, headers);
        else this.#call({ ...arrived, principal }, call);
      } catch (error) {
        fail(error);
      }
    });
  }

  /** The arguments, and the key with what it stands for; or why the call is not made. */
  #parse({ headers }: IncomingMessage, text: string): ParsedCall | Refusal {
    const parsed = parseCallBody(text);
    if (isRefusal(parsed)) return parsed;
    if (this.#app.calls.size >= this.#proxy.limits.maxInFlight) return tooManyCalls();
    const key = headers['idempotency-key'];
    if (key === undefined) return { args: parsed.arguments, repeatable: undefined };
    if (typeof key !== 'string' || !usableKey.test(key)) return badKey();
    return { args: parsed.arguments, repeatable: { key, text } };
  }

  #call(exchange: Exchange, { args, repeatable }: ParsedCall): void {
    const { request, response, address, callId, headers, principal, fail } = exchange;
    const format = streamFormatOf(request.headers.accept);
    const stream = format && new EventStream(response, format, { headers, heartbeatMs: this.#proxy.limits.heartbeatMs });
    const cancellation = new Cancellation();
    const onEvent = stream && ((method: string, params: JsonObject) => stream.send(method, params));
    const options: CallOptions = { arguments: args, principal, callId, cancellation, onEvent };
    const running = this.#app.calls.add(request.socket, cancellation);
    const end = (): void => {
      stream?.close();
      this.#app.calls.remove(running, cancellation);
    };
    const send = (outcome: Outcome | Refusal): void => {
      try {
        sendOutcome(exchange, outcome, stream);
      } catch (error) {
        fail(error);
      }
      end();
    };
    const giveUp = (error: unknown): void => {
      fail(error);
      end();
    };
    const perform = (): Promise<Outcome> => this.#perform(address, options, stream);
    try {
      const performed = repeatable === undefined ? perform() : this.#performOnce(exchange, repeatable, perform);
      performed.then(send, giveUp);
    } catch (error) {
      giveUp(error);
    }
  }

  #performOnce(
    { address, principal }: Exchange,
    { key, text }: { key: string; text: string },
    perform: () => Promise<Outcome>,
  ): Promise<Outcome | Refusal> {
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([address.server, address.tool]))
      .update(text)
      .digest('base64');
    return this.#stored.run(`${principalKey(principal)} ${key}`, fingerprint, perform);
  }

  /** Never rejects. */
  #perform(address: ToolAddress, options: CallOptions, stream: EventStream | undefined): Promise<Outcome> {
    const startedAt = this.#proxy.now();
    const fail = (error: unknown): Outcome => this.#toFailedOutcome(error, { callId: options.callId, startedAt, stream });
    const succeed = (response: ToolCallResponse): Outcome => {
      try {
        return this.#toOutcome(response);
      } catch (error) {
        return fail(error);
      }
    };
    return proxyToolCall(this.#proxy, address, options).then(succeed, fail);
  }

  #toFailedOutcome(
    error: unknown,
    { callId, startedAt, stream }: { callId: string; startedAt: number; stream: EventStream | undefined },
  ): Outcome {
    const refusal = toRefusal(error);
    if (refusal === undefined) logFault(this.#app.logger, callId, error);
    const hasRun = refusal === undefined;
    if (stream?.hasBegun) {
      const duration_ms = Math.round(this.#proxy.now() - startedAt);
      return { ...this.#toOutcome({ ...lateFailure(error), call_id: callId, duration_ms }), hasRun };
    }
    const { status, detail, headers = noHeaders, more } = refusal ?? { status: 500, detail: 'Internal error' };
    return { status, text: printRefusal({ status, detail, more: { ...more, call_id: callId } }), headers, hasRun };
  }

  #toOutcome(response: ToolCallResponse): Outcome {
    const text = printAnswer(response, this.#proxy.limits.maxResultBytes);
    return { status: 200, text, headers: noHeaders, hasRun: !hasNotRun.has(response.error_code) };
  }
}

const noHeaders: readonly string[] = [];

function sendOutcome({ response, headers }: Exchange, outcome: Outcome | Refusal, stream: EventStream | undefined): void {
  if (isRefusal(outcome)) sendRefusal(response, outcome, headers);
  else if (stream !== undefined && (outcome.status === 200 || stream.hasBegun)) stream.end(outcome.text);
  else sendJson(response, outcome.status, outcome.text, outcome.headers.length === 0 ? headers : [...headers, ...outcome.headers]);
}

function tooManyCalls(): Refusal {
  return {
    ...refuse(503, 'Too many calls are under way. Wait for some of them to end.', ['retry-after', '1']),
    more: { error_code: 'limit_reached' },
  };
}

function badKey(): Refusal {
  const msg = 'A key is 1 to 255 printable ASCII characters without spaces';
  return refuse(422, [{ type: 'idempotency_key_format', loc: ['header', 'idempotency-key'], msg }]);
}
