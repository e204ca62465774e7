import { printMessage } from '@notebridge/protocol/core/wire';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { ownPackageFolder, readOwnBytes } from '@notebridge/system/files/own-files';
import { AuthBackoff } from '@notebridge/system/net/auth-backoff';
import { openedLifeMs } from '@notebridge/system/net/entry-codes';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import type { HttpApp } from '../http/http-app.js';
import { type HttpContext, sendBody, sendEmpty } from '../http/http-context.js';
import { refuse } from '../http/refusal.js';
import { consoleLinkRoute, ownerPrefix } from '../owner/owner-routes.js';
import type { ConsoleSessions } from './console-sessions.js';

export interface ConsoleDoorOptions {
  sessions: ConsoleSessions;
  /** Of whom a link is given to: the owner alone, by the owner's own token. */
  authenticate: Authenticate;
}

/** Where the console stands. */
const consolePath = '/console';

/** No inline script or style; it reaches nothing but this server, and nothing shows it in a frame. */
const pageHeaders = [
  'content-security-policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy',
  'same-origin',
];
const typeOf: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};
const fileName = /^[\w-]{1,80}\.(js|css|svg|txt)$/;

/** Adds the page by which the owner watches the hub. Its files hold nothing secret; all that it shows comes from the owner's routes. Call it before `listenHttp`. */
export function createConsoleDoor(app: HttpApp, { sessions, authenticate }: ConsoleDoorOptions): void {
  const authenticator = new Authenticator(authenticate, { onRefused: app.refused });
  const backoff = new AuthBackoff();
  app.addRoute({
    methods: ['POST'],
    path: `${ownerPrefix}${consoleLinkRoute.path}`,
    authenticator,
    handle: (context) => {
      const { principal, request } = context;
      if (principal.kind !== 'owner') return context.refuse(forOwnerAlone);
      const lifeMs = context.query.get('opens') === 'true' ? openedLifeMs : undefined;
      const address = newConsoleAddress(`http://${request.headers.host}`, sessions, lifeMs);
      context.sendJson(200, printMessage({ address }));
    },
  });
  app.addRoute({ methods: ['GET', 'HEAD'], path: consolePath, handle: (context) => sendFile(context, 'index.html') });
  // Where a person lands who opens the address of the hub.
  for (const path of ['/', `${consolePath}/`])
    app.addRoute({
      methods: ['GET', 'HEAD'],
      path,
      isHidden: true,
      handle: ({ response, headers }) => sendEmpty(response, 303, [...headers, 'location', consolePath]),
    });
  app.addRoute({
    methods: ['GET', 'HEAD'],
    path: `${consolePath}/:file`,
    isHidden: true,
    handle: (context) => {
      const [name = ''] = context.params;
      return fileName.test(name) ? sendFile(context, name) : context.refuse(nothingHere);
    },
  });
  app.addRoute({
    methods: ['POST'],
    path: `${consolePath}/enter`,
    handle: async (context) => {
      const { request, response, headers } = context;
      const entered = await sessions.enter(request.headers.authorization, request.socket);
      if ('token' in entered) return sendBody(response, 200, entered.token, [...headers, 'content-type', typeOf.txt ?? '']);
      app.refused(request, { reason: entered.fault });
      if (entered.fault === 'other_user') return context.refuse(refuse(403, faults.other_user));
      // One that was given out is no guess.
      if (entered.fault !== 'unknown') return context.refuse(refuse(410, faults[entered.fault]));
      if (await backoff.wait()) return context.refuse(refuse(403, faults.unknown));
      context.refuse(refuse(429, 'Too many wrong codes. Try again later.', ['retry-after', '2']));
    },
  });
  app.addRoute({
    methods: ['POST'],
    path: `${consolePath}/leave`,
    handle: ({ request, response, headers }) => {
      sessions.leave(request.headers.authorization);
      sendEmpty(response, 204, headers);
    },
  });
}

/** An address that opens the console signed in, once, within 15 minutes, or so many milliseconds. A secret until then. */
export function newConsoleAddress(origin: string, sessions: ConsoleSessions, lifeMs?: number): string {
  return `${origin}${consolePath}#code=${sessions.newCode(lifeMs)}`;
}

const nothingHere = refuse(404, 'Nothing is served at this path.');
const forOwnerAlone = refuse(403, 'This is for the owner of the hub alone.');
const faults = {
  used: 'This address was used already: each opens the console once. Run `notebridge console` again.',
  expired:
    'This address has ended: it is good for 15 minutes, or for one where the browser was opened with it. Run `notebridge console` again.',
  unknown: 'This is no address or code of this hub; it may have been started anew since. Run `notebridge console` again.',
  other_user:
    'This address is good for programs of the user who runs the hub, and this browser is none that can be told to be one. Type a code below.',
};

async function sendFile(context: HttpContext, name: string): Promise<void> {
  const { response, headers } = context;
  try {
    const body = await readOwnBytes(ownPackageFolder(), `dist/console-page/${name}`);
    const type = typeOf[name.slice(name.lastIndexOf('.') + 1)] ?? '';
    sendBody(response, 200, body, [...headers, ...pageHeaders, 'content-type', type]);
  } catch (error) {
    if (name !== 'index.html' && errnoOf(error) === 'ENOENT') return context.refuse(nothingHere);
    context.refuse(refuse(503, 'The console is not built. Run: npm run build'));
  }
}
