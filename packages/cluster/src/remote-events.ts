import type { CallContext, Caller } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import type { CallTarget, HubCalls, Membership } from './cluster-parts.js';

/** The hub itself calls, for nobody in particular. */
const hubItself: Caller = { sessionId: 'hub', door: 'library', era: 'legacy', clientInfo: undefined };

/** The context of a call that a hub makes for itself. */
export function toHubContext(
  method: string,
  { params = {}, cancellation = new Cancellation(), caller = hubItself, onProgress, runtime }: HubContextOptions = {},
): RequestContext {
  const message = onProgress === undefined ? params : { ...params, _meta: { progressToken: 0 } };
  const notify = (notified: string, progress: JsonObject = {}): void => {
    if (notified === 'notifications/progress') onProgress?.(progress);
  };
  return new RequestContext({ type: 'request', method, message, callId: 'hub', caller, cancellation, notify, timestamp: runtime?.now() });
}

export interface HubContextOptions {
  params?: JsonObject | undefined;
  cancellation?: Cancellation | undefined;
  /** On whose behalf. Default: nobody's. */
  caller?: Caller | undefined;
  onProgress?: ((params: JsonObject) => void) | undefined;
  /** By whose clock. Default: that of the machine. */
  runtime?: Pick<Runtime, 'now'> | undefined;
}

export interface FollowOptions {
  calls: HubCalls;
  target: CallTarget;
  /** Says what is to be followed, and with what. */
  method: string;
  params?: JsonObject | undefined;
  /** Whose. Default: the hub's own. */
  caller?: Caller | undefined;
  runtime?: Pick<Runtime, 'now'> | undefined;
  onEvent: (event: JsonObject) => void;
  /** Nothing more comes: its owner is another, or gone. Not called after it was stopped. */
  onEnd: () => void;
}

/** Follows events of what another hub has: a call that stays open, and whose progress they are. Returns the function that ends it. */
export function followEvents({ calls, target, method, params, caller, runtime, onEvent, onEnd }: FollowOptions): () => void {
  const cancellation = new Cancellation();
  const onProgress = ({ event }: JsonObject): void => {
    if (cancellation.reason === undefined && isJsonObject(event)) onEvent(event);
  };
  const context = toHubContext(method, { params, cancellation, caller, onProgress, runtime });
  const end = (): void => {
    if (cancellation.reason === undefined) onEnd();
  };
  calls.call(target, method, context.message, context).then(end, end);
  return () => cancellation.cancel('nobody listens any more');
}

/** Answers such a call: sends events until whoever follows has had enough, or this hub hands over what it has. */
export function sendEvents(
  context: CallContext,
  membership: Pick<Membership, 'self' | 'subscribe'>,
  subscribe: (send: (event: JsonObject) => void) => () => void,
): Promise<JsonObject> {
  return new Promise((resolve) => {
    const end = (): void => {
      stop();
      stopWatching();
      resolve({});
    };
    const stop = subscribe((event) => context.forwardProgress({ event }));
    const stopWatching = membership.subscribe(() => membership.self.isDraining && end());
    context.cancellation.onCancel(end);
  });
}
