import { type HubCalls, type HubView, NotStarted, ofHubItself } from '@notebridge/cluster/cluster-parts';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { answer, type Middleware, type MiddlewareContext } from '@notebridge/protocol/core/middleware';
import { mayAskIn } from '@notebridge/protocol/core/questions';
import type { JsonObject } from '@notebridge/protocol/json';

/** The whole chain of a hub: a call that it had begun goes on there. */
const chainOfHub = `${ofHubItself}chain`;

export type WhereState = 'here' | 'gone' | Pick<HubView, 'id'>;

export interface StateRouterOptions {
  calls: HubCalls;
  /** Which hub waits with the call of a `requestState`: another; one that has ended; undefined: it is none of ours. */
  whereIs: (state: unknown, context: Pick<CallContext, 'caller'>) => WhereState | undefined;
  /** The chain of this hub. */
  request: (context: MiddlewareContext) => Promise<JsonObject>;
}

/**
 * An agent of the modern era that was asked something calls again with its answer, and may reach another hub. The call waits where it was begun,
 * so that hub goes on with it: its guard, its policy and its audit.
 */
export function createStateRouter({ calls, whereIs, request }: StateRouterOptions): {
  middleware: Middleware;
  close(): void;
} {
  const close = calls.serve(chainOfHub, ({ context }) => request(context));
  const middleware: Middleware = {
    name: 'stateRouter',
    onRequest: (context, callNext) => {
      const { requestState } = context.message;
      // What cannot wait for an answer stays here.
      const hub = requestState === undefined || !mayAskIn.has(context.method) ? 'here' : whereIs(requestState, context);
      if (hub === 'here' || hub === undefined) return callNext(context);
      if (hub === 'gone') return Promise.reject(gone());
      const target = { hub: hub.id, resource: chainOfHub, epoch: 0 };
      return calls.call(target, context.method, context.message, context).then(answer, (error: unknown) => {
        throw error instanceof NotStarted ? notTaken(error) : error;
      });
    },
  };
  return { middleware, close };
}

function gone(): BridgeError {
  return new BridgeError(
    'hub_gone',
    'The hub at which this call waits for its answer has ended. Whether the call had an effect is unknown; it was not repeated.',
  );
}

function notTaken(cause: NotStarted): BridgeError {
  return new BridgeError(
    'cluster_unavailable',
    `The hub at which this call waits for its answer takes nothing just now (${cause.reason}). The answer was not given; the call still waits there. Try again.`,
    { cause },
  );
}
