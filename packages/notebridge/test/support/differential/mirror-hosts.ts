import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { text as readText } from 'node:stream/consumers';
import type { JsonObject } from '@notebridge/protocol/json';
import { WebSocketServer } from 'ws';
import { membersOf } from '../raw-json.js';
import { RawPage } from '../raw-page.js';
import { fixtureServer } from '../upstreams.js';
import type { Mirror } from './mirror.js';

/** A way to a mirror, with or without a bridge. */
export interface Lane {
  /** Sends one request and gives the whole answer, both as raw text. */
  send(request: string): Promise<string>;
  close(): Promise<void>;
}

/** Where a mirror is served, and the way to it without a bridge. */
export interface MirrorHost {
  /** Its entry in a config. */
  readonly entry: JsonObject;
  openDirect(): Promise<Lane>;
  close(): Promise<void>;
}

/** Behind a program that is started, and speaks over its stdio. */
export async function hostOverStdio(mirror: Mirror): Promise<MirrorHost> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    createInterface({ input: socket }).on('line', (line) => {
      const answer = mirror.answer(line);
      if (answer !== undefined) socket.write(`${answer}\n`);
    });
  });
  const port = await listen(server);
  const args = [fixtureServer('relay.mjs'), String(port)];
  return {
    entry: { command: process.execPath, args },
    openDirect: async () => {
      const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
      const answers = new Answers();
      createInterface({ input: child.stdout }).on('line', (line) => answers.take(line));
      return {
        send: (request) => answers.of(request, () => void child.stdin.write(`${request}\n`)),
        close: async () => {
          child.stdin.end();
          await once(child, 'close');
        },
      };
    },
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

export async function hostOverHttp(mirror: Mirror): Promise<MirrorHost> {
  const server = createHttpServer(async (request, response) => {
    const answer = request.method === 'POST' ? mirror.answer(await readText(request)) : undefined;
    if (request.method !== 'POST') response.writeHead(405).end();
    else if (answer === undefined) response.writeHead(202).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  const url = `http://127.0.0.1:${await listen(server)}/mcp`;
  return {
    entry: { url },
    openDirect: async () => ({
      send: async (request) => (await fetch(url, { method: 'POST', body: request })).text(),
      close: async () => {},
    }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A page whose socket ends in this test. */
export async function openDirectPage(mirror: Mirror): Promise<Lane> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const connected = once(server, 'connection');
  const page = await openMirrorPage(mirror, { port: (server.address() as AddressInfo).port, token: 'none' });
  const [socket] = await connected;
  const answers = new Answers();
  socket.on('message', (data: unknown) => answers.take(String(data)));
  return {
    send: (request) => answers.of(request, () => socket.send(request)),
    close: async () => {
      await page.close();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A page that dials a bridge. */
export function openMirrorPage(mirror: Mirror, address: { port: number; token: string }): Promise<RawPage> {
  return RawPage.connect({ ...address, answer: (_, page) => mirror.answerMembers(page.received.at(-1) ?? '') });
}

/** Requests that wait for their answers, by the raw text of their ids. */
export class Answers {
  readonly #waiting = new Map<string, (answer: string) => void>();

  take(text: string): void {
    const members = membersOf(text);
    if (!members.has('method')) this.#waiting.get(members.get('id') ?? '')?.(text);
  }

  of(request: string, send: () => void): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting.set(membersOf(request).get('id') ?? '', resolve);
      send();
    });
  }
}

async function listen(server: ReturnType<typeof createServer> | ReturnType<typeof createHttpServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
