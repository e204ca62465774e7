// @module-tag P-228

import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { ownVersion } from '@notebridge/system/files/own-files';
import { describe, expect, it } from 'vitest';
import { dialHost } from '../../src/broker/join-link.js';
import { admitJoiner } from '../../src/broker/join-proof.js';
import { type BrokerFile, brokerFileIn, isAlive, SharedHome, until } from '../support/broker.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { Program } from '../support/program.js';

const slow = 240_000;
const isRoot = process.getuid?.() === 0;
const nobody = { request: () => Promise.reject(new Error('nothing')), notify: () => {}, closed: () => {} };

/** A listener that is not ours: what it was sent. `answer` is written to whoever says something. */
async function foreign(
  answer: (said: string) => string | undefined,
): Promise<{ server: Server; port: number; heard: () => string } & AsyncDisposable> {
  let heard = '';
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      heard += data;
      const text = answer(String(data));
      if (text === undefined) socket.destroy();
      else socket.write(text);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { server, port: (server.address() as AddressInfo).port, heard: () => heard, [Symbol.asyncDispose]: close };
}

function writeBrokerFile(home: SharedHome, file: Partial<BrokerFile>): void {
  mkdirSync(home.stateDir, { recursive: true, mode: 0o700 });
  const whole = {
    kind: 'broker',
    address: 'tcp:1',
    secret: 's'.repeat(43),
    pid: process.pid,
    startedAt: 1,
    version: ownVersion(),
    ...file,
  };
  writeFileSync(brokerFileIn(home.stateHome), JSON.stringify(whole), { mode: 0o600 });
}

describe('the file that names the broker', () => {
  const strangers: [does: string, answer: (said: string) => string | undefined][] = [
    ['says nothing', () => ''],
    ['hangs up', () => undefined],
    ['says yes to everything', () => '{"admitted":true}\n'],
    ['gives the question back', (said) => said],
    ['makes a proof up', () => `${JSON.stringify({ nonce: 'n'.repeat(32), proof: 'p'.repeat(43) })}\n`],
  ];
  for (const { cells, tags } of coreAndDeep(strangers, ([does]) => does === 'gives the question back'))
    it.each(cells)(
      'points to a stranger that %s: it is sent random numbers and nothing else, and another broker is started',
      { tags, timeout: slow },
      async (_, answer) => {
        await using home = new SharedHome();
        await using stranger = await foreign(answer);
        writeBrokerFile(home, { address: `tcp:${stranger.port}` });
        await using program = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
        expect(await program.callTool('add_text_cell', { cellIndex: 0, content: 'mine' })).not.toHaveProperty('result.isError');
        expect(home.broker?.pid).not.toBe(process.pid);
        expect(stranger.heard()).toMatch(/^(\{"protocol":"notebridge-join-1","nonce":"[\w-]{32}"\}\n)+$/);
      },
    );

  it('is of another version: that is said, with what to do, and nothing is sent', { tags: ['deep'], timeout: slow }, async () => {
    await using home = new SharedHome();
    await using other = await foreign(() => '');
    writeBrokerFile(home, { address: `tcp:${other.port}`, version: '0.0.1' });
    await using program = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    expect(await program.callTool('get_cells')).toMatchObject({
      error: { message: expect.stringMatching(/0\.0\.1 .*this is \d.*notebridge stop all/), data: { code: 'other_version' } },
    });
    expect(other.heard()).toBe('');
    rmSync(brokerFileIn(home.stateHome));
    expect(await program.callTool('get_cells')).not.toHaveProperty('error');
  });

  it('is open to others: it is not believed, and that is said', { timeout: slow }, async () => {
    await using home = new SharedHome();
    await using stranger = await foreign(() => '');
    writeBrokerFile(home, { address: `tcp:${stranger.port}` });
    chmodSync(brokerFileIn(home.stateHome), 0o644);
    await using program = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    expect(await program.callTool('get_cells')).toMatchObject({
      error: { message: expect.stringMatching(/open to other users.*chmod 600/), data: { code: 'write_failed' } },
    });
    expect(stranger.heard()).toBe('');
  });

  it.skipIf(!isRoot)('is another user’s (as root: others cannot make such a file): it is not believed', { timeout: slow }, async () => {
    await using home = new SharedHome();
    await using stranger = await foreign(() => '');
    writeBrokerFile(home, { address: `tcp:${stranger.port}` });
    chownSync(brokerFileIn(home.stateHome), 65_534, 65_534);
    await using program = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    expect(await program.callTool('get_cells')).toMatchObject({ error: { message: expect.stringMatching(/belongs to another user/) } });
    expect(stranger.heard()).toBe('');
  });

  it('is a link: it is not followed', { timeout: slow }, async () => {
    await using home = new SharedHome();
    await using stranger = await foreign(() => '');
    writeBrokerFile(home, { address: `tcp:${stranger.port}` });
    const [file, moved] = [brokerFileIn(home.stateHome), home.path('elsewhere.json')];
    writeFileSync(moved, readFileSync(file), { mode: 0o600 });
    rmSync(file);
    symlinkSync(moved, file);
    await using program = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    expect(await program.callTool('get_cells')).toMatchObject({ error: { data: { code: 'write_failed' } } });
    expect(stranger.heard()).toBe('');
  });

  it.each([0o755, 0o777])('stands in a folder of mode %o: nothing is started there', { timeout: slow }, async (mode) => {
    await using home = new SharedHome();
    mkdirSync(home.stateDir, { recursive: true });
    chmodSync(home.stateDir, mode);
    await using program = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    expect(await program.callTool('get_cells')).toMatchObject({
      error: { message: expect.stringMatching(/open to other users.*chmod 700/) },
    });
    expect(home.broker).toBeUndefined();
  });
});

