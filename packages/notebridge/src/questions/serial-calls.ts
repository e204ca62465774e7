import type { JsonObject } from '@notebridge/kit/json';
import type { Cancellation } from '../core/cancellation.js';
import { BridgeError, codeOf } from '../core/errors.js';
import type { Question } from '../core/questions.js';
import type { RpcId } from '../rpc/messages.js';
import { WaitQueue } from '../rpc/wait-queue.js';
import { AskedCalls, type SentCall } from './asked-calls.js';

export interface SerialCallsOptions {
  /** Who asks, for a person. */
  server: string;
  /** How long an agent may take to answer, and a call waits for its turn. Milliseconds. */
  timeoutMs: number;
}

/** As long as a timer can wait: what cannot be started anew is waited for. Milliseconds. */
const foreverMs = 2 ** 31 - 1;

/** Calls to a notebook page that may ask back: one at a time, so that each question is of the one that runs. */
export class SerialCalls {
  readonly #options: SerialCallsOptions;
  readonly #asked: AskedCalls;
  readonly #line = new WaitQueue<void>();
  #isBusy = false;

  constructor(options: SerialCallsOptions) {
    const { server, timeoutMs } = options;
    this.#options = options;
    this.#asked = new AskedCalls({ server, tie: 'serial', timeoutMs });
  }

  /** Makes a call when it is its turn, or takes one up that waits for answers. Rejects as the call does, or with `timeout`. */
  async request(call: SentCall): Promise<JsonObject> {
    if (call.params.requestState !== undefined) return this.#asked.resume(call);
    const { timeoutMs } = this.#options;
    const onTimeout = (): BridgeError =>
      new BridgeError('timeout', `The page was so busy that the call did not get its turn within ${timeoutMs} ms. It was not sent.`);
    if (this.#isBusy) await this.#line.wait({ cancellation: call.context.cancellation, timeoutMs, onTimeout });
    this.#isBusy = true;
    return this.#asked.run({ ...call, send: (options, asked) => this.#send(call, options, asked) });
  }

  /** Answers a question of the page. */
  take(question: Question, asking: Cancellation): Promise<JsonObject> {
    return this.#asked.take(question, asking, undefined);
  }

  /** The page has answered a call that nobody waits for any more, or has gone (no id). */
  settle(id?: RpcId): void {
    this.#asked.settle(id);
  }

  async #send(call: SentCall, ...how: Parameters<SentCall['send']>): Promise<JsonObject> {
    try {
      const result = await call.send(...how);
      this.#end();
      return result;
    } catch (error) {
      const code = codeOf(error);
      // It may ask on, and the next caller be meant.
      if (code === 'cancelled' || code === 'timeout') void this.#asked.hold(foreverMs).then(() => this.#end());
      else this.#end();
      throw error;
    }
  }

  #end(): void {
    if (!this.#line.settleFirst()) this.#isBusy = false;
  }
}
