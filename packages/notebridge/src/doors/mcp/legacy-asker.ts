import type { JsonObject } from '@notebridge/kit/json';
import { type Asker, toAskable } from '../../core/questions.js';
import type { RpcId } from '../../rpc/messages.js';
import type { Peer } from '../../rpc/peer.js';

/** How a question reaches an agent. */
export interface QuestionRoute {
  /**
   * Takes a message that belongs to a request that runs (its progress, a log line, a question of its server). False to have it sent
   * like any other. Throws if it is a request that can't be sent. Left out: there is one way for all.
   */
  sendDuring?: ((request: RpcId, message: JsonObject) => boolean) | undefined;
  /** Resolves when a question can be sent, or is not to wait any longer for that: its way may open a moment later. Left out: it is open. */
  untilAskable?: ((request: RpcId) => Promise<unknown> | undefined) | undefined;
}

/**
 * How an agent of the legacy era is asked: by a request on its connection, next to the call that the question belongs to.
 * Undefined if it did not declare that it can be asked anything.
 */
export function createLegacyAsker(peer: Peer, capabilities: unknown, { sendDuring, untilAskable }: QuestionRoute): Asker | undefined {
  const clientCapabilities = toAskable(capabilities);
  if (clientCapabilities === undefined) return undefined;
  return {
    clientCapabilities,
    ask: async (during, { method, params }, options) => {
      await untilAskable?.(during);
      return peer.request(method, params, { ...options, via: sendDuring && ((message) => sendDuring(during, message)) });
    },
  };
}
