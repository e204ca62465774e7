import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../core/call-context.js';
import type { Cancellation } from '../core/cancellation.js';
import { BridgeError } from '../core/errors.js';
import { putQuestion, refuseQuestion, unanswered } from '../core/put-question.js';
import { type Question, toQuestion } from '../core/questions.js';
import type { RpcId } from '../rpc/messages.js';
import type { PeerRequestOptions } from '../rpc/peer.js';
import { AskedCall } from './asked-call.js';
import { type BoundCall, readState, signState } from './request-state.js';
import type { ShownUrls } from './shown-urls.js';

export interface AskedCallsOptions {
  /** The name of the server. */
  server: string;
  /** Its questions bear the name of who asks already: they come from behind it. Default false. */
  isNamed?: boolean | undefined;
  /** Nothing but the order ties a question to a call: there is one call at a time, and every question is of that one. */
  isSerial: boolean;
  /** The server runs for one agent alone, so that a question outside of its calls is of that agent too. */
  isOwn: boolean;
  /** How long an agent may take to answer, and a call waits for answers at most. Milliseconds. */
  timeoutMs: number;
  /** Learns which URLs are shown to whom. */
  urls?: ShownUrls | undefined;
}

/** A call, and how it is sent. */
export interface SentCall {
  method: string;
  params: JsonObject;
  context: CallContext;
  /** `asked`: for what has another way to tie its questions to the call. */
  send: (options: PeerRequestOptions, asked: AskedCall) => Promise<JsonObject>;
}

/** Calls of one server that wait for the answers of modern agents: of one agent, and of all. */
const mostParked = { ofOne: 64, ofAll: 1024 };

/** The calls to a server of the legacy era that was promised that it may ask. */
export class AskedCalls {
  readonly #options: AskedCallsOptions;
  /** By the id under which the server knows them. */
  readonly #calls = new Map<RpcId, AskedCall>();
  readonly #parked = new Map<string, { call: AskedCall; timer: NodeJS.Timeout }>();
  /** Of the call that was made last. */
  #context: CallContext | undefined;
  #endHold: ((isSettled: boolean) => void) | undefined;

  constructor(options: AskedCallsOptions) {
    this.#options = options;
  }

  /** True if a call must be made by `run`. Who cannot be asked need not, unless a question could be held to be of the next caller. */
  mayAsk({ clientCapabilities }: CallContext): boolean {
    return this.#options.isSerial || clientCapabilities !== undefined;
  }

  /** Makes a call. Resolves with its result, or with an `input_required` for a modern agent. */
  run({ method, params, context, send }: SentCall): Promise<JsonObject> {
    const { server, isNamed, timeoutMs } = this.#options;
    const bound = { server, method, params, context };
    this.#context = context;
    let id: RpcId | undefined;
    const call: AskedCall = new AskedCall(context, { server, isNamed, timeoutMs, park: () => this.#park(call, bound) });
    const answered = call.take(context);
    const options: PeerRequestOptions = {
      cancellation: call.cancellation,
      workedMs: () => call.workedMs,
      via: (message) => {
        if (message.id === undefined) return false;
        id = message.id as RpcId;
        this.#calls.set(id, call);
        return false;
      },
    };
    if (context.wantsProgress) options.onProgress = (progress) => call.forwardProgress(progress);
    const sent = send(options, call);
    const finish = (): void => {
      if (id !== undefined && this.#endHold === undefined) this.#calls.delete(id);
      call.finish(() => sent);
    };
    sent.then(finish, finish);
    return answered;
  }

  /** Takes up a call that waits for answers, by the request that brings them. Rejects with `bad_params`. */
  async resume(call: Omit<BoundCall, 'server'> & { context: CallContext }): Promise<JsonObject> {
    const id = readState(call.params.requestState, { ...call, server: this.#options.server });
    const parked = id === undefined ? undefined : this.#parked.get(id);
    if (id === undefined || parked === undefined)
      throw new BridgeError('bad_params', 'The "requestState" was not issued for this call, or what it stands for has ended. Call anew.');
    this.#parked.delete(id);
    clearTimeout(parked.timer);
    parked.call.answer(call.params.inputResponses);
    return parked.call.take(call.context);
  }

  /** Answers a question of the server. `during`: the call on whose stream it came. */
  async take(request: Question, asking: Cancellation, during: RpcId | undefined): Promise<JsonObject> {
    const [only] = this.#options.isSerial ? this.#calls.values() : [];
    const call = (during === undefined ? undefined : this.#calls.get(during)) ?? only;
    const question = toQuestion(request);
    const { isOwn, server, timeoutMs, urls } = this.#options;
    if (call !== undefined) {
      urls?.note(question, call.sessionId);
      return call.ask(question, asking);
    }
    if (isOwn && this.#context?.ask !== undefined) return putQuestion(this.#context, question, { server, cancellation: asking, timeoutMs });
    const refused = refuseQuestion(question);
    if (refused !== undefined) return refused;
    throw unanswered(question, server, 'nothing says in which call');
  }

  /**
   * After a call that was cancelled or took too long: waits until the server has answered it nevertheless, since it may ask on. False if
   * it has not in that time.
   */
  hold(timeoutMs: number): Promise<boolean> {
    if (!this.#options.isSerial || this.#calls.size === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#endHold?.(false), timeoutMs).unref();
      this.#endHold = (isSettled) => {
        clearTimeout(timer);
        this.#endHold = undefined;
        this.#calls.clear();
        resolve(isSettled);
      };
    });
  }

  /** The server has answered a call that nobody waits for any more, or its connection has ended (no id). */
  settle(id?: RpcId): void {
    if (id === undefined || this.#calls.has(id)) this.#endHold?.(true);
  }

  #park(call: AskedCall, bound: BoundCall): string | undefined {
    const ofOne = [...this.#parked.values()].filter((parked) => parked.call.sessionId === call.sessionId);
    if (ofOne.length >= mostParked.ofOne || this.#parked.size >= mostParked.ofAll) return undefined;
    const id = randomUUID();
    const give = (): void => {
      this.#parked.delete(id);
      call.cancellation.cancel('nobody answered what the server asked', { callerIsGone: true });
    };
    const timer = setTimeout(give, this.#options.timeoutMs).unref();
    this.#parked.set(id, { call, timer });
    return signState(id, bound);
  }
}
