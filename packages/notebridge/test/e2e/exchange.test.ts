// @module-tag deep
// @module-tag P-134

import { spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { bareEnvironment } from '../support/bare-environment.js';
import { ServedHub } from '../support/served-hub.js';
import { createTokenIssuer, issuerName, subjectName } from '../support/token-issuer.js';
import { fixtureServer } from '../support/upstreams.js';

const issuer = createTokenIssuer();
const program = fileURLToPath(new URL('../../../../deploy/exchange.py', import.meta.url));
const servers = { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'] } };
const rule = { issuer: issuerName, subject: subjectName, keys: 'keys.json', allow: ['calls:echo'], ttlMs: 60_000 };
let hub: ServedHub;
beforeAll(async () => {
  hub = await ServedHub.start({ servers, notebridge: { exchange: [rule] }, args: ['--notebook', 'none'] });
  writeFileSync(join(hub.home, 'keys.json'), JSON.stringify(issuer.keySet));
});
afterAll(() => hub[Symbol.asyncDispose]());
const exchange = (token?: string) => hub.request('/api/v1/exchange', { body: {}, ...(token === undefined ? {} : { token }) });

it('a pod trades its service account token for a grant, which opens what the rule allows and nothing else', async () => {
  const response = await exchange(issuer.sign());
  expect({ status: response.status, cache: response.headers.get('cache-control') }).toEqual({ status: 200, cache: 'no-store' });
  const { token, ...rest } = (await response.json()) as { token: string };
  expect(rest).toMatchObject({ token_type: 'Bearer', allow: ['calls:echo'], read_only: false });
  expect(await hub.call('calls', 'echo', { a: 1 }, token)).toMatchObject({ status: 200, answer: { success: true, result: { a: 1 } } });
  expect((await hub.call('calls', 'env', {}, token)).answer).toMatchObject({ success: false, error_code: 'denied' });
  // The token of the cluster itself opens nothing.
  expect((await hub.call('calls', 'echo', {}, issuer.sign())).status).toBe(401);
});

it('a caller without such a token is told so with 401, and what was wrong stands in the log alone', async () => {
  expect((await exchange()).status).toBe(401);
  expect((await exchange(hub.ownerToken)).status).toBe(401);
  const forged = createTokenIssuer().sign();
  const response = await exchange(forged);
  expect(response.status).toBe(401);
  expect(await response.json()).toEqual({ detail: expect.stringContaining('not exchanged here'), error_code: 'bad_grant' });
  await hub.until(() => hub.log().some(({ msg, why }) => msg === 'A token was not exchanged.' && String(why).includes('has signed it')));
  expect(hub.stderr).not.toContain(forged);
});

it('a hub whose config names no issuer exchanges nothing', async () => {
  await using other = await ServedHub.start({ args: ['--notebook', 'none'] });
  expect((await other.request('/api/v1/exchange', { body: {}, token: issuer.sign() })).status).toBe(404);
});

it("the program of Jupyter's pod keeps a token in a private file, as soon as the hub takes its own", { timeout: 300_000 }, async () => {
  const python = await pythonWith([]);
  const [source, target] = [join(hub.home, 'own'), join(hub.home, 'kept')];
  writeFileSync(source, createTokenIssuer().sign());
  const env = { ...bareEnvironment(), NOTEBRIDGE_URL: hub.url, SERVICE_ACCOUNT_TOKEN_FILE: source, NOTEBRIDGE_TOKEN_FILE: target };
  const child = spawn(python, [program], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await expect.poll(() => said).toMatch(/^exchange: not exchanged, next try in 1 s: 401 .*not exchanged here/);
    // As Kubernetes does when it renews the token.
    writeFileSync(source, `${issuer.sign()}\n`);
    // It may have tried in vain once more before.
    await expect.poll(() => said).toMatch(/^exchange: the token in .* is good for \d+ s/m);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    const token = readFileSync(target, 'utf8').trim();
    const { answer } = await hub.call('calls', 'echo', { b: 2 } satisfies JsonObject, token);
    expect(answer).toMatchObject({ success: true, result: { b: 2 } });
  } finally {
    child.kill('SIGKILL');
  }
});
