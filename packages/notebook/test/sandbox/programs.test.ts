// @module-tag P-215

/**
 * The sandbox of a kernel that starts programs, against code that has Python, a shell, all programs of the system and `ctypes`: as whoever runs
 * the tests, root too. The folder of the notebook looks like a home folder, with keys, our state and sockets in it.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { toKernelSpec } from '@notebridge/sandbox/kernel-spec';
import type { FolderAccess } from '@notebridge/sandbox/spec';
import { callsWithMode, judgedCalls, openat2, refusedCalls } from '@notebridge/sandbox/system-calls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bring, runInside, sandboxOfLinux, whyNoSandbox } from './support/sandboxed.js';

const python = ['/usr/bin/python3'].find((path) => existsSync(path));
const missing = (await whyNoSandbox()) ?? (python === undefined ? 'there is no /usr/bin/python3' : undefined);
if (missing !== undefined) console.warn(`Skipped: ${missing}`);

const column = process.arch === 'arm64' ? 1 : 0;
const calls = Object.fromEntries(
  Object.entries({ ...refusedCalls, ...judgedCalls, openat2 })
    .map(([name, numbers]) => [name, numbers[column]] as const)
    .concat(Object.entries(callsWithMode).map(([name, { numbers }]) => [name, numbers[column]] as const)),
);

describe.skipIf(missing !== undefined)('a kernel with programs, in the sandbox', () => {
  let base: string;
  let home: string;
  let program: string;
  let connections = 0;
  const servers: Server[] = [];
  const variables = { HOME: process.env.HOME, XDG_STATE_HOME: process.env.XDG_STATE_HOME };
  let host: { secrets: string[]; unseen: string[]; readonly: string[]; [what: string]: unknown };

  beforeAll(async () => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-programs-')));
    home = join(base, 'home');
    program = bring('escaped-programs.py', join(base, 'its own'));
    const files = {
      '.ssh/id_ed25519': 'a key',
      '.aws/credentials': 'a key',
      '.config/gcloud/token': 'a key',
      '.config/notebridge/mcp.json': '{}',
      '.local/state/notebridge/owner': 'a token',
      '.gnupg/secring': 'a key',
      '.netrc': 'a password',
      '.npmrc': 'a token',
      '.pypirc': 'a token',
      '.docker/config.json': 'a token',
      '.kube/config': 'a token',
      'logs of ours/log': 'a log',
      '.git/hooks/post-commit': 'a hook',
      '.git/config': 'a config',
      '.venv/pyvenv.cfg': 'an environment',
      'data.csv': 'a,b\n1,2\n',
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(home, name, '..'), { recursive: true });
      writeFileSync(join(home, name), text);
    }
    writeFileSync(join(base, 'outside'), 'the secret');
    process.env.HOME = join(base, 'person');
    mkdirSync(join(process.env.HOME, '.ssh'), { recursive: true });
    process.env.XDG_STATE_HOME = join(home, '.local/state');
    const listen = async (...at: [string] | [number, string]) => {
      const server = createServer((socket) => {
        connections++;
        socket.destroy();
      });
      servers.push(server);
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(...(at as [string]), resolve));
      return (server.address() as { port: number }).port;
    };
    const abstract = `notebridge-programs-${process.pid}`;
    await listen(`\0${abstract}`);
    const sockets = [join(home, 'a socket'), join(home, '.gnupg/S.agent'), join(base, 'socket')];
    for (const path of sockets) await listen(path);
    execFileSync(python ?? '', ['-c', 'import os, sys; os.mkfifo(sys.argv[1])', join(home, 'a pipe')]);
    host = {
      calls,
      abstract,
      sockets,
      ports: [await listen(0, '127.0.0.1'), await listen(0, '0.0.0.0'), await listen(0, '::1')],
      addresses: Object.values(networkInterfaces()).flatMap((all = []) =>
        all.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address),
      ),
      pids: [process.pid, process.ppid],
      secrets: [
        ...Object.keys(files)
          .filter((name) => /^(\.(?!git|venv)|logs)/.test(name))
          .map((name) => join(home, name)),
        join(base, 'outside'),
        '/etc/shadow',
        '/etc/hostname',
        join(home, 'a pipe'),
      ],
      unseen: [base, join(home, '.ssh'), join(home, '.config/notebridge'), '/sys', '/var', '/home', '/run'],
      readonly: [
        program,
        '/usr/bin/env',
        '/etc/passwd',
        join(home, '.git/hooks/post-commit'),
        join(home, '.git/config'),
        join(home, '.venv/pyvenv.cfg'),
      ],
      covered: join(home, '.ssh'),
      outside: join(base, 'outside'),
    };
  });
  afterAll(async () => {
    Object.assign(process.env, variables);
    for (const [name, value] of Object.entries(variables)) if (value === undefined) delete process.env[name];
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    rmSync(base, { recursive: true, force: true });
  });

  const toSpec = async (files: FolderAccess) => {
    const logs = join(home, 'logs of ours');
    const spec = await toKernelSpec({
      python: python ?? '',
      args: [program, JSON.stringify(host)],
      folder: home,
      files,
      readable: [join(base, 'its own')],
      // A folder that has something of ours in it is not given to write to.
      ours: files === 'rw' ? [] : [logs],
    });
    return files === 'rw' ? { ...spec, hidden: [...(spec.hidden ?? []), logs] } : spec;
  };

  describe.each(['ro', 'rw', 'none'] as const)('with files "%s"', (files) => {
    let found: { [attempt: string]: string };
    beforeAll(async () => {
      const { stdout, stderr } = await runInside(await toSpec(files));
      expect(stderr).toBe('');
      found = JSON.parse(stdout);
    });

    test('does what it is for', () => {
      expect(found).toMatchObject({
        'works identity': "did: [65534, 65534, 'notebridge', '/run/home']",
        'works shell': 'did: 0 from a shell',
        'works pool': 'did: [1, 2]',
        'works temporary': 'did: 1',
        'works read': files === 'none' ? 'ENOENT' : 'did: a,b\n1,2\n',
        'works loopback': 'did: None',
      });
      expect(found['works variables']).toBe(
        "did: ['HOME', 'LANG', 'PATH', 'PIP_DISABLE_PIP_VERSION_CHECK', 'PIP_RETRIES', 'PWD', 'TMPDIR', 'USER']",
      );
    });

    test('does nothing else', () => {
      const attempts = Object.entries(found).filter(([name]) => name.startsWith('no '));
      expect(attempts.length).toBeGreaterThan(150);
      expect(attempts.filter(([, outcome]) => outcome.startsWith('did'))).toEqual([]);
      expect(connections).toBe(0);
      expect(found.processes).toBe('did: True');
    });

    test('sees of the folder what is no key and no state of ours', () => {
      const isSeen = files !== 'none';
      expect(found[`list ${join(home, '.ssh')}`]).toBe(isSeen ? 'did: []' : 'ENOENT');
      expect(found[`list ${join(home, '.config/notebridge')}`]).toBe(isSeen ? 'did: []' : 'ENOENT');
      expect(found[`list ${base}`]).toBe(isSeen ? "did: ['home', 'its own']" : "did: ['its own']");
      expect(found['list /run']).toBe("did: ['home']");
      for (const path of ['/sys', '/var', '/home']) expect(found[`list ${path}`]).toBe('ENOENT');
    });

    test('writes to the folder as it was asked for', () => {
      expect(found['write folder']?.startsWith('did')).toBe(files !== 'ro');
      expect(existsSync(join(home, 'made here'))).toBe(files === 'rw');
    });

    test('leaves nothing outside that acts as its owner, and has changed nothing that was there', () => {
      const all = execFileSync('find', [home, '-perm', '/6000', '-o', '-type', 'c', '-o', '-type', 'b'], { encoding: 'utf8' });
      expect(all).toBe('');
      expect(readFileSync(join(home, '.ssh/id_ed25519'), 'utf8')).toBe('a key');
      expect(readFileSync(join(home, '.git/hooks/post-commit'), 'utf8')).toBe('a hook');
      expect(readFileSync(join(base, 'outside'), 'utf8')).toBe('the secret');
      expect(statSync('/dev/null').mode & 0o777).toBe(0o666);
      for (const name of readdirSync(home)) if (lstatSync(join(home, name)).isFile()) expect(lstatSync(join(home, name)).nlink).toBe(1);
      if (files === 'rw') for (const name of ['made here', 'mine', 'way out']) rmSync(join(home, name), { force: true });
    });
  });

  test('the check from outside finds a folder that may be written, that was asked for to be read, and one that was not covered', async () => {
    const spec = { ...(await toSpec('rw')), command: [python ?? '', '-c', 'print(1, flush=True); input()'] as const };
    const sandbox = sandboxOfLinux();
    const sandboxed = sandbox.launch(spec);
    try {
      await new Promise((resolve) => sandboxed.child.stdout.once('data', resolve));
      expect(await sandbox.findFaults(sandboxed, spec)).toEqual([]);
      const asked = { ...spec, mounts: [{ path: home, access: 'ro' as const }] };
      expect(await sandbox.findFaults(sandboxed, asked)).toContain(`it may write to "${home}"`);
      expect(await sandbox.findFaults(sandboxed, { ...spec, mounts: [] })).toContain(`it sees "${home}"`);
      const covered = { ...spec, hidden: [...(spec.hidden ?? []), join(home, 'data.csv')] };
      expect(await sandbox.findFaults(sandboxed, covered)).toEqual([`it sees "${join(home, 'data.csv')}"`]);
      expect(await sandbox.findFaults(sandboxed, { ...spec, maxTemporaryBytes: 1024 ** 2 })).toContain('"/tmp" has no bound');
    } finally {
      sandboxed.child.kill('SIGKILL');
      await new Promise((resolve) => sandboxed.child.once('close', resolve));
      await sandboxed.gone;
    }
  });

  test('the check from outside finds a link that somebody put in the place of what is kept, in the moment of the start', async () => {
    const spec = { ...(await toSpec('rw')), command: [python ?? '', '-c', 'print(1, flush=True); input()'] as const };
    rmSync(join(home, '.git'), { recursive: true });
    symlinkSync(join(base, 'its own'), join(home, '.git'));
    const sandbox = sandboxOfLinux();
    const sandboxed = sandbox.launch(spec);
    try {
      await new Promise((resolve) => sandboxed.child.stdout.once('data', resolve).once('close', resolve));
      const faults = await sandbox.findFaults(sandboxed, spec);
      expect(faults.join()).toMatch(/is not what the folder has there|cannot be read|is not known/);
    } finally {
      sandboxed.child.kill('SIGKILL');
      if (sandboxed.child.exitCode === null && sandboxed.child.signalCode === null)
        await new Promise((resolve) => sandboxed.child.once('close', resolve));
      await sandboxed.gone;
    }
  });

  test.each(['/', '/usr', '/etc'])('the folder %s is refused', async (folder) => {
    await expect(toKernelSpec({ python: python ?? '', args: [], folder, files: 'ro' })).rejects.toThrow(/cannot give.*--files none/);
  });

  test('a folder of keys is refused', async () => {
    const folder = join(base, 'person/.ssh');
    await expect(toKernelSpec({ python: python ?? '', args: [], folder, files: 'rw' })).rejects.toThrow(/never shown/);
  });

  test('a program that is no Python is refused with what it said', async () => {
    await expect(toKernelSpec({ python: '/bin/false', args: [], folder: home })).rejects.toThrow(/"\/bin\/false" does not run as a Python/);
  });
});
