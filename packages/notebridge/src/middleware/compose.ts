import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Hook, Middleware, MiddlewareContext } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';

type AnyHook = Hook<JsonObject, JsonObject>;

/** A hook, and whose it is. */
interface Layer {
  name: string;
  hook: AnyHook;
}

export type Terminal = (context: MiddlewareContext) => Promise<JsonObject>;
export type Chain = (context: MiddlewareContext, terminal: Terminal) => Promise<JsonObject>;

/** Which hook a method has, besides `onMessage` and `onRequest`. */
const hookOfMethod = {
  initialize: 'onInitialize',
  'server/discover': 'onInitialize',
  'tools/list': 'onListTools',
  'tools/call': 'onCallTool',
  'resources/list': 'onListResources',
  'resources/read': 'onReadResource',
  'prompts/list': 'onListPrompts',
  'prompts/get': 'onGetPrompt',
} as const satisfies Record<string, keyof Middleware>;

type HookName = 'onMessage' | 'onRequest' | 'onNotification' | (typeof hookOfMethod)[keyof typeof hookOfMethod];

/**
 * Makes the onion: for each kind of message the hooks that apply are picked out beforehand, outermost first, so a call walks an
 * array and pays nothing for hooks that nobody has.
 */
export function composeMiddleware(middlewares: readonly Middleware[]): Chain {
  const pick = (...names: HookName[]): Layer[] => middlewares.flatMap((middleware) => names.flatMap((name) => toLayer(middleware, name)));
  const ofNotifications = pick('onMessage', 'onNotification');
  const ofOtherRequests = pick('onMessage', 'onRequest');
  const ofMethod = new Map<string, Layer[]>();
  for (const [method, name] of Object.entries(hookOfMethod)) ofMethod.set(method, pick('onMessage', 'onRequest', name));
  return (context, terminal) => {
    const layers = context.type === 'notification' ? ofNotifications : (ofMethod.get(context.method) ?? ofOtherRequests);
    return walk(layers, 0, context, terminal);
  };
}

/** Middlewares may be plain JavaScript: a hook that throws or returns at once fails or answers like one that is async. */
function walk(layers: readonly Layer[], index: number, context: MiddlewareContext, terminal: Terminal): Promise<JsonObject> {
  const layer = layers[index];
  try {
    if (layer === undefined) return terminal(context);
    let handedOn: MiddlewareContext | undefined;
    const callNext = (next: MiddlewareContext): Promise<JsonObject> => {
      if (next === handedOn) return Promise.reject(calledTwice(layer.name));
      handedOn = next;
      return walk(layers, index + 1, next, terminal);
    };
    return Promise.resolve(layer.hook(context, callNext as Parameters<AnyHook>[1]));
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Mostly a slip, and a call that is made twice may do harm. Who means it, as for a second try, hands on a copy. */
function calledTwice(name: string): BridgeError {
  return new BridgeError(
    'internal',
    `The middleware "${name}" called callNext twice with one message. To send it again, hand on a copy().`,
  );
}

function toLayer(middleware: Middleware, name: HookName): Layer[] {
  const hook = middleware[name] as AnyHook | undefined;
  return hook === undefined ? [] : [{ name: nameOf(middleware, hook), hook: hook.bind(middleware) }];
}

/** The name that it gives itself, else that of its class, else that of its function. */
function nameOf(middleware: Middleware, hook: AnyHook): string {
  const { constructor: made } = middleware;
  return middleware.name ?? (typeof made === 'function' && made !== Object ? made.name : hook.name);
}
