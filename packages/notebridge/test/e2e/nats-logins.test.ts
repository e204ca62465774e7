// @module-tag deep

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import type { ClusterSettings } from '@notebridge/cluster/cluster-settings';
import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import type { NatsCluster } from '@notebridge/cluster/nats/nats-cluster';
import type { JsonObject } from '@notebridge/protocol/json';
import { toLogger } from '@notebridge/protocol/util/logger';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { StoreUnavailable } from '@notebridge/system/files/shared-store';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startNats, waitForNats } from '../support/joined-nats.js';
import { type Nats, natsProgram, whyNoNats } from '../support/nats.js';
import { natsSettings } from '../support/nats-settings.js';

const secret = 'a-secret-of-25-characters';
const all = { publish: ['>'], subscribe: ['>'] };
/** What a hub needs at least; docs/config.md has the same. */
const least = {
  publish: [
    'notebridge.notebridge.>',
    '$KV.notebridge-notebridge.>',
    '$JS.API.STREAM.INFO.KV_notebridge-notebridge',
    '$JS.API.STREAM.CREATE.KV_notebridge-notebridge',
    '$JS.API.STREAM.UPDATE.KV_notebridge-notebridge',
    '$JS.API.STREAM.MSG.GET.KV_notebridge-notebridge',
    '$JS.API.CONSUMER.CREATE.KV_notebridge-notebridge.>',
    '$JS.API.STREAM.INFO.notebridge-notebridge-audit',
    '$JS.API.STREAM.CREATE.notebridge-notebridge-audit',
    '$JS.API.STREAM.UPDATE.notebridge-notebridge-audit',
    '$JS.FC.>',
  ],
  subscribe: ['notebridge.notebridge.>', '_INBOX.>'],
};
/** What the log and all errors of a test say. */
let said = '';
const redactor = new Redactor();
const logger = toLogger((level, message, fields) => {
  said += `${level} ${message} ${JSON.stringify(fields)}\n`;
});

