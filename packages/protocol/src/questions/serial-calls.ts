import type { Cancellation } from '../core/cancellation.js';
import type { Question } from '../core/questions.js';
import type { JsonObject } from '../json.js';
import type { RpcId } from '../rpc/messages.js';
import { AskedCalls, isGivenUp, type SentCall } from './asked-calls.js';
import { CallTurns } from './call-turns.js';

/** As long as a timer can wait: what cannot be started anew is waited for. Milliseconds. */
const foreverMs = 2 ** 31 - 1;

/** Calls to a notebook page that may ask back: one at a time, so that each question is of the one that runs. */
export class SerialCalls {
  readonly #timeoutMs: number;
  readonly #asked: AskedCalls;
  readonly #turns = new CallTurns(
    (timeoutMs) => `The page was so busy that the call did not get its turn within ${timeoutMs} ms. It was not sent.`,
  );

  /** `server`: who asks, for a person. `timeoutMs`: how long an agent may take to answer, and a call waits for its turn. */
  constructor({ server, timeoutMs }: { server: string; timeoutMs: number }) {
    this.#timeoutMs = timeoutMs;
    this.#asked = new AskedCalls({ server, tie: 'serial', timeoutMs });
  }

  /** Makes a call when it is its turn, or takes one up that waits for answers. Rejects as the call does, or with `timeout`. */
  async request(call: SentCall): Promise<JsonObject> {
    if (call.params.requestState !== undefined) return this.#asked.resume(call);
    const end = await this.#turns.take({ cancellation: call.context.cancellation, timeoutMs: this.#timeoutMs });
    // One that was given up may ask on, and the next caller be meant.
    const endLater = (error: unknown): void => void (isGivenUp(error) ? this.#asked.hold(foreverMs).then(end) : end());
    const send: SentCall['send'] = (...how) => {
      const sent = call.send(...how);
      sent.then(end, endLater);
      return sent;
    };
    return this.#asked.run({ ...call, send });
  }

  /** Answers a question of the page. */
  take(question: Question, asking: Cancellation): Promise<JsonObject> {
    return this.#asked.take(question, asking, undefined);
  }

  /** The page has answered a call that nobody waits for any more, or has gone (no id). */
  settle(id?: RpcId): void {
    this.#asked.settle(id);
  }
}
