import { type ClusterParts, NotStarted, ofHubItself } from '@notebridge/cluster/cluster-parts';
import { toHubContext } from '@notebridge/cluster/remote-events';
import { markOfHub } from '@notebridge/cluster/stored-sessions';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { RelayedAnswer, RelayedRequest, SessionRelay } from '../../doors/mcp/session-relay.js';

const sessionsOfHub = `${ofHubItself}sessions`;
const relayMethod = 'notebridge/relay_request';

/** What may wait for a hub that takes an answer more slowly than it comes: the largest answer, in base64. Bytes. */
const maxWaitingBytes = 192 * 1024 * 1024;

/** Requests of agents' sessions from hub to hub. */
export function createSessionRelay({ calls, membership }: Pick<ClusterParts, 'calls' | 'membership'>): SessionRelay {
  const find = (mark: string) => membership.hubs().find((hub) => markOfHub(hub) === mark);
  return {
    mark: markOfHub(membership.self),
    look: (mark) => {
      if (mark === markOfHub(membership.self)) return 'self';
      const hub = find(mark);
      if (hub === undefined) return 'gone';
      return hub.isDraining ? 'draining' : 'other';
    },
    send: async (mark, { method, headers, body, principal }, answer, cancellation) => {
      const hub = find(mark)?.id;
      if (hub === undefined) throw new BridgeError('cluster_unavailable', 'The hub of this session has ended just now. Send it again.');
      const onProgress = (params: JsonObject): void => take(params, answer);
      const context = toHubContext(relayMethod, { params: { method, headers, body, principal }, cancellation, onProgress });
      await calls.call({ hub, resource: sessionsOfHub, epoch: 0 }, relayMethod, context.message, context).catch((error: unknown) => {
        throw error instanceof NotStarted
          ? new BridgeError('cluster_unavailable', 'The hub of this session takes nothing just now. Try again.')
          : error;
      });
    },
    serve: (answerRelayed) =>
      // A request that belongs to a call that runs goes through until that has ended: the door refuses the rest.
      calls.serve(
        sessionsOfHub,
        async ({ context, queuedBytes }) => {
          const { cancellation, message } = context;
          const send = (params: JsonObject): void => {
            if (queuedBytes() > maxWaitingBytes) cancellation.cancel('its agent takes the answer too slowly');
            else context.forwardProgress(params);
          };
          const answer: RelayedAnswer = {
            head: (status, headers) => send({ status, headers }),
            data: (piece) => send({ data: piece.toString('base64') }),
          };
          await answerRelayed(toRequest(message), answer, cancellation);
          return {};
        },
        { whileDraining: true },
      ),
  };
}

function take({ status, headers, data }: JsonObject, answer: RelayedAnswer): void {
  if (typeof data === 'string') answer.data(Buffer.from(data, 'base64'));
  else if (typeof status === 'number') answer.head(status, (isJsonObject(headers) ? headers : {}) as Record<string, string>);
}

/** What a hub of ours has sent: its frames are signed. */
function toRequest({ method, headers, body, principal }: JsonObject): RelayedRequest {
  return {
    method: String(method),
    headers: headers as Record<string, string>,
    body: String(body),
    principal: principal as RelayedRequest['principal'],
  };
}
