// @module-tag P-378
// @module-tag P-384

import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished } from 'vitest';
import { coreAndDeep } from '../support/core-and-deep.js';
import { openLiar } from '../support/lying-server.js';
import { Program } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};
const json = (response: ServerResponse, status: number, body: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body));

/** A server whose refresh tokens are good for one use: a second use ends the login, as a theft would. */
async function open() {
  const state = {
    number: 0,
    renewals: 0,
    stolen: false,
    refuses: false,
    good: '',
    answer: undefined as ((sent: string) => [number, unknown]) | undefined,
  };
  const issue = () => {
    state.number++;
    state.good = `access-${state.number}-secret`;
    return { access_token: state.good, token_type: 'Bearer', expires_in: 3600, refresh_token: `refresh-${state.number}-secret` };
  };
  const { origin } = await openLiar({
    token: async (request, response) => {
      const sent = new URLSearchParams(await readBody(request));
      if (sent.get('grant_type') === 'authorization_code') return json(response, 200, issue());
      state.renewals++;
      const [status, body] = state.answer?.(String(sent)) ?? [];
      if (status !== undefined) return json(response, status, body);
      state.stolen ||= sent.get('refresh_token') !== `refresh-${state.number}-secret`;
      return state.stolen ? json(response, 400, { error: 'invalid_grant' }) : json(response, 200, issue());
    },
    mcp: async (request, response) => {
      const { id, method } = JSON.parse((await readBody(request)) || '{}') as JsonObject;
      if (state.refuses || state.good === '' || request.headers.authorization !== `Bearer ${state.good}`)
        return void response.writeHead(401).end();
      if (id === undefined) return void response.writeHead(202).end();
      const results: Record<string, JsonObject> = {
        initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'r', version: '1' } },
        'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text: 'hi' }] },
      };
      const result = results[String(method)];
      json(response, 200, { jsonrpc: '2.0', id, ...(result === undefined ? { error: { code: -32601, message: 'no' } } : { result }) });
    },
  });
  const servers = { remote: { url: `${origin}/mcp`, era: 'legacy' } };
  const hub = await ServedHub.start({ servers, args: ['--notebook', 'none', '--verbose'] });
  onTestFinished(() => hub[Symbol.asyncDispose]());
  const lines: string[] = [];
  const login = new Program({ args: ['login', 'remote', '--config', hub.configFile], env: hub.env, onLine: (line) => lines.push(line) });
  onTestFinished(() => login[Symbol.asyncDispose]());
  await login.until(() => lines.length > 0);
  const opened = new URL(lines[0] ?? '');
  const callback = new URL(opened.searchParams.get('redirect_uri') ?? '');
  for (const [name, value] of Object.entries({ state: opened.searchParams.get('state') ?? '', code: 'c', iss: origin }))
    callback.searchParams.set(name, value);
  await fetch(callback);
  expect(await login.ended, login.stderr).toBe(0);
  return { state, hub, servers, call: async (at = hub) => (await at.call('remote', 'echo', {}, at.ownerToken)).answer };
}

describe('a refresh token that is good for one use', () => {
  it('is used once, by 50 calls at once in two hubs of one user', { tags: ['P-362'] }, async () => {
    const { state, hub, servers, call } = await open();
    expect(await call()).toMatchObject({ success: true });
    const second = await ServedHub.start({ servers, args: ['--notebook', 'none'] }, hub);
    onTestFinished(async () => void (await second.stop()));
    expect(await call(second)).toMatchObject({ success: true });
    for (let round = 1; round <= 3; round++) {
      state.good = 'ended';
      const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => call(n % 2 === 0 ? hub : second)));
      expect([state.stolen, state.renewals]).toEqual([false, round]);
      expect(answers.filter(({ success }) => success !== true)).toEqual([]);
    }
  });

  it('is not used again and again where the server refuses what it brings: not by two hubs that hear of each other either', {
    tags: ['deep'],
    timeout: 400_000,
  }, async () => {
    const { state, hub, servers, call } = await open();
    const second = await ServedHub.start({ servers, args: ['--notebook', 'none'] }, hub);
    onTestFinished(async () => void (await second.stop()));
    for (const at of [hub, second]) expect(await call(at)).toMatchObject({ success: true });
    state.refuses = true;
    for (const at of [hub, second]) expect(await call(at)).toMatchObject({ success: false });
    for (const at of [hub, second]) expect(await call(at)).toMatchObject({ success: false });
    // Together these take longer than two looks at the login.
    for (let run = 0; run < 15; run++) await hub.run('servers', '--json');
    const before = state.renewals;
    for (let run = 0; run < 15; run++) await hub.run('servers', '--json');
    expect(state.renewals).toBe(before);
    expect(state.stolen).toBe(false);
    // Some thirty programs, one after the other.
  });

  for (const { cells, tags } of coreAndDeep<[string, (sent: string) => [number, unknown]]>(
    [
      ['an error with it', (sent) => [400, { error: 'invalid_request', error_description: sent }]],
      ['a page with it', (sent) => [502, `<p>${sent}</p>`]],
      ['it in place of JSON', (sent) => [200, sent.replace(/.*refresh_token=/, '')]],
      ['it as a code', (sent) => [400, { error: sent }]],
      ['it as a token of another shape', (sent) => [200, { access_token: { sent }, token_type: sent }]],
      ['a line that is none', (sent) => [200, { access_token: `${sent}\r\nX: 1`, token_type: 'Bearer', expires_in: Number.MAX_VALUE }]],
    ],
    (_, index) => index === 0,
  )) {
    it.each(cells)('is in no answer, log or audit when the authorization server answers with %s', { tags }, async (_, answer) => {
      const { state, hub, call } = await open();
      expect(await call()).toMatchObject({ success: true });
      const secret = `refresh-${state.number}-secret`;
      state.answer = answer;
      state.good = 'ended';
      const said = await call();
      expect(said).toMatchObject({ success: false });
      const { stdout, stderr } = await hub.run('servers', '--json');
      const audit = readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8');
      expect(JSON.stringify(said) + hub.stderr + hub.stdout + audit + stdout + stderr).not.toMatch(
        new RegExp(`${secret}|${secret.slice(0, 10)}`),
      );
      // The login goes on once the authorization server does; a start that was under way may still have its last answer.
      state.answer = undefined;
      await expect.poll(async () => (await call()).success).toBe(true);
    });
  }

  it('is kept where the authorization server is down for a while', { tags: ['deep'] }, async () => {
    const { state, call } = await open();
    expect(await call()).toMatchObject({ success: true });
    state.answer = () => [503, { error: 'temporarily_unavailable' }];
    state.good = 'ended';
    expect(await call()).toMatchObject({ success: false, error_code: 'upstream_unavailable' });
    state.answer = undefined;
    await expect.poll(async () => (await call()).success).toBe(true);
  });
});
