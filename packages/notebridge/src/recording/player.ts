import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Channel } from '@notebridge/protocol/rpc/message-stream';
import { classifyMessage, idKey, isRpcId, type RpcAnswer, type RpcId, toErrorAnswer } from '@notebridge/protocol/rpc/messages';
import { subscriptionIdMetaKey } from '@notebridge/protocol/rpc/modern-envelope';
import { quote } from '@notebridge/protocol/util/quote';
import { findExchange, isFree } from './find-exchange.js';
import { type Difference, firstDifference } from './match.js';
import { type Exchange, progressTokenOf, type RecordedQuestion, type Script, type Step } from './script.js';

export interface PlayerOptions {
  script: Script;
  channel: Channel;
  /** `fast`: each answer at once. `recorded`: with the pauses that the server made. */
  timing: 'fast' | 'recorded';
}

export interface ReplayReport {
  /** Requests of the recording, without those that only open or look. */
  recorded: number;
  /** Of these, how many were made again. */
  replayed: number;
  /** How the client did not do what was recorded, as sentences. */
  divergences: readonly string[];
}

/** Kept for the report; what is more is counted. */
const maxDivergences = 1000;

/** A request that is replayed. */
interface Call {
  id: RpcId | undefined;
  token: RpcId | undefined;
  isCancelled: boolean;
}

/** In place of one, for what is done upon no request. */
const noCall: Call = { id: undefined, token: undefined, isCancelled: false };

/** A server that answers as one was recorded, over one connection. */
export class Player {
  /** Resolves when the client has gone. */
  readonly closed: Promise<void>;
  readonly #options: PlayerOptions;
  readonly #calls = new Map<string | number, Call>();
  /** The ids of listens, as they are now. */
  readonly #listens = new Map<Exchange, RpcId>();
  readonly #questions = new Map<string, { question: RecordedQuestion; settle: () => void }>();
  readonly #answered = new Map<RecordedQuestion, Promise<void>>();
  /** The ids of questions now, by those of the recording. */
  readonly #questionIds = new Map<string | number, string>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #divergences: string[] = [];
  #lastQuestion = 0;

  constructor(options: PlayerOptions) {
    this.#options = options;
    this.closed = new Promise((resolve) => {
      options.channel.incoming.consume({
        onItem: (value) => {
          for (const message of Array.isArray(value) ? value : [value]) this.#receive(message);
        },
        onClose: () => {
          this.#end();
          resolve();
        },
      });
    });
    void this.#play(options.script.opening, noCall, 0);
  }

  /** What was replayed until now, and what was not. */
  get report(): ReplayReport {
    const recorded = this.#options.script.exchanges.filter(({ isRequest, method }) => isRequest && !isFree(method));
    const missing = recorded.filter(({ played }) => played === 0);
    const unmade = missing.map(({ line, method, params }) => {
      const { name = params.uri } = params;
      return `"${method}"${name === undefined ? '' : ` of ${quote(name)}`} of line ${line} was not made.`;
    });
    return { recorded: recorded.length, replayed: recorded.length - missing.length, divergences: [...this.#divergences, ...unmade] };
  }

  #receive(message: unknown): void {
    const classified = classifyMessage(message);
    switch (classified.kind) {
      case 'request':
        return this.#serve(classified.message.id, classified.message.method, classified.message.params ?? {});
      case 'notification':
        return this.#hear(classified.message.method, classified.message.params ?? {});
      case 'answer':
        return this.#takeReply(classified.message);
      case 'fault':
        this.#diverge(classified.error.message);
        return this.#send(toErrorAnswer(classified.id, classified.error));
    }
  }

  #serve(id: RpcId, method: string, params: JsonObject): void {
    let found: ReturnType<typeof findExchange>;
    try {
      found = findExchange(this.#options.script.exchanges, { method, params });
    } catch (error) {
      const isDeep = error instanceof RangeError;
      return this.#send(toErrorAnswer(id, isDeep ? new BridgeError('message_too_deep', 'The request is nested too deeply.') : error));
    }
    if (found.exchange === undefined) {
      // Every server answers these.
      if (method === 'ping' || method === 'logging/setLevel') return this.#send({ jsonrpc: '2.0', id, result: {} });
      // A client that asks for the other era first is no divergence.
      if (!isFree(method) || codeOf(found.fault) !== 'unknown_method') this.#diverge(found.fault.message);
      return this.#send(toErrorAnswer(id, found.fault));
    }
    const { exchange, divergence } = found;
    if (divergence !== undefined) this.#diverge(divergence);
    exchange.played++;
    const call: Call = { id, token: progressTokenOf(params), isCancelled: false };
    this.#calls.set(idKey(id), call);
    if (method === 'subscriptions/listen') this.#listens.set(exchange, id);
    void this.#play(exchange.steps, call, exchange.t);
  }

  #hear(method: string, params: JsonObject): void {
    if (method === 'notifications/cancelled') {
      const call = isRpcId(params.requestId) ? this.#calls.get(idKey(params.requestId)) : undefined;
      if (call !== undefined) call.isCancelled = true;
      for (const [listen, id] of this.#listens) if (id === params.requestId) this.#listens.delete(listen);
      return;
    }
    const { exchange } = findExchange(this.#options.script.exchanges, { method, params });
    if (exchange === undefined || exchange.played > 0) return;
    exchange.played++;
    void this.#play(exchange.steps, noCall, exchange.t);
  }

  #takeReply(answer: RpcAnswer): void {
    const asked = this.#questions.get(String(answer.id));
    if (asked === undefined) return this.#diverge(`An answer came with the id ${quote(answer.id)}, which nothing was asked under.`);
    this.#questions.delete(String(answer.id));
    const { answer: recorded, line, message } = asked.question;
    let difference: Difference | undefined;
    try {
      difference = recorded && firstDifference(toReply(recorded), toReply(answer));
    } catch {
      this.#diverge(`${quote(message.method)} of line ${line} was answered with what is nested too deeply to be compared.`);
    }
    if (difference !== undefined)
      this.#diverge(
        `${quote(message.method)} of line ${line} was answered in another way: "${difference.path}" was ${quote(difference.recorded)}, and is ${quote(difference.found)}.`,
      );
    asked.settle();
  }