describe.skipIf(natsProgram === undefined)(`who a hub is at NATS${whyNoNats}`, { timeout: 120_000 }, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'nats-logins-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
    expect(said).not.toContain(secret);
  });
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };

  it('user and password: in the URL, or in a file', { tags: ['P-539'] }, async () => {
    const nats = await startNats({ config: { authorization: { user: 'hub', password: secret } } });
    await expectWorks(await joinAs(nats.urls.map((url) => url.replace('//', `//hub:${secret}@`))));
    await expectWorks(await joinAs(nats.urls, { credentials: file('userpass', `hub:${secret}\n`) }));
    await expectRefused(nats.urls, {}, /NATS does not let this hub in: .*"notebridge\.cluster\.credentials"/);
    await expectRefused(nats.urls, { credentials: file('wrong', `hub:${secret}x`) }, /does not let this hub in/);
    await expectRefused([`nats://hub:${secret}@127.0.0.1:1`], {}, /Cannot reach NATS at "nats:\/\/127\.0\.0\.1:1"/, 'cluster_unavailable');
    const withSigns = [`nats://hub:x@${secret}@127.0.0.1:1/`];
    await Promise.all([
      ...[`hub:${secret}`, secret, `hub:x@${secret}`].map((user) =>
        expectRefused([`${user}@127.0.0.1:1`], {}, /Cannot reach NATS at "127\.0\.0\.1:1"/, 'cluster_unavailable'),
      ),
      expectRefused(withSigns, {}, /Cannot reach NATS at "nats:\/\/127\.0\.0\.1:1"/, 'cluster_unavailable'),
    ]);
    expect(redactor.redact(`a ${secret} b`)).not.toContain(secret);
  });

  it('a server that has no time to look at credentials has not refused them', { tags: ['P-594'] }, async () => {
    const nats = await startNats({ config: { authorization: { user: 'hub', password: secret, timeout: 0.000_001 } } });
    await expectRefused(urlsOf(nats), {}, /Cannot reach NATS at/, 'cluster_unavailable');
  });

  it('a token: in the URL, or in a file', { tags: ['P-539'] }, async () => {
    const nats = await startNats({ config: { authorization: { token: secret } } });
    await expectWorks(await joinAs(nats.urls.map((url) => url.replace('//', `//${secret}@`))));
    await expectWorks(await joinAs(nats.urls, { credentials: file('token', secret) }));
    await expectRefused(nats.urls, {}, /does not let this hub in/);
  });

  it('the seed of an nkey', { tags: ['P-539'] }, async () => {
    const pair = nkeys.createUser();
    const nats = await startNats({ config: { authorization: { users: [{ nkey: pair.getPublicKey() }] } } });
    await expectWorks(await joinAs(nats.urls, { credentials: file('seed', new TextDecoder().decode(pair.getSeed())) }));
    const other = file('other', new TextDecoder().decode(nkeys.createUser().getSeed()));
    await expectRefused(nats.urls, { credentials: other }, /does not let this hub in/);
  });

  it('a .creds file of an operator’s account, with JetStream of its own', { tags: ['P-539', 'P-594'] }, async () => {
    const { config, creds } = createOperator();
    const nats = await startNats({ config });
    const credentials = file('hub.creds', creds);
    const hub = await joinAs(nats.urls, { credentials });
    await expectWorks(hub);
    // It is being replaced when the connection breaks.
    file('hub.creds', creds.slice(0, creds.indexOf('BEGIN USER NKEY SEED')));
    await nats.nodes[0]?.kill();
    await waitForNats(() => expect(hub.bus.isConnected).toBe(false));
    await nats.nodes[0]?.start();
    await waitForNats(() => expectWorks(hub));
    await hub.close();
    await expect(hub.store.list('k.')).rejects.toThrow(StoreUnavailable);
    await expectRefused(nats.urls, {}, /does not let this hub in/);
  });

  it('TLS: by the authority of a file, with a certificate of the hub’s own', { tags: ['P-539'] }, async () => {
    const pem = createCertificates(folder);
    const tls = { cert_file: pem.cert, key_file: pem.key, ca_file: pem.ca, verify: true };
    const nats = await startNats({ config: { tls } });
    await expectWorks(await joinAs(nats.urls, { tls: { ca: pem.ca, cert: pem.cert, key: pem.key } }));
    await expectWorks(
      await joinAs(
        nats.urls.map((url) => url.replace('nats:', 'tls:')),
        { tls: { ca: pem.ca, cert: pem.cert, key: pem.key } },
      ),
    );
    await expectRefused(nats.urls, { tls: {} }, /self-signed certificate/, 'cluster_unavailable');
    await expectRefused(
      nats.urls,
      { tls: { ca: join(folder, 'nothing') } },
      /notebridge\.cluster\.(tls|credentials).*" of the config is the path of a file, and there is none at ".*nothing"\. Fix the path/,
    );
  });

  it('a file of credentials that is missing or empty is named', { tags: ['deep'] }, async () => {
    await expectRefused(
      ['127.0.0.1:1'],
      { credentials: join(folder, 'nothing') },
      /notebridge\.cluster\.(tls|credentials).*" of the config is the path of a file, and there is none at ".*nothing"\. Fix the path/,
    );
    await expectRefused(
      ['127.0.0.1:1'],
      { credentials: file('empty', '\n') },
      /empty", the "notebridge\.cluster\.credentials" of the config, is empty/,
    );
  });

  it('the least rights that a hub needs are enough', { tags: ['P-540'] }, async () => {
    const nats = await startNats({ config: withRights(least) });
    await expectWorks(await joinAs(urlsOf(nats), { audit: { maxDays: 1, maxBytes: 1_000_000 } }));
  });

  it.each([
    ['publish', '$KV.>', /publish to "\$KV\.notebridge-notebridge\.probe\.[^"]+"\. Grant its user the right to publish/],
    ['publish', '$JS.API.STREAM.INFO.>', /publish to "\$JS\.API\.STREAM\.INFO\.KV_notebridge-notebridge"/],
    ['publish', '$JS.API.STREAM.CREATE.>', /publish to "\$JS\.API\.STREAM\.CREATE\.KV_notebridge-notebridge"/],
    ['publish', '$JS.API.STREAM.UPDATE.>', /publish to "\$JS\.API\.STREAM\.UPDATE\.KV_notebridge-notebridge"/],
    ['publish', '$JS.FC.>', /publish to "\$JS\.FC\.KV_notebridge-notebridge\.probe"\. Grant its user the right to publish/],
    ['publish', '$JS.API.STREAM.MSG.GET.>', /publish to "\$JS\.API\.STREAM\.MSG\.GET\.KV_notebridge-notebridge"/],
    ['publish', '$JS.API.CONSUMER.CREATE.>', /publish to "\$JS\.API\.CONSUMER\.CREATE\.KV_notebridge-notebridge\./],
    ['publish', 'notebridge.>', /publish to "notebridge\.notebridge\.probe\./],
    ['subscribe', 'notebridge.>', /subscribe to "notebridge\.notebridge\.probe\.[^"]+"\. Grant its user the right to subscribe/],
    ['subscribe', '_INBOX.>', /subscribe to "_INBOX\./],
  ] as const)(
    'a hub without the right to %s %s does not start, and says what to grant',
    { tags: ['P-540'] },
    async (right, subject, text) => {
      const nats = await startNats({ config: withRights({ ...all, [right]: { allow: ['>'], deny: [subject] } }) });
      await expectRefused(urlsOf(nats), {}, text);
    },
  );

  it('a server without JetStream is named', { tags: ['P-540'] }, async () => {
    const nats = await startNats({ jetstream: false });
    await expectRefused(nats.urls, {}, /JetStream/, 'cluster_unavailable');
  });

  it('a server that is too old is refused, with both versions', { tags: ['P-540'] }, async () => {
    await using old = await OldServer.start('2.9.25');
    await expectRefused([old.url], {}, /needs nats-server 2\.11 or newer, and this is 2\.9\.25/);
  });
});

async function joinAs(urls: readonly string[], more: Partial<ClusterSettings> = {}): Promise<NatsCluster> {
  const cluster = await connectNats({ settings: natsSettings(urls, more), logger, redactor, waitMs: 45_000 });
  onTestFinished(() => cluster.close());
  return cluster;
}

async function expectWorks({ store, server }: NatsCluster): Promise<void> {
  const key = `k.${Math.random().toString(36).slice(2)}`;
  const revision = await store.create(key, '1');
  expect(await store.list('k.')).toContainEqual({ key, value: '1', revision });
  await store.remove(key, revision);
  said += server;
}

async function expectRefused(urls: readonly string[], more: Partial<ClusterSettings>, text: RegExp, code = 'bad_config'): Promise<void> {
  // Who is refused is told at once, and is not waited for; so long that a busy server has said it.
  const waitMs = code === 'bad_config' ? 45_000 : 5000;
  const error: unknown = await connectNats({ settings: natsSettings(urls, more), logger, redactor, waitMs }).then(
    (cluster) => cluster.close().then(() => 'connected'),
    (reason: unknown) => reason,
  );
  said += `${String(error)}\n`;
  expect(error).toMatchObject({ code, message: expect.stringMatching(text) });
}

function withRights(permissions: JsonObject): JsonObject {
  return { authorization: { users: [{ user: 'hub', password: secret, permissions }] } };
}

function urlsOf(nats: Nats): string[] {
  return nats.urls.map((url) => url.replace('//', `//hub:${secret}@`));
}

/** An operator, its system account and one for hubs, as `nsc` makes them. */
function createOperator(): { config: JsonObject; creds: string } {
  const [operator, system, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount(), nkeys.createUser()];
  const free = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const limits = { ...free, mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const [systemKey, accountKey] = [system.getPublicKey(), account.getPublicKey()];
  const operatorJwt = toJwt(operator, { sub: operator.getPublicKey(), nats: { type: 'operator', version: 2, system_account: systemKey } });
  const accountJwts = {
    [systemKey]: toJwt(operator, { sub: systemKey, nats: { type: 'account', version: 2, limits: free } }),
    [accountKey]: toJwt(operator, { sub: accountKey, nats: { type: 'account', version: 2, limits } }),
  };
  const userJwt = toJwt(account, { sub: user.getPublicKey(), nats: { type: 'user', version: 2, subs: -1, data: -1, payload: -1 } });
  const part = (name: string, text: string): string => `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n\n`;
  const seed = new TextDecoder().decode(user.getSeed());
  return {
    config: { operator: operatorJwt, system_account: systemKey, resolver: 'MEMORY', resolver_preload: accountJwts },
    creds: part('NATS USER JWT', userJwt) + part('USER NKEY SEED', seed),
  };
}

function toJwt(issuer: ReturnType<typeof nkeys.createOperator>, claims: { sub: string; nats: JsonObject }): string {
  const encode = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Math.floor(Date.now() / 1000);
  const body = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode({ jti: claims.sub, iat, iss: issuer.getPublicKey(), name: 'test', ...claims })}`;
  return `${body}.${Buffer.from(issuer.sign(Buffer.from(body))).toString('base64url')}`;
}

/** One certificate that signs itself, for both ends. */
function createCertificates(folder: string): { ca: string; cert: string; key: string } {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=nats', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ],
    { stdio: 'ignore' },
  );
  return { ca: cert, cert, key };
}

/** What a server says that is older than what we need; it has no more to do. */
class OldServer implements AsyncDisposable {
  readonly url: string;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(version: string): Promise<OldServer> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}));
      const info = {
        server_id: 'A',
        version,
        go: '',
        host: '127.0.0.1',
        port: 0,
        headers: true,
        max_payload: 1_048_576,
        proto: 1,
        client_id: 1,
      };
      socket.write(`INFO ${JSON.stringify(info)}\r\n`);
      socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new OldServer(`nats://127.0.0.1:${(server.address() as { port: number }).port}`, async () => {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
