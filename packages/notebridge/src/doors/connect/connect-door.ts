import type { IncomingMessage, ServerResponse } from 'node:http';
import { createToken, isSameToken } from '@notebridge/protocol/util/token';
import { ownPackageFolder, readOwnBytes } from '@notebridge/system/files/own-files';
import { AuthBackoff } from '@notebridge/system/net/auth-backoff';
import type { EntryGate } from '@notebridge/system/net/entry-gate';
import type { OnRefused } from '@notebridge/system/net/refused-attempt';
import { pathOf } from '@notebridge/system/net/request-head';
import { type BrowserFamily, type ConnectionState, type ConnectionText, toBrowserFamily } from '../../notebooks/connection-state.js';
import { sendBody } from '../http/http-context.js';

/** One notebook as the page `/connect` shows it. */
export interface ConnectionView extends ConnectionText {
  id: string;
  /** What is connected, or is to be: "Google Colab". */
  title: string;
  kind: ConnectionState['kind'];
}

export interface ConnectDoorOptions {
  /** What is shown at this moment. `browser`: the one that it is shown in. */
  views: (browser: BrowserFamily | undefined) => readonly ConnectionView[];
  /** The page has been asked for; its browser may hold connections that say nothing yet. */
  onPage?: (() => void) | undefined;
  /** Takes the codes; who was let in by one may connect a page. */
  gate: EntryGate;
  /** Receives each code and token as it is made, so that no log shows it. */
  addSecret: (secret: string) => void;
  onRefused: OnRefused;
}

export const connectPath = '/connect';

/** No inline script or style; it reaches nothing but this server, and nothing shows it in a frame. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
/** `connection: close`: a port for pages keeps no connection that is none. */
const pageHeaders = ['content-security-policy', contentSecurityPolicy, 'cross-origin-opener-policy', 'same-origin', 'connection', 'close'];

/** What the build lays beside the program, by the end of its path. */
const files = new Map([
  ['', { name: 'index.html', type: 'text/html; charset=utf-8' }],
  ['/connect.js', { name: 'connect.js', type: 'text/javascript; charset=utf-8' }],
  ['/connect.css', { name: 'connect.css', type: 'text/css; charset=utf-8' }],
  ['/icon.svg', { name: 'icon.svg', type: 'image/svg+xml' }],
]);

/**
 * The page that shows a person what keeps a notebook page from connecting. Its files hold nothing secret. What it shows does (addresses with
 * a token), and is given to the holder of this door's token alone, which a person gets for a one-time code, in a header that no page of
 * another origin can send.
 */
export class ConnectDoor {
  readonly #options: ConnectDoorOptions;
  readonly #token = createToken();
  readonly #backoff = new AuthBackoff();

  constructor(options: ConnectDoorOptions) {
    this.#options = options;
    options.addSecret(this.#token);
  }

  /** An address that opens the page once, within 15 minutes. `origin`: `http://localhost:8765`. */
  newAddress(origin: string): string {
    const code = this.#options.gate.issue();
    this.#options.addSecret(code);
    return `${origin}${connectPath}#code=${code}`;
  }

  /** Answers a request whose `Host` has been checked; false for one of another path. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const path = pathOf(request);
    if (path !== connectPath && !path.startsWith(`${connectPath}/`)) return false;
    if (request.method !== 'GET') send(response, 405, 'Only GET is answered here.\n', ['allow', 'GET']);
    else if (isForeign(request)) {
      this.#report(request, 'wrong_origin');
      send(response, 403, 'Pages of other sites are not answered.\n');
    } else void this.#answer(path.slice(connectPath.length), request, response);
    return true;
  }

  async #answer(part: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const file = files.get(part);
    if (part === '/enter') return this.#enter(request, response);
    if (part === '/state') return this.#sendState(request, response);
    if (file === undefined) return send(response, 404, 'Nothing is served at this path.\n');
    if (part === '') this.#options.onPage?.();
    try {
      const body = await readOwnBytes(ownPackageFolder(), `dist/connect-page/${file.name}`);
      sendBody(response, 200, body, [...pageHeaders, 'content-type', file.type]);
    } catch {
      send(response, 503, 'The page is not built. Run: npm run build\n');
    }
  }

  /** Exchanges a code for the token. */
  async #enter(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const verdict = await this.#options.gate.redeem(bearerOf(request), request.socket);
    if (verdict === 'good') return send(response, 200, this.#token);
    if (verdict === 'unknown') return this.#refuse(request, response);
    this.#report(request, verdict === 'used' ? 'expired' : verdict);
    send(response, verdict === 'other_user' ? 403 : 410, verdict);
  }

  async #sendState(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isSameToken(bearerOf(request), this.#token)) return this.#refuse(request, response);
    const notebooks = this.#options.views(toBrowserFamily(request.headers['user-agent']));
    sendBody(response, 200, JSON.stringify({ notebooks }), [...pageHeaders, 'content-type', 'application/json; charset=utf-8']);
  }

  /** Guesses are answered ever more slowly. */
  async #refuse(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#report(request, 'unknown');
    if (await this.#backoff.wait()) send(response, 403, 'unknown');
    else response.destroy();
  }

  #report({ socket }: IncomingMessage, reason: string): void {
    this.#options.onRefused({ door: 'connect', reason, remoteAddress: socket.remoteAddress });
  }
}

/** Sent by another page than ours. A browser names its origin, or says where the request comes from; a program does neither. */
function isForeign({ headers: { origin, 'sec-fetch-site': site } }: IncomingMessage): boolean {
  return origin !== undefined || (site !== undefined && site !== 'same-origin' && site !== 'none');
}

function bearerOf({ headers: { authorization = '' } }: IncomingMessage): string {
  return /^Bearer ([\w-]{1,100})$/.exec(authorization)?.[1] ?? '';
}

function send(response: ServerResponse, status: number, body: string, headers: readonly string[] = []): void {
  sendBody(response, status, body, [...pageHeaders, 'content-type', 'text/plain; charset=utf-8', ...headers]);
}