  /** All at once up to the first pause or question: what was written together stays together. */
  async #play(steps: readonly Step[], call: Call, begin: number): Promise<void> {
    let last = begin;
    for (const step of steps) {
      if (step.kind === 'await') await this.#answered.get(step.question);
      else if (this.#options.timing === 'recorded' && step.t > last) await this.#pause(step.t - last);
      last = step.t;
      this.#do(step, call);
    }
  }

  #do(step: Step, call: Call): void {
    switch (step.kind) {
      case 'notify':
        return this.#notify(step, call);
      case 'ask':
        return call.isCancelled ? undefined : this.#ask(step.question);
      case 'answer':
        return this.#answer(call, (id) => ({ ...step.message, id }));
      case 'lost':
        return this.#answer(call, (id) => toErrorAnswer(id, new BridgeError('not_recorded', `There is no answer to this: ${step.why}.`)));
      case 'await':
        return;
    }
  }

  #answer(call: Call, toAnswer: (id: RpcId) => JsonObject): void {
    if (call.id === undefined || call.isCancelled) return;
    this.#calls.delete(idKey(call.id));
    this.#send(toAnswer(call.id));
  }

  /** With the ids of now in the place of those of the recording. */
  #notify({ message, listen, progressOf }: Step & { kind: 'notify' }, call: Call): void {
    const params = (message.params ?? {}) as JsonObject;
    if (message.method === 'notifications/progress') {
      // One that did not ask for progress gets none.
      const progressToken = progressOf === undefined ? params.progressToken : call.token;
      if (progressToken !== undefined && !call.isCancelled) this.#send({ ...message, params: { ...params, progressToken } });
      return;
    }
    if (message.method === 'notifications/cancelled') {
      const requestId = isRpcId(params.requestId) ? this.#questionIds.get(idKey(params.requestId)) : undefined;
      return this.#send({ ...message, params: { ...params, ...(requestId !== undefined && { requestId }) } });
    }
    if (listen === undefined) return this.#send(message);
    const id = this.#listens.get(listen);
    // Who does not listen hears nothing.
    if (id === undefined) return;
    this.#send({ ...message, params: { ...params, _meta: { ...(params._meta as JsonObject), [subscriptionIdMetaKey]: id } } });
  }

  #ask(question: RecordedQuestion): void {
    const id = `replay-${++this.#lastQuestion}`;
    if (isRpcId(question.message.id)) this.#questionIds.set(idKey(question.message.id), id);
    this.#answered.set(question, new Promise((settle) => this.#questions.set(id, { question, settle })));
    this.#send({ ...question.message, id });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        resolve();
      }, ms);
      this.#timers.add(timer);
    });
  }

  #send(message: JsonObject): void {
    const { outgoing } = this.#options.channel;
    try {
      outgoing.send(message);
    } catch (error) {
      // It could be read, and cannot be printed.
      if (codeOf(error) !== 'message_too_deep') throw error;
      if (isRpcId(message.id) && message.method === undefined) outgoing.send(toErrorAnswer(message.id, error));
    }
  }

  #diverge(what: string): void {
    if (this.#divergences.length < maxDivergences) this.#divergences.push(what);
  }

  #end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#options.channel.outgoing.close();
  }
}

/** What an answer says, without the id. */
function toReply({ result, error }: RpcAnswer): JsonObject {
  return error === undefined ? { result } : { error };
}
