import type { JsonObject } from '@notebridge/kit/json';
import { type Asker, toAskable } from '../../core/questions.js';
import type { RpcId } from '../../rpc/messages.js';
import type { Peer } from '../../rpc/peer.js';

/**
 * How an agent of the legacy era is asked: by a request on its connection, next to the call that the question belongs to.
 * Undefined if it did not declare that it can be asked anything.
 */
export function createLegacyAsker(
  peer: Peer,
  capabilities: unknown,
  sendDuring: ((request: RpcId, message: JsonObject) => boolean) | undefined,
): Asker | undefined {
  const clientCapabilities = toAskable(capabilities);
  if (clientCapabilities === undefined) return undefined;
  return {
    clientCapabilities,
    ask: (during, { method, params }, options) =>
      peer.request(method, params, { ...options, via: sendDuring && ((message) => sendDuring(during, message)) }),
  };
}
