import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Cancellation } from '../../core/cancellation.js';
import type { Principal } from '../../core/principal.js';
import type { ToolAddress } from '../../core/tool-address.js';
import type { JsonObject } from '../../util/json.js';
import type { Authenticator } from '../http/authenticator.js';
import { type HttpApp, logFault, sendFault } from '../http/http-app.js';
import { printRefusal, sendJson, sendRefusal } from '../http/raw-answer.js';
import { readBody } from '../http/read-body.js';
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

  /** Answers a call. Never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse, address: ToolAddress): Promise<void> {
    const callId = this.#proxy.nextCallId();
    try {
      const headers = this.#app.headersFor(request, requestIdOf(request) ?? callId);
      const checked = this.#app.rules(request) ?? this.#authenticator.check(request);
      const principal = checked instanceof Promise ? await checked : checked;
      if (isRefusal(principal)) return sendRefusal(response, principal, headers);
      const body = await readBody(request, this.#app.maxBodyBytes);
      if (body === undefined) return undefined;
      const call = isRefusal(body) ? body : this.#parse(request, body.text);
      if (isRefusal(call)) return sendRefusal(response, call, headers);
      await this.#call({ request, response, address, callId, headers, principal }, call);
    } catch (error) {
      sendFault(this.#app, request, response, { error, callId });
    }
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

  async #call(exchange: Exchange, { args, repeatable }: ParsedCall): Promise<void> {
    const { request, response, address, callId, headers, principal } = exchange;
    const format = streamFormatOf(request.headers.accept);
    const stream = format && new EventStream(response, format, { headers, heartbeatMs: this.#proxy.limits.heartbeatMs });
    const cancellation = new Cancellation();
    const onEvent = stream && ((method: string, params: JsonObject) => stream.send(method, params));
    const options: CallOptions = { arguments: args, principal, callId, cancellation, onEvent };
    const running = this.#app.calls.add(request.socket, cancellation);
    try {
      const outcome = await (repeatable === undefined
        ? this.#perform(address, options, stream)
        : this.#performOnce(exchange, repeatable, () => this.#perform(address, options, stream)));
      if (isRefusal(outcome)) sendRefusal(response, outcome, headers);
      else if (stream !== undefined && (outcome.status === 200 || stream.hasBegun)) stream.end(outcome.text);
      else sendJson(response, outcome.status, outcome.text, outcome.headers.length === 0 ? headers : [...headers, ...outcome.headers]);
    } finally {
      stream?.close();
      this.#app.calls.remove(running, cancellation);
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
  async #perform(address: ToolAddress, options: CallOptions, stream: EventStream | undefined): Promise<Outcome> {
    const startedAt = this.#proxy.now();
    try {
      return this.#toOutcome(await proxyToolCall(this.#proxy, address, options));
    } catch (error) {
      const { callId } = options;
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
  }

  #toOutcome(response: ToolCallResponse): Outcome {
    const text = printAnswer(response, this.#proxy.limits.maxResultBytes);
    return { status: 200, text, headers: noHeaders, hasRun: !hasNotRun.has(response.error_code) };
  }
}

const noHeaders: readonly string[] = [];

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
