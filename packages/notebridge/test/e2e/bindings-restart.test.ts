import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { emitTypeScript } from '@notebridge/bindings/typescript';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { hangsAfterMs } from '../support/hangs-after.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

interface Bindings {
  configure(settings: { url: string; token: string }): void;
  callTool(server: string, tool: string, arguments_?: JsonObject, options?: { timeoutMs?: number }): Promise<unknown>;
}

const servers = { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] } };
const args = ['--notebook', 'none'];

let folder: string;
let bindings: Bindings;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-restart-'));
  const { files } = await emitTypeScript({ servers: [], skills: false, hubUrl: undefined });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  bindings = await import(pathToFileURL(join(folder, 'client.js')).href);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a call is made once by a hub that drains and is started again; one that was under way is not made again', {
  tags: ['P-713'],
}, async () => {
  const hub = await ServedHub.start({ servers, args, notebridge: { drainMs: 300 } });
  onTestFinished(() => hub[Symbol.asyncDispose]());
  bindings.configure({ url: hub.url, token: hub.ownerToken });
  const count = (n: number) => bindings.callTool('calls', 'count', { n });
  expect(await count(1)).toBe('1');
  const running = bindings.callTool('calls', 'wait', { key: 'k' }).catch(({ code }: { code: string }) => code);
  await vi.waitUntil(() => linesOf(join(hub.home, 'count')).includes('wait k'), { timeout: hangsAfterMs });
  hub.child.kill('SIGTERM');
  await hub.logged('may still end');
  const during = count(2);
  expect(['hub_gone', 'connection_lost', 'closed', 'upstream_unavailable']).toContain(await running);
  await hub.ended;
  const away = count(3);
  const again = await ServedHub.start({ servers, args, port: hub.port }, hub);
  onTestFinished(() => again[Symbol.asyncDispose]());
  expect(await Promise.all([during, away])).toEqual(['2', '3']);
  const begun = linesOf(join(hub.home, 'count')).filter((line) => !line.startsWith('cancelled'));
  expect(begun.sort()).toEqual(['count 1', 'count 2', 'count 3', 'wait k']);
});

it('nobody waits for a hub that never answered', { tags: ['P-713'] }, async () => {
  // Nothing listens there, and fetch does not refuse it as a bad port.
  bindings.configure({ url: 'http://127.0.0.1:2', token: 't' });
  await expect(bindings.callTool('calls', 'count', {}, { timeoutMs: 20_000 })).rejects.toMatchObject({ code: 'hub_unreachable' });
});
