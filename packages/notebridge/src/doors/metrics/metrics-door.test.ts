import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpApp } from '../http/http-app.js';
import { TimeShare } from '../owner/time-share.js';
import { createMetricsDoor } from './metrics-door.js';

let server: Server | undefined;
afterEach(() => new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve))));

/** A hub whose store can tell of no grant, as that of a cluster without NATS; pods call it by `allowHosts`. */
async function open(
  allowHosts: readonly string[] = [],
  app = createHttpApp({ allowHosts }),
): Promise<(options: { token?: string; host?: string }) => Promise<number>> {
  createMetricsDoor(app, {
    metrics: { contentType: 'text/plain', scrape: async () => 'up 1\n' },
    scrapers: { has: (authorization) => authorization === 'Bearer mounted' },
    authenticate: () => {
      throw new BridgeError('cluster_unavailable', 'The cluster is away.', { data: { reason: 'unverified' } });
    },
    share: new TimeShare({ share: 0.2, burstMs: 1000 }),
  });
  const listening = createServer((request, response) => app.handle(request, response));
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo;
  const { request } = await import('node:http');
  return ({ token, host }) =>
    new Promise((resolve, reject) => {
      const headers = { ...(token && { authorization: `Bearer ${token}` }), host: host === undefined ? `localhost:${port}` : host };
      const asked = request({ host: '127.0.0.1', port, path: '/metrics', headers, agent: false }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
      });
      asked.once('error', reject).end();
    });
}

describe('/metrics', () => {
  it('is open to mounted tokens also while no grant can be verified', { tags: ['P-718'] }, async () => {
    const scrape = await open();
    expect(await scrape({ token: 'mounted' })).toBe(200);
    expect(await scrape({ token: 'another' })).toBe(503);
  });

  it('is open while the hub ends', { tags: ['P-737'] }, async () => {
    const app = createHttpApp();
    const scrape = await open([], app);
    app.drain();
    expect(await scrape({ token: 'mounted' })).toBe(200);
  });

  it('is scraped at the address of a pod and at its name below the headless Service', { tags: ['P-717'] }, async () => {
    const name = 'hubs-notebridge-0.hubs-notebridge-hubs.tools.svc.cluster.local';
    const scrape = await open(['10.1.2.3', 'fd00:10:244::7', name]);
    const at = (host: string): Promise<number> => scrape({ token: 'mounted', host });
    const { port } = (server as Server).address() as AddressInfo;
    for (const host of ['10.1.2.3', '[fd00:10:244::7]', name]) expect(await at(`${host}:${port}`), host).toBe(200);
    for (const host of ['10.1.2.4', '[fd00:10:244::8]', 'fd00:10:244::7', `x.${name}`]) expect(await at(`${host}:${port}`), host).toBe(403);
  });
});