describe('the broker’s door', () => {
  it('is the user’s alone, and answers nothing to who does not know the secret', { timeout: slow }, async () => {
    await using home = new SharedHome();
    await using program = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    await program.callTool('get_cells');
    const broker = home.broker as BrokerFile;
    expect(statSync(brokerFileIn(home.stateHome)).mode & 0o777).toBe(0o600);
    expect(statSync(join(home.stateDir, 'broker.log')).mode & 0o777).toBe(0o600);
    expect(statSync(home.stateDir).mode & 0o777).toBe(0o700);
    const path = /^unix:(.*)$/.exec(broker.address)?.[1];
    if (path !== undefined) expect(statSync(path).mode & 0o777).toBe(0o600);
    const environment = readFileSync(`/proc/${broker.pid}/environ`, 'utf8');
    expect(environment).not.toContain(broker.secret);
    expect(readFileSync(`/proc/${broker.pid}/cmdline`, 'utf8')).not.toContain(broker.secret);
    const request = '{"jsonrpc":"2.0","id":1,"method":"host/status"}\n';
    const hello = `${JSON.stringify({ protocol: 'notebridge-join-1', nonce: 'n'.repeat(32) })}\n`;
    for (const said of [
      request,
      'GET / HTTP/1.1\r\n\r\n',
      'x'.repeat(10_000),
      `${hello}${JSON.stringify({ proof: 'p'.repeat(43), version: ownVersion() })}\n`,
    ])
      expect(await answerTo(broker, said)).not.toMatch(/admitted|result/);
    await expect(dialHost({ ...broker, kind: 'broker', secret: 't'.repeat(43) }, ownVersion(), () => nobody)).rejects.toMatchObject({
      code: 'not_ours',
    });
    // It goes on for its agent.
    expect(await program.callTool('get_cells')).not.toHaveProperty('error');
  });

  it('cannot be relayed to: the address is part of the proof', async () => {
    await using home = new SharedHome();
    const secret = 's'.repeat(43);
    const version = ownVersion();
    let address = '';
    const admitted: boolean[] = [];
    const real = createServer((socket) => {
      socket.on('error', () => {});
      void admitJoiner(socket, { secret, address, version }).then((isAdmitted) => {
        admitted.push(isAdmitted);
        socket.destroy();
      });
    }).listen(0, '127.0.0.1');
    await once(real, 'listening');
    const port = (real.address() as AddressInfo).port;
    address = `tcp:${port}`;
    const relay = createServer((socket) => {
      const onward = connect(port, '127.0.0.1');
      for (const end of [socket, onward]) end.on('error', () => {});
      socket.pipe(onward).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const place = { kind: 'broker', secret, pid: process.pid, startedAt: 1, version } as const;
    const atRelay = { ...place, address: `tcp:${(relay.address() as AddressInfo).port}` };
    await expect(dialHost(atRelay, version, () => nobody)).rejects.toMatchObject({ code: 'not_ours' });
    const peer = await dialHost({ ...place, address }, version, () => nobody);
    peer.close();
    await until(() => admitted.length === 2);
    expect(admitted.sort()).toEqual([false, true]);
    relay.close();
    real.close();
    expect(home.broker).toBeUndefined();
  });

  it('does not wait for one that is silent', { tags: ['deep'], timeout: slow }, async () => {
    await using home = new SharedHome(0);
    const program = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    await program.callTool('get_cells');
    const broker = home.broker as BrokerFile;
    const silent = await dialRaw(broker);
    await program.close();
    await until(() => !isAlive(broker.pid));
    silent.destroy();
  });
});

async function dialRaw({ address }: BrokerFile): Promise<Socket> {
  const [, kind, rest = ''] = /^(unix|tcp):(.*)$/.exec(address) ?? [];
  const socket = kind === 'unix' ? connect(rest) : connect(Number(rest), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** All that it answers until it hangs up. */
async function answerTo(broker: BrokerFile, said: string): Promise<string> {
  const socket = await dialRaw(broker);
  let text = '';
  socket.setEncoding('utf8').on('data', (data: string) => {
    text += data;
  });
  socket.write(said);
  await once(socket, 'close');
  return text;
}
