import { createHmac, randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import { createReplica, type NotebookDocument } from '../../../src/model/document.js';
import type { Hello, HostMessage, ViewerAction } from '../../../src/viewer/protocol.js';
import { type ChallengeAnswer, challengePath, proofText } from '../../../src/viewer/window-proof.js';
import { until } from './until.js';

type Failed = Extract<HostMessage, { type: 'failed' }>;

export interface WindowOptions {
  /** Default: one for the key that the address gives. */
  ticket?: string | undefined;
  origin?: string | undefined;
  headers?: Record<string, string>;
  protocols?: string[];
  path?: string;
  address?: string;
  autoPong?: boolean;
}

/** A window as a browser's page would be one: a socket and a replica. */
export class TestWindow {
  readonly socket: WebSocket;
  readonly messages: HostMessage[] = [];
  hello: Hello | undefined;
  replica: NotebookDocument | undefined;
  closed: { code: number; reason: string } | undefined;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Failed) => void }>();
  #lastId = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => this.#take(JSON.parse(String(data)) as HostMessage));
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
    socket.on('error', () => {});
  }

  /** Resolves to what the host answers; rejects with its `failed` message. */
  ask(action: ViewerAction): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ type: 'request', id, action }));
    });
  }

  of<Type extends HostMessage['type']>(type: Type): Extract<HostMessage, { type: Type }>[] {
    return this.messages.filter((message): message is Extract<HostMessage, { type: Type }> => message.type === type);
  }

  #take(message: HostMessage): void {
    this.messages.push(message);
    if (message.type === 'hello') {
      this.hello = message;
      this.replica = createReplica(message.document);
    } else if (message.type === 'change') this.replica?.apply(message.change);
    else if (message.type === 'done') this.#settle(message.id)?.resolve(message.value);
    else if (message.type === 'failed') this.#settle(message.id)?.reject(message);
  }

  #settle(id: number) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }
}

/** Opens a window that has been greeted. */
export async function openWindow(url: string): Promise<TestWindow> {
  const window = new TestWindow(await dial(url));
  await until(() => window.hello ?? (window.closed && Promise.reject(new Error(`closed: ${window.closed.code}`))));
  return window;
}

/** The status with which the server refuses a socket, and what it says; 101 if it does not. */
export async function refusalOf(url: string, options: WindowOptions = {}): Promise<{ status: number; text: string }> {
  const socket = await dial(url, options);
  return new Promise((resolve, reject) => {
    socket.on('open', () => {
      socket.terminate();
      resolve({ status: 101, text: '' });
    });
    socket.on('error', (error) => reject(error));
    socket.on('unexpected-response', (_, response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
  });
}

/** The windows' key, for the token of an address. */
export async function enter(url: string): Promise<{ status: number; text: string }> {
  const { hash, origin } = new URL(url);
  const body = hash.slice('#token='.length);
  const answer = await fetch(new URL('/enter', origin), { method: 'POST', headers: { origin }, body });
  return { status: answer.status, text: await answer.text() };
}

/** What the host answers to a window's nonce. */
export async function challenge(origin: string, nonce = randomBytes(24).toString('base64url')) {
  const answer = await fetch(new URL(challengePath, origin), { method: 'POST', headers: { origin }, body: nonce });
  const { nonce: theirs, proof } = (await answer.json()) as ChallengeAnswer;
  return { nonces: [nonce, theirs] as const, proof };
}

/** What opens one socket of a page of this origin, for who knows the key. */
export async function ticketFor(origin: string, key: string): Promise<string> {
  const { nonces } = await challenge(origin);
  return [...nonces, sign(key, proofText({ side: 'window', origin, nonces }))].join('.');
}

export function sign(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}

/** `url` is that of the host, with its fragment. */
export async function dial(url: string, options: WindowOptions = {}): Promise<WebSocket> {
  const { port, origin } = new URL(url);
  const path = options.path ?? '/viewer';
  const address = options.address ?? 'localhost';
  const own = origin.replace('localhost', address);
  const ticket = 'ticket' in options ? options.ticket : await ticketFor(own, (await enter(url)).text);
  const target = `ws://${address}:${port}${path}${ticket === undefined ? '' : `?ticket=${ticket}`}`;
  const given = 'origin' in options ? options.origin : own;
  return new WebSocket(target, options.protocols ?? ['notebridge-viewer'], {
    headers: options.headers ?? {},
    autoPong: options.autoPong ?? true,
    ...(given === undefined ? {} : { origin: given }),
  });
}
