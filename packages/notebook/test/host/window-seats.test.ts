// @module-tag P-679

import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { windowSeatsIn } from '../../src/host/kept-files.js';
import { WindowTickets } from '../../src/host/window-tickets.js';
import { proofText } from '../../src/viewer/window-proof.js';
import { temporaryFolder } from './support/folder.js';
import { startHost } from './support/hosts.js';
import { until } from './support/until.js';
import { challenge, dial, enter, openWindow, refusalOf, sign, TestWindow, ticketFor } from './support/window.js';

/** How a notebook is opened again and again. */
async function notebook() {
  const folder = await temporaryFolder();
  return { file: join(folder, 'work.ipynb'), seats: windowSeatsIn(join(folder, 'state')) };
}

describe('a notebook that is opened again', () => {
  it('is where it was, and lets the window of before in', async () => {
    const options = await notebook();
    const first = await startHost(options);
    const { origin } = new URL(first.url);
    const { text: key } = await enter(first.url);
    const { port } = first;
    await first.close();
    const second = await startHost(options);
    expect(second.port).toBe(port);
    const { nonces, proof } = await challenge(origin);
    expect(proof).toBe(sign(key, proofText({ side: 'host', origin, nonces })));
    const ticket = await ticketFor(origin, key);
    expect(await refusalOf(origin, { ticket })).toMatchObject({ status: 101 });
    // Good once, so that who has read it in a log has nothing.
    expect(await refusalOf(origin, { ticket })).toMatchObject({ status: 403 });
    expect(await refusalOf(origin, { ticket: await ticketFor(origin, 'x'.repeat(43)) })).toMatchObject({ status: 403 });
  });

  it('has another port and another key where somebody took its port meanwhile', async () => {
    const options = await notebook();
    const first = await startHost(options);
    const { text: key } = await enter(first.url);
    const { port } = first;
    await first.close();
    const other = createServer();
    await once(other.listen(port, '127.0.0.1'), 'listening');
    try {
      const second = await startHost(options);
      expect(second.port).not.toBe(port);
      expect((await enter(second.url)).text).not.toBe(key);
    } finally {
      other.close();
    }
  });

  it('awaits a window that was open when it ended, so that no second one is opened, and no other', { tags: ['P-698'] }, async () => {
    const options = await notebook();
    const first = await startHost(options);
    expect(await first.windowIsBack()).toBe(false);
    const { origin } = new URL(first.url);
    const { text: key } = await enter(first.url);
    await openWindow(first.url);
    await first.close();
    const second = await startHost(options);
    const isBack = second.windowIsBack();
    const ticket = await ticketFor(origin, key);
    const window = new TestWindow(await dial(origin, { ticket }));
    expect(await isBack).toBe(true);
    await until(() => window.hello);
    window.socket.close();
    await until(() => second.openWindows === 0);
    await second.close();
    const third = await startHost(options);
    expect(await options.seats.read(options.file)).toMatchObject({ hasWindow: false });
    expect(await third.windowIsBack()).toBe(false);
  });

  it('keeps nothing of one in memory, and of each file its own', async () => {
    const { file, seats } = await notebook();
    const [inMemory, one, two] = [
      await startHost({ seats }),
      await startHost({ seats, file }),
      await startHost({ seats, file: `${file}.other.ipynb` }),
    ];
    expect(new Set([inMemory.port, one.port, two.port]).size).toBe(3);
    expect(await seats.read(file)).toMatchObject({ port: one.port });
    expect(await seats.read(`${file}.other.ipynb`)).toMatchObject({ port: two.port });
    expect(await seats.read('')).toBeUndefined();
  });

  it('takes a seat that cannot be read for none', async () => {
    const { file, seats } = await notebook();
    for (const seat of [
      { port: 0, key: 'x'.repeat(43) },
      { port: 80, key: 'short' },
    ]) {
      await seats.write(file, { ...seat, hasWindow: false });
      expect(await seats.read(file)).toBeUndefined();
    }
  });
});

it('a ticket is good for 30 seconds, and for a page of its origin', () => {
  let now = 0;
  const [key, origin] = ['k'.repeat(43), 'http://localhost:1'];
  const tickets = new WindowTickets(key, () => now);
  const nonce = 'n'.repeat(32);
  const take = (from = origin) => {
    const answer = tickets.answer(nonce, from);
    const nonces = [nonce, answer?.nonce ?? ''] as const;
    return [...nonces, sign(key, proofText({ side: 'window', origin: from, nonces }))].join('.');
  };
  expect(tickets.redeem(take(), origin)).toBe(true);
  expect(tickets.redeem(take('http://localhost:2'), origin)).toBe(false);
  const late = take();
  now = 30_001;
  expect(tickets.redeem(late, origin)).toBe(false);
  expect(tickets.answer('short', origin)).toBeUndefined();
});
