import type { CallContext, Caller } from '../core/call-context.js';
import { Cancellation } from '../core/cancellation.js';
import { BridgeError } from '../core/errors.js';
import { canAnswer, type Question, withAsker } from '../core/questions.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { answerForNobody, putQuestion } from './put-question.js';

export interface AskedCallOptions {
  /** The name of the server. */
  server: string;
  /** Its questions bear the name of who asks already. Default false. */
  isNamed?: boolean | undefined;
  /** How long an agent may take to answer. Milliseconds. */
  timeoutMs: number;
  /** Gives the `requestState` under which the call waits for answers; undefined if no more may wait. */
  park: () => string | undefined;
}

/** A question that waits for the agent's next request. */
interface Waiting {
  question: Question;
  /** The agent has been told of it; what comes while the call is parked is for the next time. */
  isShown: boolean;
  resolve: (answer: JsonObject) => void;
  reject: (error: unknown) => void;
}

interface Turn {
  resolve: (result: JsonObject) => void;
  reject: (error: unknown) => void;
}

/**
 * One call to a server of the legacy era, which may ask while it runs. A legacy caller is asked meanwhile. A modern one gets the
 * questions as an answer; the call goes on waiting, and is taken up by the caller's next request.
 */
export class AskedCall {
  /** Cancels the call at the server. */
  readonly cancellation = new Cancellation();
  readonly #options: AskedCallOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Ends what the agent is asked by requests. */
  readonly #end = new Cancellation();
  #context: CallContext;
  /** The agent's request that waits for what becomes of the call. None: it is parked. */
  #turn: Turn | undefined;
  #unlink: (() => void) | undefined;
  #release: (() => void) | undefined;
  #outcome: (() => Promise<JsonObject>) | undefined;
  #asked = 0;
  #open = 0;
  /** When the server had its last answer, or was called. */
  #answeredAt = performance.now();

