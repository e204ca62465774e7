import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { expect, it, onTestFinished, vi } from 'vitest';
import { writeHubFile } from '../../identity/hub-file.js';
import { ensureOwnerToken, proveOwner } from '../../identity/owner-token.js';
import { findHub } from './own-hub.js';

it('what listens at the address of the hub is used, and shown the token, once it has proved to know it', { tags: ['P-092'] }, async () => {
  const home = mkdtempSync(join(tmpdir(), 'notebridge-find-hub-'));
  vi.stubEnv('XDG_STATE_HOME', home);
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  let proof = (_nonce: string): string => 'guessed';
  const heard: string[] = [];
  const stranger = createServer(({ url = '', headers }, response) => {
    heard.push(`${url.split('=')[0]} ${headers.authorization}`);
    response.end(JSON.stringify({ proof: proof(new URL(url, 'http://h').searchParams.get('challenge') ?? '') }));
  });
  onTestFinished(() => {
    stranger.close();
    said.mockRestore();
    vi.unstubAllEnvs();
    rmSync(home, { recursive: true, force: true });
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  const { port } = stranger.address() as AddressInfo;
  const token = ensureOwnerToken(stateDir());
  await writeHubFile(stateDir(), { name: 'hub', url: `http://127.0.0.1:${port}`, pid: process.pid, startedAt: 1, version: '1' });
  expect(await findHub()).toBeUndefined();
  expect(said.mock.calls.join('')).toContain('is not your hub');
  // A proof that was made for another port: the challenge was relayed.
  proof = (nonce) => proveOwner(token, { nonce, port: port + 1 });
  expect(await findHub()).toBeUndefined();
  proof = (nonce) => proveOwner(token, { nonce, port });
  expect(await findHub()).toMatchObject({ token });
  expect(heard).toEqual(Array(3).fill('/healthz?challenge undefined'));
});
