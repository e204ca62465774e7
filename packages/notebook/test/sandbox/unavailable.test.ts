// @module-tag P-188

/** Machines that have no sandbox, each a real one as far as a test can make it: `auto` says so, `require` refuses. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '@notebridge/sandbox/find-program';
import { build, stop } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whyNoSandbox } from './support/sandboxed.js';

let folder: string;
let module: string;
let look: string;

beforeAll(async () => {
  // Not below the folder that a run of the tests has for itself: those that are nobody must get here.
  folder = realpathSync(mkdtempSync(join(process.platform === 'win32' ? tmpdir() : '/tmp', 'notebridge-unavailable-')));
  chmodSync(folder, 0o755);
  module = join(folder, 'sandbox.mjs');
  const entry = fileURLToPath(new URL('../../src/kernel/open-sandbox.ts', import.meta.url));
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile: module, logLevel: 'warning' });
  await stop();
  look = join(folder, 'look.mjs');
  copyFileSync(fileURLToPath(new URL('support/look.mjs', import.meta.url)), look);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Found {
  sandboxed?: boolean;
  active?: boolean;
  text?: string;
  fix?: string;
  code?: string;
  message?: string;
}

/** What a host finds with this PATH, started by way of other programs if need be. */
function openIn({ path = process.env.PATH, cwd = folder, by = [] }: { path?: string | undefined; cwd?: string; by?: string[] }) {
  const found = (mode: string): Found => {
    const [command = '', ...args] = [...by, process.execPath, look, module, mode];
    const { stdout, stderr } = spawnSync(command, args, { env: { PATH: path }, cwd, encoding: 'utf8' });
    expect(stderr).toBe('');
    return JSON.parse(stdout) as Found;
  };
  return { auto: found('auto'), require: found('require'), off: found('off') };
}

/** A folder with a program called bwrap. */
function withProgram(name: string, script: string): string {
  const bin = join(folder, name);
  mkdirSync(bin);
  writeFileSync(join(bin, 'bwrap'), script, { mode: 0o755 });
  return bin;
}

function expectWithout({ auto, require, off }: ReturnType<typeof openIn>, reason: RegExp, fix: RegExp): void {
  expect(auto).toMatchObject({ sandboxed: false, active: false, text: expect.stringMatching(reason), fix: expect.stringMatching(fix) });
  expect(require).toMatchObject({ code: 'sandbox_unavailable', message: expect.stringMatching(reason) });
  expect(require.message).toMatch(fix);
  expect(off).toMatchObject({ sandboxed: false, active: false, text: 'it was switched off' });
}

describe.skipIf(process.platform !== 'linux')('without a sandbox, because', () => {
  test('bubblewrap is not installed', () => {
    expectWithout(openIn({ path: folder }), /not installed/, /apt install bubblewrap/);
  });

  test('there is a bwrap only in the working directory', { tags: ['deep'] }, () => {
    const cwd = withProgram('cwd', `#!/bin/sh\ntouch ${JSON.stringify(join(folder, 'started'))}\n`);
    expectWithout(openIn({ path: `.${delimiter}${delimiter}${folder}`, cwd }), /not installed/, /apt install bubblewrap/);
    expect(() => execFileSync('ls', [join(folder, 'started')], { stdio: 'pipe' })).toThrow();
  });

  test('bubblewrap is too old for --disable-userns', { tags: ['deep'] }, () => {
    const path = withProgram('old', '#!/bin/sh\necho "bwrap: Unknown option --disable-userns" >&2\nexit 1\n');
    expectWithout(openIn({ path }), /too old.*Unknown option/, /0\.8 or newer/);
  });

  test('the distribution forbids it, and bubblewrap fails as on Ubuntu 24.04', () => {
    const path = withProgram('forbidden', '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n');
    expectWithout(openIn({ path }), /setting up uid map: Permission denied/, /./);
  });

  test('the sandbox is missing where what stands for bubblewrap says something of its own', () => {
    const path = withProgram('chatty', '#!/bin/sh\necho hello\n');
    expectWithout(openIn({ path }), /says "hello"/, /./);
  });

  test('a bwrap runs the program, and puts it into no sandbox', () => {
    const path = withProgram('pretends', '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n');
    expectWithout(openIn({ path }), /reads "\/etc\/passwd"|process id/, /./);
  });

  test.each([
    ['keeps the network', { last: '--share-net' }, /shares our net namespace/],
    ['shows a folder of the host', { first: '--ro-bind /etc /etc' }, /not in force: it sees "\/etc"$/],
    ['has a disk in memory', { first: '--tmpfs /tmp' }, /not in force: it sees "\/tmp"$/],
    ['leaves capabilities', { last: '--cap-add CAP_NET_RAW' }, /has capabilities/],
    ['is root inside', { last: '--uid 0' }, /root inside/],
    ['has no filter', { without: '--seccomp' }, /it starts programs, no filter of system calls/],
  ] satisfies [string, { first?: string; last?: string; without?: string }, RegExp][])(
    'the sandbox that there is %s',
    async (name, change, words) => {
      const { first = '', last = '', without = 'nothing' }: { first?: string; last?: string; without?: string } = change;
      const real = findProgram('bwrap');
      if (real === undefined || (await whyNoSandbox())) return;
      const script = [
        '#!/bin/bash',
        'args=()',
        `while [ "$1" != -- ]; do if [ "$1" = ${without} ]; then shift; else args+=("$1"); fi; shift; done`,
        `exec ${real} ${first} "\${args[@]}" ${last} "$@"`,
      ];
      const path = withProgram(name, `${script.join('\n')}\n`);
      const { auto } = openIn({ path: `${path}${delimiter}/bin` });
      expect(auto).toMatchObject({ sandboxed: false, text: expect.stringMatching(words) });
    },
  );

  test('user namespaces are switched off', { tags: ['deep'] }, async (context) => {
    const real = findProgram('bwrap');
    if (real === undefined || (await whyNoSandbox())) return context.skip('there is no bubblewrap to switch them off with');
    // In here they are, by the very option that the sandbox uses.
    const by = [real, '--unshare-user', '--disable-userns', '--dev-bind', '/', '/'];
    expectWithout(openIn({ by }), /bwrap: /, /./);
  });
});

describe.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)('for a user that is not root', () => {
  test('it works as it does for root', async (context) => {
    if (await whyNoSandbox()) return context.skip('there is no bubblewrap that works');
    const node = join(folder, 'node');
    // Where only root gets, perhaps.
    copyFileSync(process.execPath, node);
    const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs', node, look, module, 'require'];
    const { stdout, stderr } = spawnSync(nobody[0] ?? '', nobody.slice(1), { env: { PATH: process.env.PATH }, cwd: '/', encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ sandboxed: true, active: true });
  });
});
