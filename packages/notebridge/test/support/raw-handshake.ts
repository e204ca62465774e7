import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { colabOrigin } from './raw-page.js';

export interface HandshakeOptions {
  port: number;
  /** Default: 127.0.0.1. */
  address?: '127.0.0.1' | '::1';
  /** Put into the query, unless `target` says otherwise. */
  token?: string;
  method?: string;
  target?: string;
  /** In place of the usual header of that name: another value, several, or none for undefined. */
  headers?: Record<string, string | string[] | undefined>;
  /** Bytes behind the head, in the same packet. */
  rest?: Uint8Array;
}

/** The head of an upgrade as Colab's browser writes it, but for what a test changes. */
export function handshakeText({ port, token, method = 'GET', target = `/?access_token=${token}`, headers = {} }: HandshakeOptions): string {
  const usual = {
    Host: `localhost:${port}`,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    Origin: colabOrigin,
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Protocol': 'mcp',
  };
  const lines = Object.entries({ ...usual, ...headers }).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => (value === undefined ? [] : [`${name}: ${value}`])),
  );
  return `${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
}

export interface Reply {
  status: number;
  /** Status line, headers and whatever came with them. */
  text: string;
  socket: Socket;
}

/** Dials and writes the handshake, byte for byte. Resolves when the head of the reply is there; status 0 if none came. */
export function shakeHands(options: HandshakeOptions): Promise<Reply> {
  const socket = connect(options.port, options.address ?? '127.0.0.1');
  socket.write(handshakeText(options));
  if (options.rest !== undefined) socket.write(options.rest);
  return replyOn(socket);
}

export function replyOn(socket: Socket): Promise<Reply> {
  let text = '';
  return new Promise((resolve) => {
    const finish = (): void => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text, socket });
    socket.on('error', () => {});
    socket.once('close', finish);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!text.includes('\r\n\r\n')) return;
      // A refusal is complete when its connection ends; an upgraded one stays.
      if (text.startsWith('HTTP/1.1 101')) finish();
    });
  });
}

/** The status of the reply, the connection closed. */
export async function statusOf(options: HandshakeOptions): Promise<number> {
  const { status, socket } = await shakeHands(options);
  socket.destroy();
  return status;
}

/** Sockets that are open and say `text`, which may be nothing. */
export async function dialMany(port: number, count: number, text = ''): Promise<Socket[] & Disposable> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets) socket.write(text);
  const destroy = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return Object.assign(sockets, { [Symbol.dispose]: destroy });
}
