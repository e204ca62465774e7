import type { CodeAsker } from '@notebridge/notebook/host';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isQuestion } from '@notebridge/protocol/core/questions';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { Peer } from '@notebridge/protocol/rpc/peer';
import { toOwnError } from './join-link.js';

/** Asked by the process that lends its servers, in the middle of a call of the notebook's code. */
export const codeAskMethod = 'code/ask';

/** Whoever has a cell run, as the process asks that makes the calls of its code. Undefined if nobody can be asked. */
export function toCodeAsker(peer: Peer, asks: unknown): CodeAsker | undefined {
  if (!isJsonObject(asks) || !isJsonObject(asks.can)) return undefined;
  const { call, can } = asks;
  return {
    can,
    ask: async ({ method, params }, { server, signal, timeoutMs }) => {
      const cancellation = new Cancellation();
      const end = (): void => cancellation.cancel('the call has ended');
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
      const asked = { call, server, method, timeoutMs, ...(params === undefined ? {} : { params }) };
      try {
        return await peer.request(codeAskMethod, asked, { cancellation, timeoutMs });
      } catch (error) {
        throw toOwnError(error);
      } finally {
        signal.removeEventListener('abort', end);
      }
    },
  };
}

/** The calls of a notebook's code that another process makes, with whom servers may ask in them. */
export class LinkAskers {
  readonly #askers = new Map<number, { peer: Peer; asker: CodeAsker }>();
  #lastCall = 0;

  open(peer: Peer, asker: CodeAsker): { asks: JsonObject; close(): void } {
    const call = ++this.#lastCall;
    this.#askers.set(call, { peer, asker });
    return { asks: { call, can: asker.can }, close: () => void this.#askers.delete(call) };
  }

  /** Rejects with `unanswered_question` for a call that has ended, or is another process's. */
  async ask(peer: Peer, { call, server, timeoutMs, ...question }: JsonObject, asking: Cancellation): Promise<JsonObject> {
    const open = this.#askers.get(Number(call));
    if (open?.peer !== peer || !isQuestion(question))
      throw new BridgeError(
        'unanswered_question',
        'A server asked in a call of the notebook’s code that has ended, or for what nobody knows.',
      );
    return open.asker.ask(question, { server: String(server), signal: asking.signal, timeoutMs: Number(timeoutMs) });
  }
}
