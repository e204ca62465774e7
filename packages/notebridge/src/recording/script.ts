import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { classifyMessage, idKey, isRpcId, type RpcAnswer, type RpcId } from '@notebridge/protocol/rpc/messages';
import { subscriptionIdMetaKey } from '@notebridge/protocol/rpc/modern-envelope';
import { getOrMake } from '@notebridge/protocol/util/get-or-make';
import type { RecordedEntry } from './read-recording.js';

/** What a server did, in order. `t` is when, in milliseconds of the recording. */
export type Step =
  | { kind: 'notify'; t: number; message: JsonObject; listen?: Exchange | undefined; progressOf?: Exchange | undefined }
  | { kind: 'ask'; t: number; question: RecordedQuestion }
  /** It went on only after this question was answered. */
  | { kind: 'await'; t: number; question: RecordedQuestion }
  | { kind: 'answer'; t: number; message: JsonObject }
  /** It ended before it answered. */
  | { kind: 'lost'; t: number; why: string };

/** A request of the server. */
export interface RecordedQuestion {
  line: number;
  message: JsonObject;
  /** What the client answered; undefined: nothing. */
  answer: RpcAnswer | undefined;
}

/** A message of the client, and what the server did upon it. */
export interface Exchange {
  /** Of the recording. */
  line: number;
  t: number;
  isRequest: boolean;
  method: string;
  params: JsonObject;
  steps: Step[];
  /** How often it was replayed. */
  played: number;
}

export interface Script {
  /** What the server did before it was spoken to. */
  opening: readonly Step[];
  exchanges: readonly Exchange[];
}

/** Answered when the client ends it, or never. */
const listenMethod = 'subscriptions/listen';

/**
 * What a server said, put together by what it was said upon. A message belongs to the request that it names; if it names none, to the
 * request that came last and is not answered yet; if there is none, to the last message of the client.
 */
export function toScript(entries: readonly RecordedEntry[]): Script {
  const script: BegunScript = { opening: [], exchanges: [] };
  const sessions = new Map<number, SessionScript>();
  for (const entry of entries) getOrMake(sessions, entry.session, () => new SessionScript(script)).take(entry);
  for (const session of sessions.values()) session.end('the recording ends before it was answered');
  return script;
}

type BegunScript = { opening: Step[]; exchanges: Exchange[] };

class SessionScript {
  readonly #script: BegunScript;
  readonly #open = new Map<string | number, Exchange>();
  /** Requests in their order, without listens; one that was answered is taken out once it is the last. */
  readonly #asked: { key: string | number; exchange: Exchange }[] = [];
  readonly #listens = new Map<string | number, Exchange>();
  readonly #tokens = new Map<string | number, Exchange>();
  readonly #questions = new Map<string | number, { question: RecordedQuestion; steps: Step[] }>();
  #last: Exchange | undefined;
  #isClientGone = false;

  constructor(script: BegunScript) {
    this.#script = script;
  }

  take(entry: RecordedEntry): void {
    if (entry.kind === 'message') return entry.from === 'client' ? this.#takeClients(entry) : this.#takeServers(entry);
    // The client that has hung up may still be answered; what is not, nobody waits for.
    if (entry.ended === 'client') this.#isClientGone = true;
    else this.end(`the server ended here${entry.error === undefined ? '' : ` (${entry.error})`}`, entry);
  }

  /** What is not answered by now will never be. */
  end(why: string, { t, line }: { t?: number; line?: number } = {}): void {
    for (const exchange of this.#open.values()) {
      if (this.#isClientGone || exchange.method === listenMethod) continue;
      const where = line === undefined ? '' : `, line ${line}`;
      exchange.steps.push({ kind: 'lost', t: t ?? exchange.t, why: `${why}${where}` });
    }
    this.#open.clear();
  }

  #takeClients({ line, t, message }: RecordedEntry & { kind: 'message' }): void {
    const classified = classifyMessage(message);
    switch (classified.kind) {
      case 'request': {
        const { id, method, params = {} } = classified.message;
        const exchange = this.#add({ line, t, isRequest: true, method, params, steps: [], played: 0 });
        this.#open.set(idKey(id), exchange);
        if (method === listenMethod) this.#listens.set(idKey(id), exchange);
        else this.#asked.push({ key: idKey(id), exchange });
        const token = progressTokenOf(params);
        if (token !== undefined) this.#tokens.set(idKey(token), exchange);
        return;
      }
      case 'notification': {
        const { method, params = {} } = classified.message;
        if (method !== 'notifications/cancelled') this.#add({ line, t, isRequest: false, method, params, steps: [], played: 0 });
        // It gets no answer, or one that is not waited for.
        else if (isRpcId(params.requestId)) this.#open.delete(idKey(params.requestId));
        return;
      }
      case 'answer':
        return this.#takeReply(classified.message, t);
      case 'fault':
        return;
    }
  }

  #takeReply(answer: RpcAnswer, t: number): void {
    const asked = this.#questions.get(idKey(answer.id));
    if (asked === undefined) return;
    this.#questions.delete(idKey(answer.id));
    asked.question.answer = answer;
    asked.steps.push({ kind: 'await', t, question: asked.question });
  }

  #takeServers({ line, t, message }: RecordedEntry & { kind: 'message' }): void {
    const classified = classifyMessage(message);
    switch (classified.kind) {
      case 'answer': {
        const exchange = this.#open.get(idKey(classified.message.id));
        if (exchange === undefined || exchange.method === listenMethod) return;
        this.#open.delete(idKey(classified.message.id));
        exchange.steps.push({ kind: 'answer', t, message });
        return;
      }
      case 'request': {
        const question: RecordedQuestion = { line, message, answer: undefined };
        const steps = this.#owner();
        steps.push({ kind: 'ask', t, question });
        this.#questions.set(idKey(classified.message.id), { question, steps });
        return;
      }
      case 'notification': {
        const { method, params = {} } = classified.message;
        const token = method === 'notifications/progress' ? params.progressToken : undefined;
        const progressOf = isRpcId(token) ? this.#tokens.get(idKey(token)) : undefined;
        const id = isJsonObject(params._meta) ? params._meta[subscriptionIdMetaKey] : undefined;
        const listen = isRpcId(id) ? this.#listens.get(idKey(id)) : undefined;
        const isFirst = listen !== undefined && method === 'notifications/subscriptions/acknowledged';
        const steps = progressOf?.steps ?? (isFirst ? listen.steps : this.#owner());
        steps.push({ kind: 'notify', t, message, listen, progressOf });
        return;
      }
      case 'fault':
        return;
    }
  }

  #add(exchange: Exchange): Exchange {
    this.#script.exchanges.push(exchange);
    this.#last = exchange;
    return exchange;
  }

  /** The steps that what names no request belongs to. */
  #owner(): Step[] {
    for (let last = this.#asked.at(-1); last !== undefined; last = this.#asked.at(-1)) {
      if (this.#open.get(last.key) === last.exchange) return last.exchange.steps;
      this.#asked.pop();
    }
    return this.#last?.steps ?? this.#script.opening;
  }
}

export function progressTokenOf({ _meta }: JsonObject): RpcId | undefined {
  const token = isJsonObject(_meta) ? _meta.progressToken : undefined;
  return isRpcId(token) ? token : undefined;
}
