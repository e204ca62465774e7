import { createHash } from 'node:crypto';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { principalKey } from '@notebridge/protocol/core/principal';
import { toTraceHeaders } from '@notebridge/protocol/core/request-context';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { JsonObject } from '@notebridge/protocol/json';
import { mostOfOne } from '../http/calls-under-way.js';
import type { HttpApp } from '../http/http-app.js';
import type { HttpContext } from '../http/http-context.js';
import { receiveBody } from '../http/read-body.js';
import { hubIsEnding, internalError, logFault, printRefusal, type Refusal, refuse, toRefusal } from '../http/refusal.js';
import { CallStream, streamFormatOf } from './call-stream.js';
import { lateFailure, parseCallBody, proxyToolCall, type ToolCallOptions, type ToolCallRequest } from './proxy-tool-call.js';
import type { Outcome } from './stored-answers.js';
import { failedAnswer, printAnswer, type ToolCallResponse } from './to-answer.js';
import { searchAddress, type ToolProxy } from './tool-proxy-context.js';

/** The largest body of a search: ten times what its arguments can be. */
const maxSearchBytes = 64 * 1024;

export const idempotencyKey = /^[\x21-\x7e]{1,255}$/;

/** Failures that come before the tool could run. */
const hasNotRun: ReadonlySet<string | null> = new Set([
  'tool_not_found',
  'invalid_arguments',
  'denied',
  'not_approved',
  'budget_exhausted',
  'limit_reached',
  'cluster_unavailable',
]);

/** Makes the calls, once the router has found out who asks for which tool. */
export class CallDoor {
  readonly #app: HttpApp;
  readonly #proxy: ToolProxy;
  /** How many calls one principal may have under way. */
  readonly #mostOfOne: number;
  /** How many calls of each principal are under way. */
  readonly #running = new Map<string, number>();

  constructor(app: HttpApp, proxy: ToolProxy) {
    this.#app = app;
    this.#proxy = proxy;
    this.#mostOfOne = mostOfOne(proxy.limits.maxInFlight);
  }

  /**
   * Answers a call, or where the path names no tool, a search. Nothing on its way is async that need not be: each promise of our own would
   * cost more than the check behind it. A search costs nothing, so that a caller may have only little read for it, and nothing kept.
   */
  readonly answer = (context: HttpContext): void => {
    const [server, tool] = context.params;
    const address = server === undefined || tool === undefined ? searchAddress : { server, tool };
    const { maxBodyBytes } = this.#app;
    const maxBytes = address === searchAddress ? Math.min(maxSearchBytes, maxBodyBytes) : maxBodyBytes;
    receiveBody(context.request, maxBytes, (body) => {
      try {
        if (body !== undefined) this.#receive(context, address, body);
      } catch (error) {
        context.fail(error);
      }
    });
  };

