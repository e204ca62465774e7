import { createHash } from 'node:crypto';
import { type BindingLanguage, bindingLanguages } from '@notebridge/bindings';
import { printMessage } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import type { HttpApp, HttpRoute } from '../http/http-app.js';
import type { HttpContext } from '../http/http-context.js';
import { isRefusal, refuse } from '../http/refusal.js';
import type { BindingsDoor } from './bindings-door.js';
import { CallDoor } from './call-door.js';
import { answerDocs, docsPaths } from './docs-page.js';
import { sendTagged } from './entity-tag.js';
import { listProxyServers } from './list-proxy-servers.js';
import { challengePattern, isReady, proxyHealth, proxyReadiness } from './proxy-health.js';
import type { ProxyBody } from './proxy-schemas.js';
import { callTarget } from './proxy-tool-call.js';
import { createProxyContext, type ToolProxy, type ToolProxyOptions } from './tool-proxy-context.js';

/** Under which all routes of the proxy stand, as in the reference. */
export const proxyPrefix = '/api/v1/mcp/proxy';

export interface ToolProxyDoorOptions extends ToolProxyOptions {
  authenticate: Authenticate;
  /** Answers the challenge of a client that checks whether this is the hub of its address file. `port`: where it was asked. */
  prove?: ((nonce: string, port: number) => string | Promise<string>) | undefined;
  /** Shown in the description of the routes. */
  version?: string | undefined;
}

/** Adds the tool proxy to an app: code in kernels calls the tools of servers, without their keys. Call it before `listenHttp`. */
export function createToolProxy(app: HttpApp, options: ToolProxyDoorOptions): ToolProxy {
  const proxy = createProxyContext(options, callTarget);
  const authenticator = new Authenticator(options.authenticate, { onRefused: app.refused });
  addCallRoutes(app, proxy, authenticator);
  addHealthRoutes(app, options.prove);
  addListRoutes(app, proxy, authenticator);
  addBindingsRoutes(app, proxy, authenticator);
  addDescription(app, options.version ?? '0');
  return proxy;
}

const readMethods = ['GET', 'HEAD'];
const jsonType = 'application/json; charset=utf-8';

function addCallRoutes(app: HttpApp, proxy: ToolProxy, authenticator: Authenticator): void {
  const { answer: handle } = new CallDoor(app, proxy);
  const route: Omit<HttpRoute, 'path'> = { methods: ['POST'], authenticator, nextId: proxy.nextCallId, handle };
  for (const path of [':server/tools/:tool', ':server/:tool', 'search']) app.addRoute({ ...route, path: `${proxyPrefix}/${path}` });
}

/** Asked every few seconds by monitors, and by commands that look for the hub. */
function addHealthRoutes(app: HttpApp, prove: ToolProxyDoorOptions['prove']): void {
  const handle = async (context: HttpContext): Promise<void> => {
    const health: JsonObject = await proxyHealth();
    const [nonce, ...more] = context.query.getAll('challenge');
    if (nonce !== undefined && prove !== undefined) {
      if (more.length > 0 || !challengePattern.test(nonce)) return context.refuse(badChallenge);
      health.proof = await prove(nonce, context.request.socket.localPort ?? 0);
    }
    context.sendJson(200, printMessage(health));
  };
  for (const path of [`${proxyPrefix}/health`, '/healthz']) app.addRoute({ methods: readMethods, path, handle, isAnsweredToTheEnd: true });
}

const badChallenge = refuse(400, 'A challenge is 16 to 256 letters, digits, "-" or "_".');

function addListRoutes(app: HttpApp, proxy: ToolProxy, authenticator: Authenticator): void {
  const list = async (context: HttpContext): Promise<void> =>
    sendTaggedJson(context, printMessage((await listProxyServers(proxy, context.principal)) satisfies ProxyBody<'ServerList'>));
  app.addRoute({ methods: readMethods, path: `${proxyPrefix}/servers`, authenticator, handle: list });

  const ready = async (context: HttpContext): Promise<void> => {
    const [challenge] = context.query.getAll('challenge');
    // Of another hub, which has lost NATS.
    if (challenge !== undefined && proxy.cluster !== undefined) {
      if (!challengePattern.test(challenge)) return context.refuse(badChallenge);
      return context.sendJson(200, printMessage({ ...proxy.cluster.answer(challenge) }));
    }
    const readiness = proxyReadiness(proxy);
    // Without a token a caller is no operator, unless the hub asks for none; a token that is sent must be right.
    const principal = await authenticator.checkIfSent(context.request);
    if (principal !== undefined && isRefusal(principal)) return context.refuse(principal);
    const isOperator = principal !== undefined && principal.kind !== 'grant';
    const { status, checks, servers } = readiness;
    const isVerbose = context.query.has('verbose');
    const answer: ProxyBody<'Readiness'> = { status, ...(isVerbose && { checks }), ...(isOperator && { servers }) };
    context.sendJson(isReady(readiness) ? 200 : 503, printMessage(answer));
  };
  app.addRoute({ methods: readMethods, path: '/readyz', handle: ready, isAnsweredToTheEnd: true });
}

/** What makes bindings is loaded with the first request for them. */
function addBindingsRoutes(app: HttpApp, proxy: ToolProxy, authenticator: Authenticator): void {
  let loading: Promise<BindingsDoor> | undefined;
  const load = async (): Promise<BindingsDoor> => {
    const { BindingsDoor } = await import('./bindings-door.js');
    return new BindingsDoor({ under: proxyPrefix, proxy, logger: app.logger });
  };
  const handle =
    (language: BindingLanguage) =>
    async (context: HttpContext): Promise<void> => {
      loading ??= load();
      return (await loading).answer(language, context);
    };
  for (const language of bindingLanguages) {
    const path = `${proxyPrefix}/bindings/${language}.tar.gz`;
    app.addRoute({ methods: readMethods, path, authenticator, handle: handle(language) });
  }
}

/** The description of the routes, and a page that shows it. */
function addDescription(app: HttpApp, version: string): void {
  let text: string | undefined;
  const describe = async (context: HttpContext): Promise<void> => {
    const { createOpenApi } = await import('./openapi.js');
    text ??= JSON.stringify(createOpenApi({ version, prefix: proxyPrefix }));
    sendTaggedJson(context, text);
  };
  app.addRoute({ methods: readMethods, path: '/openapi.json', handle: describe });
  for (const path of docsPaths)
    app.addRoute({ methods: readMethods, path, handle: (context) => answerDocs(path, context), isHidden: path !== docsPaths[0] });
}

function sendTaggedJson(context: HttpContext, body: string): void {
  const tag = createHash('sha256').update(body).digest('base64url');
  sendTagged(context, { tag, type: jsonType, body, headers: ['vary', 'authorization'] });
}
