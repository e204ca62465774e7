import { connect, type Socket } from 'node:net';

export interface RawRequest {
  method?: string;
  target?: string;
  /** In place of the usual header of that name: another value, several, or none for undefined. */
  headers?: Record<string, string | string[] | undefined>;
  body?: string | Uint8Array;
}

export interface RawReply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The bytes of a request, to the letter, asking for the end of the connection unless told otherwise. */
export function requestBytes(port: number, { method = 'GET', target = '/', headers = {}, body }: RawRequest): Buffer {
  const usual = {
    host: `127.0.0.1:${port}`,
    connection: 'close',
    'content-length': body === undefined ? undefined : String(Buffer.byteLength(body)),
  };
  const lines = Object.entries({ ...usual, ...headers }).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => (value === undefined ? [] : [`${name}: ${value}`])),
  );
  return Buffer.concat([Buffer.from(`${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`), Buffer.from(body ?? '')]);
}

/** Sends bytes and reads until the other side hangs up. */
export function exchange(port: number, bytes: Uint8Array | string, address = '127.0.0.1'): Promise<string> {
  const socket = connect(port, address);
  socket.write(bytes);
  return untilClosed(socket);
}

/** Everything that still comes on a connection. A reset ends it like a close. */
export function untilClosed(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => {});
    socket.once('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

/** One request on a connection of its own. Status 0 if no answer came. */
export async function rawRequest(port: number, request: RawRequest): Promise<RawReply> {
  return parseReply(await exchange(port, requestBytes(port, request)));
}

export function parseReply(text: string): RawReply {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(statusLine)?.[1] ?? 0), headers, body: text.slice(end + 4) };
}
