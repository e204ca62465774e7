// @module-tag deep

import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hubNamesIn, isOwnHub, readHubFile, readHubFiles, writeHubFile } from './hub-file.js';
import { ensureOwnerToken, isNonce, proveOwner, readOwnerToken, verifyProof } from './owner-token.js';

let dir: string;
const servers: Server[] = [];
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'notebridge-owner-')), 'state');
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await rm(join(dir, '..'), { recursive: true, force: true });
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const challengeOf = (url = ''): string => new URL(url, 'http://x').searchParams.get('challenge') ?? '';
const hub =
  (token: string): RequestListener =>
  (request, response) => {
    const nonce = challengeOf(request.url);
    response.end(JSON.stringify({ proof: isNonce(nonce) && proveOwner(token, { nonce, port: request.socket.localPort ?? 0 }) }));
  };

describe('ensureOwnerToken', () => {
  it('makes one private token and keeps it', async () => {
    expect(() => readOwnerToken(dir)).not.toThrow();
    const token = ensureOwnerToken(dir);
    expect(token).toMatch(/^nbo_[\w-]{43}$/);
    expect(ensureOwnerToken(dir)).toBe(token);
    expect((await stat(join(dir, 'owner-token'))).mode & 0o777).toBe(0o600);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
  });

  it('refuses one that others may read, and one that is none, and says what to do', async () => {
    ensureOwnerToken(dir);
    await chmod(join(dir, 'owner-token'), 0o640);
    expect(() => ensureOwnerToken(dir)).toThrow(/is open to other users \(mode 640\).*chmod 600/s);
    await chmod(join(dir, 'owner-token'), 0o600);
    await writeFile(join(dir, 'owner-token'), 'mine\n');
    expect(() => ensureOwnerToken(dir)).toThrow(
      expect.objectContaining({ code: 'bad_grant', message: expect.stringContaining('Remove it') }),
    );
  });
});

describe('isOwnHub', () => {
  it('knows the own hub without showing it the token', async () => {
    const token = ensureOwnerToken(dir);
    const seen: string[] = [];
    const url = await listen((request, response) => {
      seen.push(`${request.url} ${JSON.stringify(request.headers)}`);
      hub(token)(request, response);
    });
    expect(await isOwnHub(url, token)).toBe(true);
    expect(seen).toHaveLength(1);
    expect(seen.join()).not.toContain(token.slice(4));
  });

  it('is the own hub also where a machine that is busy has it answer late', async () => {
    const token = ensureOwnerToken(dir);
    const late: RequestListener = (request, response) => void setTimeout(() => hub(token)(request, response), 3000);
    expect(await isOwnHub(await listen(late), token)).toBe(true);
  });

  it.each<[string, RequestListener]>([
    ['another user knows another token', hub(`nbo_${'a'.repeat(43)}`)],
    ['it says yes to everything', (_, response) => response.end('{"proof":true,"status":"ok"}')],
    ['it gives the question back', (request, response) => response.end(JSON.stringify({ proof: challengeOf(request.url) }))],
    ['it is another kind of server', (_, response) => response.writeHead(404).end('<html>')],
    ['it hangs up', (request) => request.socket.destroy()],
    ['it talks without end', (_, response) => void setInterval(() => response.write('x'.repeat(65_536)), 1).unref()],
  ])('does not take an unknown listener for it: %s', async (_, listener) => {
    expect(await isOwnHub(await listen(listener), ensureOwnerToken(dir))).toBe(false);
  });

  it('does not take an unknown listener for it that relays the challenge to the real one', async () => {
    const token = ensureOwnerToken(dir);
    const real = await listen(hub(token));
    const relay = await listen(
      (request, response) => void fetch(real + request.url).then(async (answer) => response.end(await answer.text())),
    );
    expect(await isOwnHub(real, token)).toBe(true);
    expect(await isOwnHub(relay, token)).toBe(false);
  });

  it('does not follow a redirect', async () => {
    const token = ensureOwnerToken(dir);
    const real = await listen(hub(token));
    const away = await listen((request, response) => response.writeHead(307, { location: real + request.url }).end());
    expect(await isOwnHub(away, token)).toBe(false);
  });

  it('takes no proof for another question', () => {
    const token = ensureOwnerToken(dir);
    const proof = proveOwner(token, { nonce: 'n'.repeat(16), port: 1 });
    expect(verifyProof(token, { nonce: 'n'.repeat(16), port: 1, proof })).toBe(true);
    expect(verifyProof(token, { nonce: 'm'.repeat(16), port: 1, proof })).toBe(false);
    expect(verifyProof(token, { nonce: 'n'.repeat(16), port: 1, proof: undefined })).toBe(false);
  });
});

describe('writeHubFile', () => {
  const here = { name: 'hub', url: 'http://127.0.0.1:1', pid: process.pid, startedAt: 5, version: '1' };

  it('is read while the hub lives, and removed by it alone', async () => {
    const first = await writeHubFile(dir, here);
    expect(readHubFile(dir, 'hub')).toEqual(here);
    expect((await stat(join(dir, 'hub.json'))).mode & 0o777).toBe(0o600);
    const second = await writeHubFile(dir, { ...here, url: 'http://127.0.0.1:2' });
    first.remove();
    expect(readHubFile(dir, 'hub')?.url).toBe('http://127.0.0.1:2');
    second.remove();
    second.remove();
    expect(readHubFile(dir, 'hub')).toBeUndefined();
  });

  it('lets each of several hubs have its own, the usual one first', async () => {
    const usual = await writeHubFile(dir, here);
    const gpu = await writeHubFile(dir, { ...here, name: 'gpu', url: 'http://127.0.0.1:2' });
    await writeHubFile(dir, { ...here, name: 'alpha', url: 'http://127.0.0.1:3' });
    await writeFile(join(dir, 'hub-Not-A-Name.json'), '{}', { mode: 0o600 });
    expect(readHubFiles(dir).map(({ name }) => name)).toEqual(['hub', 'alpha', 'gpu']);
    usual.remove();
    expect(readHubFile(dir, 'hub')).toBeUndefined();
    expect(readHubFile(dir, 'gpu')).toEqual({ ...here, name: 'gpu', url: 'http://127.0.0.1:2' });
    gpu.remove();
    expect(hubNamesIn(dir)).toEqual(['alpha']);
  });

  it('names no hub whose process has ended, and none in a torn file', async () => {
    const { spawn } = await import('node:child_process');
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'close');
    await writeHubFile(dir, { ...here, pid: child.pid ?? 0 });
    expect(readHubFile(dir, 'hub')).toBeUndefined();
    await writeHubFile(dir, here);
    const path = join(dir, 'hub.json');
    await writeFile(path, (await readFile(path, 'utf8')).slice(0, 20));
    expect(readHubFile(dir, 'hub')).toBeUndefined();
  });
});
