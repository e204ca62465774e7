import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { errnoOf } from '@notebridge/protocol/util/errno';

/** What came back from the authorization server, in the browser of the person. */
export interface LoginAnswer {
  code: string;
  /** Who it says that it is (RFC 9207). */
  iss: string | undefined;
}

export interface LoginCallback {
  /** The address to come back to. */
  redirectUrl: string;
  /** What must come back with it. */
  state: string;
  /** Resolves with the first answer that has the state. Rejects with `denied` if the person or the server said no, or `timeout`. */
  answer: Promise<LoginAnswer>;
  /** Closing twice is harmless. */
  close(): Promise<void>;
}

const path = '/callback';
const nothingHere = 'Nothing is served here.';

/** Listens on loopback for the end of one login. Rejects with `port_in_use`. `port`: 0 for any. */
export async function openLoginCallback({ port, timeoutMs }: { port: number; timeoutMs: number }): Promise<LoginCallback> {
  const state = randomBytes(32).toString('base64url');
  let settle: (end: LoginAnswer | BridgeError) => void = () => {};
  const answer = new Promise<LoginAnswer>((resolve, reject) => {
    settle = (end) => (end instanceof BridgeError ? reject(end) : resolve(end));
  });
  // Who closes it before an answer waits for none.
  answer.catch(() => {});
  const server = createServer((request, response) => {
    const end = takeAnswer(request, response, state);
    if (end !== undefined) settle(end);
  });
  server.headersTimeout = 5000;
  server.listen({ port, host: '127.0.0.1', exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    const next = port === 0 ? '' : ' End what listens there; the port is "auth.redirectPort" of the config, or that of the login before.';
    throw new BridgeError('port_in_use', `Cannot listen on 127.0.0.1:${port} (${errnoOf(error) ?? 'unknown'}).${next}`, {
      cause: error,
      data: { port },
    });
  }
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  const timer = setTimeout(
    () =>
      settle(
        new BridgeError(
          'timeout',
          `Nobody came back from the login within ${timeoutMs / 1000} s. Run the command again; if the page did not know this client, "notebridge logout" first.`,
        ),
      ),
    timeoutMs,
  );
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    clearTimeout(timer);
    server.close();
    server.closeIdleConnections();
    const cut = setTimeout(() => server.closeAllConnections(), 500);
    await once(server, 'close');
    clearTimeout(cut);
  };
  return {
    redirectUrl: `http://127.0.0.1:${bound}${path}`,
    state,
    answer,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** What a request means for the login; undefined: nothing, it is not of this login. */
function takeAnswer(request: IncomingMessage, response: ServerResponse, state: string): LoginAnswer | BridgeError | undefined {
  const [target = '', base] = [request.url, 'http://127.0.0.1'];
  // Anyone may ask for what is no address at all, such as "//".
  if (!URL.canParse(target, base)) return show(response, 404, nothingHere);
  const url = new URL(target, base);
  const of = (name: string): string | undefined => {
    const values = url.searchParams.getAll(name);
    return values.length === 1 ? values[0] : undefined;
  };
  if (request.method !== 'GET' || url.pathname !== path) return show(response, 404, nothingHere);
  // Anyone may send requests to a port of this machine: one that does not know the state ends nothing.
  if (!isSame(of('state'), state)) return show(response, 400, 'This is not the answer to a login that runs now. Go back and start again.');
  const [code, error] = [of('code'), of('error')];
  if (code !== undefined && error === undefined) {
    show(response, 200, 'Notebridge has the answer. You can close this tab; the terminal says whether the login succeeded.');
    return { code, iss: of('iss') };
  }
  show(response, 200, 'The login was refused. The terminal says more.');
  const why = /^[\w.-]{1,60}$/.test(error ?? '') ? ` ("${error}")` : '';
  return new BridgeError('denied', `The authorization server did not allow the login${why}. Run the command again to try once more.`);
}

function isSame(given: string | undefined, state: string): boolean {
  return given !== undefined && given.length === state.length && timingSafeEqual(Buffer.from(given), Buffer.from(state));
}

/** Plain text: nothing that came with the request is ever shown. */
function show(response: ServerResponse, status: number, text: string): undefined {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(`${text}\n`);
  return undefined;
}