  /** Begins the call, or says why it is not made. */
  #receive(context: HttpContext, address: ToolAddress, body: string | Refusal): void {
    // It was not when the head of the request came.
    if (this.#app.isDraining) return context.refuse(hubIsEnding);
    if (typeof body !== 'string') return context.refuse(body);
    const parsed = parseCallBody(body);
    if (!('arguments' in parsed)) return context.refuse(parsed);
    const holder = principalKey(context.principal);
    if ((this.#running.get(holder) ?? 0) >= this.#mostOfOne)
      return context.refuse(tooManyCalls(`${this.#mostOfOne} calls of yours are under way.`));
    if (this.#app.calls.size >= this.#proxy.limits.maxInFlight) return context.refuse(tooManyCalls('Too many calls are under way.'));
    const key = address === searchAddress ? undefined : context.request.headers['idempotency-key'];
    if (key !== undefined && (typeof key !== 'string' || !idempotencyKey.test(key))) return context.refuse(badKey());
    this.#call(context, { address, holder, args: parsed.arguments, repeatable: key === undefined ? undefined : { key, text: body } });
  }

  #call(context: HttpContext, { address, holder, args, repeatable }: ReceivedCall): void {
    const { request, response, headers, principal, id: callId } = context;
    const { accept } = request.headers;
    const format = accept === undefined ? undefined : streamFormatOf(accept);
    const stream = format && new CallStream(response, format, { headers, heartbeatMs: this.#proxy.limits.heartbeatMs });
    const cancellation = new Cancellation();
    const running = this.#app.calls.add(request.socket, cancellation);
    this.#running.set(holder, (this.#running.get(holder) ?? 0) + 1);
    const end = (): void => {
      stream?.close();
      this.#app.calls.remove(running, cancellation);
      const left = (this.#running.get(holder) ?? 0) - 1;
      if (left > 0) this.#running.set(holder, left);
      else this.#running.delete(holder);
    };
    const send = (outcome: Outcome | Refusal): void => {
      if ('detail' in outcome) context.refuse(outcome);
      else if (stream !== undefined && (outcome.status === 200 || stream.hasBegun)) stream.end(outcome.text);
      else context.sendJson(outcome.status, outcome.text, outcome.headers);
      end();
    };
    const giveUp = (error: unknown): void => {
      context.fail(error);
      end();
    };
    const perform = (): Promise<Outcome> => {
      const startedAt = this.#proxy.now();
      const call: ToolCallRequest & ToolCallOptions = {
        arguments: args,
        principal,
        callId,
        startedAt,
        // Only the owner's word counts: who has that token could approve the call as well.
        isTyped: principal.kind === 'owner' && request.headers[typedHeader] === 'true',
        cancellation,
        onEvent: stream && ((method, params) => stream.send(method, params)),
        trace: toTraceHeaders(request.headers),
      };
      return proxyToolCall(this.#proxy, address, call)
        .then(this.#toOutcome)
        .catch((error: unknown) => this.#toFailedOutcome(error, { callId, startedAt, stream }));
    };
    try {
      const performed = repeatable === undefined ? perform() : this.#performOnce({ address, holder }, repeatable, perform);
      performed.then(send).catch(giveUp);
    } catch (error) {
      giveUp(error);
    }
  }

  #performOnce(
    { address, holder }: { address: ToolAddress; holder: string },
    { key, text }: { key: string; text: string },
    perform: () => Promise<Outcome>,
  ): Promise<Outcome | Refusal> {
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([address.server, address.tool]))
      .update(text)
      .digest('base64');
    return this.#proxy.answers.run({ holder, key }, fingerprint, perform);
  }

  #toFailedOutcome(
    error: unknown,
    { callId, startedAt, stream }: { callId: string; startedAt: number; stream: CallStream | undefined },
  ): Outcome {
    const refusal = toRefusal(error);
    if (refusal === undefined) logFault(this.#app.logger, callId, error);
    const hasRun = refusal === undefined;
    if (stream?.hasBegun) {
      const duration_ms = Math.round(this.#proxy.now() - startedAt);
      return { ...this.#toOutcome({ ...lateFailure(error), call_id: callId, duration_ms }), hasRun };
    }
    const { status, detail, headers = noHeaders, more } = refusal ?? internalError(callId);
    return { status, text: printRefusal({ status, detail, more: { ...more, call_id: callId } }), headers, hasRun };
  }

  readonly #toOutcome = (response: ToolCallResponse): Outcome => {
    // The end of the hub has cut it, not its caller.
    if (response.error_code === 'cancelled' && this.#app.calls.areCut) Object.assign(response, failedAnswer('hub_gone', cutByEnd));
    const text = printAnswer(response, this.#proxy.limits.maxResultBytes);
    return { status: 200, text, headers: noHeaders, hasRun: !hasNotRun.has(response.error_code) };
  };
}

/** A call whose body was read and may be made. */
interface ReceivedCall {
  address: ToolAddress;
  /** Whose it is, as a key. */
  holder: string;
  args: JsonObject;
  /** What a key was sent with. */
  repeatable: { key: string; text: string } | undefined;
}

/** Sent by `notebridge call` on a terminal: a person has typed server, tool and arguments. */
export const typedHeader = 'notebridge-typed';

const noHeaders: readonly string[] = [];

const cutByEnd = 'The hub ended while the call ran. Whether it had an effect is unknown.';

function tooManyCalls(why: string): Refusal {
  return {
    ...refuse(503, `${why} Wait for some of them to end.`, ['retry-after', '1']),
    more: { error_code: 'limit_reached' },
  };
}

function badKey(): Refusal {
  const msg = 'A key is 1 to 255 printable ASCII characters without spaces';
  return refuse(422, [{ type: 'idempotency_key_format', loc: ['header', 'idempotency-key'], msg }]);
}