  constructor(context: CallContext, options: AskedCallOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** The caller's request, the first or one that brings answers: resolves with the result, or with what is still asked. */
  take(context: CallContext): Promise<JsonObject> {
    this.#context = context;
    this.#unlink?.();
    const { cancellation } = context;
    this.#unlink = cancellation.onCancel((reason) => this.cancellation.cancel(reason, { callerIsGone: cancellation.callerIsGone }));
    // It outlives the request that it is parked by.
    const release = cancellation.outlive((why) => this.cancellation.withdraw(why));
    this.#release?.();
    this.#release = release;
    if (this.#outcome !== undefined) {
      this.#releaseAtEnd();
      return this.#outcome();
    }
    return new Promise((resolve, reject) => {
      this.#turn = { resolve, reject };
      this.#park();
    });
  }

  /** What the caller answers. What it leaves out counts as not answered. */
  answer(responses: unknown): void {
    const given = isJsonObject(responses) ? responses : {};
    for (const [key, { question, isShown, resolve, reject }] of this.#waiting) {
      if (!isShown) continue;
      const answer = Object.hasOwn(given, key) ? given[key] : undefined;
      this.#waiting.delete(key);
      if (isJsonObject(answer)) resolve(answer);
      else this.#refuse(question, 'the agent did not answer it').then(resolve, reject);
    }
  }

  /** Neither answered nor given up. */
  get isRunning(): boolean {
    return this.#outcome === undefined && this.cancellation.reason === undefined;
  }

  get caller(): Caller {
    return this.#context.caller;
  }

  /** Of the agent that called. */
  get sessionId(): string {
    return this.caller.sessionId;
  }

  /** How long the server has worked since it last waited for an answer; 0 while it does. Milliseconds. */
  get workedMs(): number {
    return this.#open > 0 ? 0 : performance.now() - this.#answeredAt;
  }

  /** The server asks. `asking`: it may take the question back. */
  async ask(question: Question, asking: Cancellation): Promise<JsonObject> {
    this.#open++;
    try {
      return await this.#ask(question, asking);
    } finally {
      this.#open--;
      this.#answeredAt = performance.now();
    }
  }

  async #ask(question: Question, asking: Cancellation): Promise<JsonObject> {
    const { server, isNamed, timeoutMs } = this.#options;
    if (this.cancellation.reason !== undefined || this.#outcome !== undefined) return this.#refuse(question, 'the call had ended');
    if (this.#context.caller.era === 'modern') return this.#askModern(question, asking);
    const cancellation = new Cancellation();
    const unlinks = [asking, this.cancellation, this.#end].map((other) => other.onCancel((reason) => cancellation.cancel(reason)));
    try {
      return await putQuestion(this.#context, question, { server, isNamed, cancellation, timeoutMs });
    } catch (error) {
      if (cancellation.reason === undefined) throw error;
      return this.#refuse(question, cancellation.reason);
    } finally {
      for (const unlink of unlinks) unlink();
    }
  }

  /** Progress of the server, for who waits just now, or has been given the task that goes on. */
  forwardProgress(progress: JsonObject): void {
    if (this.#turn !== undefined || this.#outcome !== undefined) this.#context.forwardProgress(progress);
  }

  /** The server has answered, or the call failed. */
  finish(outcome: () => Promise<JsonObject>): void {
    this.#outcome = outcome;
    this.#releaseAtEnd();
    this.#end.cancel('the call has ended');
    for (const { question, resolve, reject } of this.#waiting.values()) this.#refuse(question, 'the call had ended').then(resolve, reject);
    this.#waiting.clear();
    const turn = this.#leave();
    if (turn !== undefined) outcome().then(turn.resolve, turn.reject);
  }

  #askModern(question: Question, asking: Cancellation): Promise<JsonObject> {
    const { clientCapabilities } = this.#context;
    if (!canAnswer(clientCapabilities, question)) return this.#refuse(question, 'the agent did not declare that it can answer that');
    return new Promise((resolve, reject) => {
      const key = `question-${++this.#asked}`;
      this.#waiting.set(key, { question, isShown: false, resolve, reject });
      asking.onCancel((reason) => {
        if (this.#waiting.delete(key)) reject(new BridgeError('cancelled', reason));
      });
      this.cancellation.onCancel((reason) => {
        if (this.#waiting.delete(key)) this.#refuse(question, reason).then(resolve, reject);
      });
      // What the server sends at once is asked at once.
      queueMicrotask(() => this.#park());
    });
  }

  /** Answers the caller with what is asked, if it waits and something is. */
  #park(): void {
    if (this.#waiting.size === 0 || this.#turn === undefined) return;
    const requestState = this.#options.park();
    const { server, isNamed } = this.#options;
    if (requestState === undefined) {
      const why = `As many calls to "${server}" as may already wait for answers; answer those first.`;
      this.#leave()?.reject(new BridgeError('limit_reached', why));
      return this.cancellation.cancel(why);
    }
    for (const waiting of this.#waiting.values()) waiting.isShown = true;
    const named = (question: Question): Question => (isNamed === true ? question : withAsker(question, server));
    const asked = [...this.#waiting].map(([key, { question }]) => [key, toModernQuestion(named(question))]);
    this.#leave()?.resolve({ resultType: 'input_required', inputRequests: Object.fromEntries(asked), requestState });
  }

  /** Releases the caller's request once nothing is left of the work that the call has begun, which may go on when it is answered. */
  #releaseAtEnd(): void {
    this.cancellation.whenNotOutlived(() => this.#release?.());
  }

  #leave(): Turn | undefined {
    const turn = this.#turn;
    this.#turn = undefined;
    this.#unlink?.();
    this.#unlink = undefined;
    return turn;
  }

  async #refuse(question: Question, why: string): Promise<JsonObject> {
    return answerForNobody(question, this.#options.server, why);
  }
}

/** Without what only the legacy era has: the id of a URL, and a question that is a task. */
function toModernQuestion({ method, params }: Question): Question {
  if (params === undefined) return { method };
  const { elicitationId: _1, task: _2, ...rest } = params;
  return { method, params: rest };
}
