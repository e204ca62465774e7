import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describePortOwner, parseLsof } from './port-owner.js';

describe('describePortOwner', () => {
  it.for(['127.0.0.1', '::1'])('names the process that listens on %s', async (host, { skip }) => {
    skip(process.platform !== 'linux', 'only Linux shows this in /proc');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const { port } = server.address() as AddressInfo;
    expect(await describePortOwner(port)).toBe(`node (pid ${process.pid})`);
    await new Promise((resolve) => server.close(resolve));
    expect(await describePortOwner(port)).toBeUndefined();
  });

  it('knows nothing of systems that do not say, and does not throw', async () => {
    expect(await describePortOwner(1, { platform: 'win32' })).toBeUndefined();
    expect(await describePortOwner(1, { platform: 'linux', procRoot: '/no/such/place' })).toBeUndefined();
    expect(await describePortOwner(1, { platform: 'darwin' })).toBeUndefined();
  });
});

describe('describePortOwner: the process files', () => {
  let proc: string;
  beforeEach(async () => {
    proc = await mkdtemp(join(tmpdir(), 'notebridge-proc-'));
    await mkdir(join(proc, 'net'));
    await writeFile(join(proc, 'net', 'tcp'), `${heading}\n${row('0100007F:223D', '01', 41)}\n${row('0100007F:223D', '0A', 42)}\n`);
  });
  afterEach(async () => {
    await rm(proc, { recursive: true, force: true });
  });

  const heading = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
  const row = (local: string, state: string, inode: number): string =>
    `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1001        0 ${inode} 1 0000000000000000 100 0 0 10 0`;
  const addProcess = async (pid: number, socket: number): Promise<void> => {
    await mkdir(join(proc, String(pid), 'fd'), { recursive: true });
    await symlink(`socket:[${socket}]`, join(proc, String(pid), 'fd', '3'));
  };
  const owner = (): Promise<string | undefined> => describePortOwner(0x223d, { platform: 'linux', procRoot: proc });

  it('goes from port to socket to process, and skips connections that do not listen', async () => {
    await addProcess(7, 41);
    await addProcess(8, 42);
    await symlink('/usr/bin/python3.12 (deleted)', join(proc, '8', 'exe'));
    expect(await owner()).toBe('python3.12 (pid 8)');
  });

  it('falls back to the name that the process goes by', async () => {
    await addProcess(8, 42);
    await writeFile(join(proc, '8', 'comm'), 'worker\n');
    expect(await owner()).toBe('worker (pid 8)');
  });

  it("names another user's process by its user", async () => {
    expect(await owner()).toBe('a process of another user (uid 1001)');
  });
});

describe('parseLsof', () => {
  it('reads the first listener', () => {
    expect(parseLsof('p1234\ncnode\nf20\np99\ncother\n')).toBe('node (pid 1234)');
    expect(parseLsof('p1234\n')).toBe('a process (pid 1234)');
    expect(parseLsof('')).toBeUndefined();
  });
});
