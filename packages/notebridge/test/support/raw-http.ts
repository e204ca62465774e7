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
  return untilClosed(sent(port, bytes, address));
}

function sent(port: number, bytes: Uint8Array | string, address: string): Socket {
  const socket = connect(port, address);
  socket.write(bytes);
  return socket;
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

/** Like `rawRequest`, but of a stream of events, which has no end of its own, only the head. */
export async function rawRequestOrHead(port: number, request: RawRequest): Promise<RawReply> {
  const socket = sent(port, requestBytes(port, request), '127.0.0.1');
  let head = '';
  socket.on('data', (chunk: Buffer) => {
    head = (head + chunk.toString('latin1')).slice(0, 10_000);
    if (/^content-type: text\/event-stream[^]*\r\n\r\n/im.test(head)) socket.destroy();
  });
  return parseReply(await untilClosed(socket));
}

export function parseReply(text: string): RawReply {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(statusLine)?.[1] ?? 0), headers, body: text.slice(end + 4) };
}
