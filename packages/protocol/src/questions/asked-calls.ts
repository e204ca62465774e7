import { randomUUID } from 'node:crypto';
import type { CallContext } from '../core/call-context.js';
import type { Cancellation } from '../core/cancellation.js';
import { BridgeError, codeOf } from '../core/errors.js';
import { type Question, toQuestion } from '../core/questions.js';
import type { JsonObject } from '../json.js';
import type { RpcId } from '../rpc/messages.js';
import type { PeerRequestOptions } from '../rpc/peer.js';
import { agentKey, isOnlyDeclared } from './agent-key.js';
import { AskedCall } from './asked-call.js';
import { answerForNobody, putQuestion, unanswered } from './put-question.js';
import { type BoundCall, readState, signState } from './request-state.js';
import type { ShownUrls } from './shown-urls.js';

/**
 * `stream`: it came on that of its call. `serial`: there is one call at a time. `single`: it came while there was one; from the first question
 * on calls of those who can be asked run one at a time.
 */
export type QuestionTie = 'stream' | 'serial' | 'single';

export interface AskedCallsOptions {
  /** The name of the server. */
  server: string;
  /** Its questions bear the name of who asks already: they come from behind it. Default false. */
  isNamed?: boolean | undefined;
  /** What ties a question to a call. */
  tie: QuestionTie;
  /** The server runs for one agent alone, so that a question outside of its calls is of that agent too. Left out: it does not. */
  owner?: { readonly context: CallContext | undefined; readonly ready?: Promise<unknown> } | undefined;
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

const callsAtOnce =
  'calls run on it at once, and nothing says of which it is. From now on calls of agents that can be asked run on it one at a time: call again';

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
  /** Calls that run, of callers that cannot be asked. */
  #unattended = 0;
  #hasAsked = false;
  #endHold: ((isSettled: boolean) => void) | undefined;

  constructor(options: AskedCallsOptions) {
    this.#options = options;
  }

  /** True if a call must be made by `run`. Who cannot be asked need not, unless a question could be held to be of the next caller. */
  mayAsk({ clientCapabilities }: CallContext): boolean {
    return this.#options.tie === 'serial' || clientCapabilities !== undefined;
  }

  /** Calls of those who can be asked have to run one at a time. */
  get takesTurns(): boolean {
    return this.#options.tie === 'single' && !this.#isOfOneSession && this.#hasAsked;
  }

  /** True if whichever call a question is of, the same agent is asked. Two agents of one name and token are one owner, and no such agent. */
  get #isOfOneSession(): boolean {
    const { owner } = this.#options;
    return owner !== undefined && (owner.context === undefined || !isOnlyDeclared(owner.context.caller));
  }

  /** A call that may not ask runs until the returned function is called. */
  countUnattended(): () => void {
    this.#unattended++;
    return () => this.#unattended--;
  }

  /** Makes a call. Resolves with its result, or with an `input_required` for a modern agent. */
  run({ method, params, context, send }: SentCall): Promise<JsonObject> {
    const { server, isNamed, timeoutMs } = this.#options;
    const bound = { server, method, params, context };
    if (context.ask !== undefined) this.#context = context;
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
    const finish = (error?: unknown): void => {
      // One that was given up may ask on, where the order alone says whose questions are.
      if (this.#options.tie === 'single' && isGivenUp(error)) this.#forgetLater(id, call);
      else if (id !== undefined && this.#endHold === undefined) this.#calls.delete(id);
      call.finish(() => sent);
    };
    sent.then(() => finish(), finish);
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
    const call = (during === undefined ? undefined : this.#calls.get(during)) ?? this.#meant();
    const question = toQuestion(request);
    const { owner, server, timeoutMs, urls, tie } = this.#options;
    const count = this.#calls.size + this.#unattended;
    // What a server asks as it starts, as for roots, is of no call.
    if (count > 0) this.#hasAsked = true;
    if (call !== undefined) {
      urls?.note(question, call.sessionId);
      return call.ask(question, asking);
    }
    if (owner !== undefined && count === 0) {
      await owner.ready;
      const context = this.#context ?? owner.context;
      if (context?.ask !== undefined) return putQuestion(context, question, { server, cancellation: asking, timeoutMs });
    }
    // Told as an error: who called learns why, and calls again.
    if (tie === 'single' && !this.#isOfOneSession && count > 1) throw unanswered(question, server, `${count} ${callsAtOnce}`);
    return answerForNobody(question, server, 'nothing says in which call');
  }

  /** Of the calls that run the one that a question is of, where no stream says it. */
  #meant(): AskedCall | undefined {
    const { tie, owner } = this.#options;
    const calls = [...this.#calls.values()];
    if (tie === 'serial') return calls[0];
    if (this.#isOfOneSession) return calls.findLast(({ isRunning }) => isRunning);
    if ((tie === 'stream' && owner === undefined) || this.#unattended > 0) return undefined;
    const last = calls.findLast(({ isRunning }) => isRunning);
    return last !== undefined && calls.every((call) => call === last || isOfSameAgent(call, last)) ? last : undefined;
  }

  /** The server may never say that it is done with a call that was given up: most do not. After the longest time for an answer nothing is held to be of it. */
  #forgetLater(id: RpcId | undefined, call: AskedCall): void {
    if (id === undefined) return;
    const forget = (): void => {
      if (this.#calls.get(id) === call) this.#calls.delete(id);
    };
    setTimeout(forget, this.#options.timeoutMs).unref();
  }

  /**
   * After a call that was cancelled or took too long: waits until the server has answered it nevertheless, since it may ask on. False if
   * it has not in that time.
   */
  hold(timeoutMs: number): Promise<boolean> {
    if (this.#options.tie !== 'serial' || this.#calls.size === 0) return Promise.resolve(true);
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
    if (this.#options.tie !== 'single') return;
    if (id === undefined) this.#calls.clear();
    else this.#calls.delete(id);
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

/** A name is no proof, which counts while both run: one that was given up is not likely to ask on, least of all another of its name. */
function isOfSameAgent(call: AskedCall, { caller }: AskedCall): boolean {
  return agentKey(call.caller) === agentKey(caller) && !(call.isRunning && isOnlyDeclared(caller));
}

/** The server may go on with the call, and ask. */
export function isGivenUp(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'cancelled' || code === 'timeout';
}
