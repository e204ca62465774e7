import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Slot, type SlotOptions, type Visitor } from './slot.js';

const origin = 'https://notebook.test';
const profile = { name: 'test', title: 'Test', origins: [origin], defaultUrl: origin, tools: [] };
/** No ping of its own ends a page while a test runs. */
const pingMs = 600_000;

const pages: WebSocket[] = [];
const slots: Slot[] = [];
let port: number;
let onVisit: (visit: { socket: WebSocket; stream: Duplex }) => void;
const server = createServer();
const sockets = new WebSocketServer({ noServer: true });
beforeEach(async () => {
  server.removeAllListeners('upgrade');
  server.on('upgrade', (request, stream, head) =>
    sockets.handleUpgrade(request, stream, head, (socket) => onVisit({ socket, stream: request.socket })),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  for (const page of pages.splice(0)) page.terminate();
  for (const slot of slots.splice(0)) await slot.close();
  server.close();
  await once(server, 'close');
});

function createSlot(options: Partial<SlotOptions> = {}): Slot {
  const slot = new Slot({ profile, logger: silentLogger, pingMs, maxMessageBytes: 1000, ...options });
  slots.push(slot);
  return slot;
}

/** A page that dials; `isMute`: it answers no ping. */
async function dial({ isMute = false } = {}) {
  const come = new Promise<{ socket: WebSocket; stream: Duplex }>((resolve) => {
    onVisit = resolve;
  });
  const page = new WebSocket(`ws://127.0.0.1:${port}/`, { autoPong: !isMute });
  pages.push(page);
  const [visit] = await Promise.all([come, once(page, 'open')]);
  return { page, ...visit };
}

function visitorOf({ socket, stream }: { socket: WebSocket; stream: Duplex }, token: string, onOpen = () => {}): Visitor {
  const open = async () => {
    onOpen();
    return socket;
  };
  return { token, origin, open, stream };
}

describe('a slot', () => {
  it('has cut a page that shows no sign of life before the next one is let in: two never answer for one notebook', async () => {
    const slot = createSlot();
    const mute = await dial({ isMute: true });
    await slot.accept(visitorOf(mute, slot.token));
    const gone = once(mute.page, 'close');
    const next = await dial();
    let stood: number | undefined;
    await slot.accept(
      visitorOf(next, slot.token, () => {
        stood = mute.socket.readyState;
      }),
    );
    expect(stood).toBe(WebSocket.CLOSING);
    await gone;
    expect(next.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('offers a resume token at once where nothing is kept on disk, and else with the word that it is there', async () => {
    for (const [save, isKept] of [
      [undefined, undefined],
      [() => Promise.resolve(true), true],
      [() => Promise.resolve(false), false],
    ] as const) {
      const slot = createSlot({ save });
      await slot.accept(visitorOf(await dial(), slot.token));
      const { resume } = slot;
      expect(await resume?.isKept).toBe(isKept);
      // What is on no disk lets nobody in.
      expect(slot.tokens.admits(resume?.token ?? '')).toBe(isKept ?? true);
    }
  });
});
