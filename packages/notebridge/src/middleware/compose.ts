import type { JsonObject } from '@notebridge/kit/json';
import type { Hook, Middleware, MiddlewareContext } from '../core/middleware.js';

type AnyHook = Hook<JsonObject, JsonObject>;
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
  const pick = (...names: HookName[]): AnyHook[] =>
    middlewares.flatMap((middleware) => names.flatMap((name) => bindHook(middleware, name)));
  const ofNotifications = pick('onMessage', 'onNotification');
  const ofOtherRequests = pick('onMessage', 'onRequest');
  const ofMethod = new Map<string, AnyHook[]>();
  for (const [method, name] of Object.entries(hookOfMethod)) ofMethod.set(method, pick('onMessage', 'onRequest', name));
  return (context, terminal) => {
    const hooks = context.type === 'notification' ? ofNotifications : (ofMethod.get(context.method) ?? ofOtherRequests);
    return walk(hooks, 0, context, terminal);
  };
}

/** Middlewares may be plain JavaScript: a hook that throws or returns at once fails or answers like one that is async. */
function walk(hooks: readonly AnyHook[], index: number, context: MiddlewareContext, terminal: Terminal): Promise<JsonObject> {
  const hook = hooks[index];
  try {
    if (hook === undefined) return terminal(context);
    return Promise.resolve(hook(context, (next) => walk(hooks, index + 1, next, terminal) as ReturnType<AnyHook>));
  } catch (error) {
    return Promise.reject(error);
  }
}

function bindHook(middleware: Middleware, name: HookName): AnyHook[] {
  const hook = middleware[name] as AnyHook | undefined;
  return hook === undefined ? [] : [hook.bind(middleware)];
}
