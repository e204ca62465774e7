import type { Hook, Middleware, MiddlewareContext } from '../core/middleware.js';
import type { JsonObject } from '../util/json.js';

type AnyHook = Hook<JsonObject, JsonObject>;
export type Terminal = (context: MiddlewareContext) => Promise<JsonObject>;
export type Chain = (context: MiddlewareContext, terminal: Terminal) => Promise<JsonObject>;

/** Which hook a method has, besides `onMessage` and `onRequest` or `onNotification`. */
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

/**
 * Makes the onion: for each kind of message the hooks that apply are picked out once, outermost first, so a call walks an
 * array and pays nothing for hooks that nobody has.
 */
export function composeMiddleware(middlewares: readonly Middleware[]): Chain {
  const hooksByKind = new Map<string, AnyHook[]>();
  return (context, terminal) => {
    const kind = `${context.type} ${context.method}`;
    let hooks = hooksByKind.get(kind);
    if (hooks === undefined) {
      hooks = middlewares.flatMap((middleware) => hooksOf(middleware, context));
      // Methods come from outside: only the known ones are worth remembering.
      if (Object.hasOwn(hookOfMethod, context.method)) hooksByKind.set(kind, hooks);
    }
    return walk(hooks, 0, context, terminal);
  };
}

function walk(hooks: readonly AnyHook[], index: number, context: MiddlewareContext, terminal: Terminal): Promise<JsonObject> {
  const hook = hooks[index];
  if (hook === undefined) return terminal(context);
  return hook(context, (next) => walk(hooks, index + 1, next, terminal) as ReturnType<AnyHook>);
}

function hooksOf(middleware: Middleware, { type, method }: MiddlewareContext): AnyHook[] {
  const specific =
    type === 'request' && Object.hasOwn(hookOfMethod, method) ? hookOfMethod[method as keyof typeof hookOfMethod] : undefined;
  const names = ['onMessage', type === 'request' ? 'onRequest' : 'onNotification', specific] as const;
  return names.flatMap((name) => {
    const hook = name === undefined ? undefined : (middleware[name] as AnyHook | undefined);
    return hook === undefined ? [] : [hook.bind(middleware)];
  });
}
