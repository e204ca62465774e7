import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { toNatsLogin } from './nats-login.js';

it('a hub says who it is by the URL or a file of any kind, and each secret is told to who keeps it out of logs', {
  tags: ['P-539'],
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-nats-login-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = (text: string): string => {
    writeFileSync(join(folder, 'file'), text, { mode: 0o600 });
    return join(folder, 'file');
  };
  const login = (url: string, credentials?: string) => {
    const secrets: string[] = [];
    const { servers, authenticator } = toNatsLogin({ urls: [url], credentials } as never, (secret) => secrets.push(secret));
    const shown = [authenticator].flat()[0]?.('nonce') as Record<string, string> | undefined;
    return { servers, shown, secrets };
  };
  const servers = ['h:4222'];
  expect(login('nats://hub:pass%20word@h')).toEqual({ servers, shown: { user: 'hub', pass: 'pass word' }, secrets: ['pass word'] });
  expect(login('token@h')).toEqual({ servers, shown: { auth_token: 'token' }, secrets: ['token'] });
  expect(login('h', file('hub:word:2\n'))).toEqual({ servers, shown: { user: 'hub', pass: 'word:2' }, secrets: ['word:2'] });
  expect(login('h', file('token-of-a-file'))).toEqual({ servers, shown: { auth_token: 'token-of-a-file' }, secrets: ['token-of-a-file'] });
  const pair = nkeys.createUser();
  const seed = new TextDecoder().decode(pair.getSeed());
  const signed = { nkey: pair.getPublicKey(), sig: expect.any(String) };
  expect(login('h', file(`${seed}\n`))).toEqual({ servers, shown: signed, secrets: [seed] });
  const jwt = 'e'.repeat(50);
  const section = (name: string, text: string): string => `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n`;
  const creds = login('h', file(section('NATS USER JWT', jwt) + section('USER NKEY SEED', seed)));
  expect(creds).toMatchObject({ shown: { ...signed, jwt }, secrets: expect.arrayContaining([jwt, seed]) });
  expect(() => login('h', file(' '))).toThrow('is empty');
  expect(() => login('h', join(folder, 'none'))).toThrow('there is none at');
  const ca = file('a certificate');
  expect(toNatsLogin({ urls: ['h'], tls: { ca } } as never).tls).toEqual({ caFile: ca });
  expect(toNatsLogin({ urls: ['tls://h'] } as never).tls).toEqual({});
});
