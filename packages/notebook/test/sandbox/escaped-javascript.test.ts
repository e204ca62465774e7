// @module-tag P-186

/** The sandbox alone against JavaScript that got out of all layers above it: it has all of Node, without any permission flag. */
import { createSocket } from 'node:dgram';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir, networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bring, runInside, whyNoSandbox } from './support/sandboxed.js';

const missing = await whyNoSandbox();

describe.skipIf(missing !== undefined)('escaped JavaScript in the sandbox', () => {
  let folder: string;
  let own: string;
  let program: string;
  let host: { folders: string[]; [what: string]: unknown };
  let connections = 0;
  let found: { [attempt: string]: string };
  const servers: Server[] = [];
  const udp = createSocket('udp4');

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-sandbox-')));
    own = join(folder, 'its own');
    program = bring('escaped.mjs', own);
    writeFileSync(join(folder, 'secret'), 'the secret');
    mkdirSync(join(folder, 'files'));
    const listen = async (...at: [string] | [number, string]) => {
      const server = createServer((socket) => {
        connections++;
        socket.destroy();
      });
      servers.push(server);
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(...(at as [string]), resolve));
      return server.address() as { port: number };
    };
    udp.on('message', () => connections++);
    await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
    const everywhere = await listen(0, '0.0.0.0');
    const loopback = await listen(0, '127.0.0.1');
    const socket = join(folder, 'socket');
    await listen(socket);
    const abstract = `\0notebridge-${process.pid}`;
    await listen(abstract);
    host = {
      pid: process.pid,
      files: [join(folder, 'secret'), '/etc/passwd', '/etc/hostname', join(homedir(), '.npmrc'), '/proc/1/environ/../../../etc/passwd'],
      folders: [folder, homedir(), '/etc', '/usr/bin', '/home', '/sys', '/dev', '/tmp'],
      readable: own,
      ports: [everywhere.port, loopback.port],
      addresses: Object.values(networkInterfaces()).flatMap((all = []) =>
        all.filter(({ internal }) => !internal).map(({ address }) => address),
      ),
      udp: udp.address().port,
      socket,
      abstract,
    };
    const { stdout, stderr, code } = await runInside({
      command: [process.execPath, program, JSON.stringify(host)],
      readable: [own],
      folder: own,
    });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    found = JSON.parse(stdout);
  });
  afterAll(async () => {
    udp.close();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    rmSync(folder, { recursive: true, force: true });
  });

  const outcomes = (prefix: string) => Object.entries(found).filter(([name]) => name.startsWith(prefix));
  const expectNoneDid = (...prefixes: string[]) => {
    for (const prefix of prefixes) {
      expect(outcomes(prefix).length, prefix).toBeGreaterThan(0);
      for (const [name, outcome] of outcomes(prefix)) expect(outcome, name).not.toMatch(/^did/);
    }
  };

  test('is nobody, alone, with nothing but its own folder', () => {
    expect(found.identity).toBe('did: [1,65534,65534,[65534],"notebridge"]');
    expect(found.processes).toBe('did: []');
    expect(Object.keys(JSON.parse(found.environment?.slice(5) ?? ''))).toEqual(['PWD']);
    expect(found.interfaces).not.toMatch(/address/);
    // It may begin threads: the number of processors is not what protects the machine.
    expect(found.thread).toBe('did: 65534');
  });

  test('reads no file and lists no folder of the host', () => {
    expectNoneDid('read', 'device');
    const visible = [program, process.execPath];
    for (const [name, outcome] of outcomes('list')) {
      const above = `${host.folders[Number(name.slice(4))]}/`;
      // On the way to its own files there is nothing but that way.
      const ways = visible.filter((path) => path.startsWith(above)).map((path) => path.slice(above.length).split('/')[0]);
      expect(outcome, name).toBe(ways.length === 0 ? 'ENOENT' : `did: ${JSON.stringify([...new Set(ways)].sort())}`);
    }
    expect(found.root).not.toMatch(/"(etc|home|dev|sys|var|run|bin|sbin|boot|mnt|media|srv)"/);
  });

  test('writes nowhere: not to the host, not to itself, not to a disk in memory', () => {
    expectNoneDid('write', 'chmod', 'touch', 'truncate', 'proc ');
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('the secret');
    expect(statSync('/dev/null').mode & 0o777).toBe(0o666);
  });

  test('reaches no process and no server of the host', () => {
    expectNoneDid('signal', 'debug', 'start', 'tcp', 'address', 'unix', 'udpOutside', 'lookup', 'priority', 'rootInside');
    expect(connections).toBe(0);
  });
});
