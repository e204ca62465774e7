import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { type Asker, isQuestion, mayAskIn, toAskable } from '@notebridge/protocol/core/questions';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { AskedCall } from '@notebridge/protocol/questions/asked-call';
import { AskedCalls, type SentCall } from '@notebridge/protocol/questions/asked-calls';
import type { Peer } from '@notebridge/protocol/rpc/peer';
import { toOwnError } from './join-link.js';

/** Beside the params of a request that a joined process passes on: the call in which its agent can be asked, and what. */
export const asksParam = 'notebridge/asks';
/** Asked by the side that has the notebook, in the middle of such a request. */
export const askMethod = 'agent/ask';

/** How the agent behind a link is asked, by the side that has the notebook. Undefined if it can be asked nothing. */
export function toAsker(peer: Peer, asks: unknown): Asker | undefined {
  if (!isJsonObject(asks)) return undefined;
  const clientCapabilities = toAskable(asks.can);
  if (clientCapabilities === undefined) return undefined;
  const { call } = asks;
  return {
    clientCapabilities,
    ask: (_, { method, params }, options) =>
      peer
        .request(askMethod, { call, method, ...(params === undefined ? {} : { params }) }, options)
        .catch((error: unknown) => Promise.reject(toOwnError(error))),
  };
}

/** The calls of a joined process's agents, in whose middle the notebook may ask: a legacy agent by a request, a modern one by an answer. */
export class LinkQuestions {
  readonly #asked: AskedCalls;
  readonly #calls = new Map<number, AskedCall>();
  #lastCall = 0;

  constructor(timeoutMs: number) {
    this.#asked = new AskedCalls({ server: 'notebook', isNamed: true, tie: 'stream', timeoutMs });
  }

  /** Makes a request, or takes up one that waits for answers. `more`: what goes with it, so that the agent can be asked. */
  request({
    send,
    ...call
  }: Omit<SentCall, 'send'> & {
    send: (options: Parameters<SentCall['send']>[0], more: JsonObject) => Promise<JsonObject>;
  }): Promise<JsonObject> {
    if (call.params.requestState !== undefined) return this.#asked.resume(call);
    return this.#asked.run({
      ...call,
      send: async (options, asked) => {
        const id = ++this.#lastCall;
        this.#calls.set(id, asked);
        try {
          return await send(options, { [asksParam]: { call: id, can: call.context.clientCapabilities } });
        } finally {
          this.#calls.delete(id);
        }
      },
    });
  }

  /** Answers what the other side asks. Rejects with `unanswered_question` if the agent cannot be asked that, or its call has ended. */
  async take({ call, ...question }: JsonObject, asking: Cancellation): Promise<JsonObject> {
    const asked = this.#calls.get(Number(call));
    if (asked === undefined || !isQuestion(question))
      throw new BridgeError('unanswered_question', 'The notebook asked an agent whose call has ended, or for what nobody knows.');
    return asked.ask(question, asking);
  }

  /** Whether a request is made by `request`: for one that cannot ask, or whose caller cannot be asked, that would cost time for nothing. */
  static mayAsk(method: string, { clientCapabilities }: CallContext): boolean {
    return clientCapabilities !== undefined && mayAskIn.has(method);
  }
}
