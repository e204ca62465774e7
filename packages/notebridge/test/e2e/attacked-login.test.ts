// @module-tag P-378

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished } from 'vitest';
import { coreAndDeep } from '../support/core-and-deep.js';
import { type Answer, type Lies, openLiar } from '../support/lying-server.js';
import { Program } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';

/** The command, with a person who opens what it prints. */
async function startLogin(origin: string, ...more: string[]) {
  const hub = await ServedHub.start({ servers: { remote: { url: `${origin}/mcp` } }, args: ['--notebook', 'none'] });
  onTestFinished(() => hub[Symbol.asyncDispose]());
  const lines: string[] = [];
  const args = ['login', 'remote', '--config', hub.configFile, ...more];
  const program = new Program({ args, env: hub.env, onLine: (line) => lines.push(line) });
  onTestFinished(() => program[Symbol.asyncDispose]());
  await program.until(() => lines.length > 0 || program.stderr.includes('notebridge: '));
  const opened = new URL(lines[0] ?? 'http://nothing.test');
  const callback = new URL(opened.searchParams.get('redirect_uri') ?? opened);
  callback.searchParams.set('state', opened.searchParams.get('state') ?? '');
  callback.searchParams.set('code', 'the-code-of-a-person');
  callback.searchParams.set('iss', origin);
  return { hub, program, callback };
}

/** Bytes as they are, on a connection of their own. Resolves with what came back until its end. */
function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let got = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => {
      got += String(chunk);
    });
    socket.on('error', () => {}).on('close', () => resolve(got));
  });
}

const json = (status: number, body: JsonObject | string): Answer => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (_, response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(text);
};

describe('a login in a terminal', () => {
  for (const { cells, tags } of coreAndDeep(
    ['//', '///x', 'http://[', '//[', '/\\', '*', '/callback?%', 'http://:0/'],
    (target) => target === '///x',
  )) {
    it.each(cells)('goes on when anybody asks its port for %j', { tags: [...tags, 'P-377'] }, async (target) => {
      const { origin } = await openLiar();
      const { program, callback } = await startLogin(origin);
      const answer = await sendRaw(Number(callback.port), `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 40[04]/);
      expect((await fetch(callback)).status).toBe(200);
      expect(await program.ended, program.stderr).toBe(0);
    });
  }

  for (const { cells, tags } of coreAndDeep<[string, Lies]>(
    [
      ['an error of its own words', { token: json(400, { error: 'invalid_grant', error_description: 'it was the-code-of-a-person' }) }],
      ['a code that is the secret', { token: json(400, { error: 'the-code-of-a-person', error_description: 'x' }) }],
      ['a page', { token: json(500, '<p>the-code-of-a-person was not known</p>') }],
      ['what begins like no JSON', { token: json(200, 'the-code-of-a-person') }],
      ['tokens of another shape', { token: json(200, { access_token: ['the-code-of-a-person'], token_type: 'the-code-of-a-person' }) }],
    ],
    (_, index) => index === 0,
  )) {
    it.each(cells)('says no word of a token endpoint that answers with %s, not with --verbose either', { tags }, async (_, lies) => {
      const { origin } = await openLiar(lies);
      const { program, callback } = await startLogin(origin, '--verbose');
      await fetch(callback);
      expect(await program.ended).toBe(1);
      expect(program.stderr).not.toMatch(/code-of-a|the-code/);
    });
  }

  it('shows the person nothing of a server that could deceive', async () => {
    const { origin } = await openLiar({ issuer: { issuer: 'https://good.test/\u202e\u2066moc.live' } });
    const { program } = await startLogin(origin);
    expect(await program.ended).toBe(1);
    expect(program.stderr).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });
});

describe('a token that could not stand in a header', () => {
  for (const { cells, tags } of coreAndDeep(
    ['se-cret\r\nX-Evil: 1', 'se-cret\nrest', 'se-cret\u0000', 'se-cret \u{1f600}', 'se-cret, Bearer other', ''],
    (_, index) => index === 0,
  )) {
    it.each(cells)('is not kept: %j', { tags }, async (token) => {
      const { origin } = await openLiar({ token: json(200, { access_token: token, token_type: 'Bearer' }) });
      const { program, callback, hub } = await startLogin(origin, '--verbose');
      await fetch(callback);
      expect(await program.ended, program.stderr).toBe(1);
      const { answer } = await hub.call('remote', 'echo', {}, hub.ownerToken);
      expect(answer).toMatchObject({ error_code: 'login_required' });
      const audit = readFileSync(join(hub.stateDir, 'audit.jsonl'), 'utf8');
      expect(program.stderr + JSON.stringify(answer) + hub.stderr + audit).not.toContain('se-cret');
    });
  }
});

it('a server that nobody has logged in at is asked once by a hub, and again by the login alone', { tags: ['P-384'] }, async () => {
  const { origin, asked } = await openLiar();
  const hub = await ServedHub.start({ servers: { remote: { url: `${origin}/mcp` } }, args: ['--notebook', 'none'] });
  onTestFinished(() => hub[Symbol.asyncDispose]());
  await hub.logged('nobody has logged in');
  const calls = await Promise.all(Array.from({ length: 20 }, () => hub.call('remote', 'echo', {}, hub.ownerToken)));
  expect(calls.filter(({ answer }) => answer.error_code !== 'login_required')).toEqual([]);
  const before = asked.length;
  // These take longer than it takes to look for a login several times.
  for (let run = 0; run < 4; run++) await hub.run('servers', '--json');
  expect(asked.length).toBe(before);
  expect(before).toBeLessThan(20);
});

it('a login of before is not used once the config accepts another authorization server', { tags: ['P-383'] }, async () => {
  const tokens: unknown[] = [];
  const { origin } = await openLiar({
    mcp: (request, response) => {
      if (request.headers.authorization !== undefined) tokens.push(request.headers.authorization);
      request.resume();
      const resource = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      response.writeHead(401, { 'www-authenticate': resource }).end();
    },
  });
  const { program, callback, hub } = await startLogin(origin);
  await fetch(callback);
  expect(await program.ended, program.stderr).toBe(0);
  await hub.call('remote', 'echo', {}, hub.ownerToken);
  expect(tokens).toContain('Bearer good');
  await hub.stop();
  tokens.length = 0;
  const remote = { url: `${origin}/mcp`, auth: { issuer: 'https://login.test' } };
  const strict = await ServedHub.start({ servers: { remote }, args: ['--notebook', 'none'] }, hub);
  onTestFinished(async () => void (await strict.stop()));
  expect((await strict.call('remote', 'echo', {}, strict.ownerToken)).answer).toMatchObject({ error_code: 'login_required' });
  expect(tokens).toEqual([]);
});
