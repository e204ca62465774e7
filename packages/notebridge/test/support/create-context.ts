import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { RequestContext, type RequestContextOptions } from '@notebridge/protocol/core/request-context';
import type { JsonObject } from '@notebridge/protocol/json';

export interface ContextForTest extends RequestContext {
  /** What the caller was told, in order. */
  readonly notified: { method: string; params?: JsonObject }[];
}

/** The context of a message that a test makes up. */
export function createContext(method: string, message: JsonObject = {}, options: Partial<RequestContextOptions> = {}): ContextForTest {
  const notified: ContextForTest['notified'] = [];
  const context = new RequestContext({
    method,
    message,
    type: method.startsWith('notifications/') ? 'notification' : 'request',
    callId: 'test-1',
    caller: { sessionId: 'test', door: 'library', era: 'legacy', clientInfo: undefined },
    cancellation: new Cancellation(),
    notify: (notification, params) => notified.push(params === undefined ? { method: notification } : { method: notification, params }),
    ...options,
  });
  return Object.assign(context, { notified });
}
