// @module-tag deep

import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.js';
import { ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';
import { Watching } from '../support/watching.js';

const changing = { command: process.execPath, args: [fixtureServer('changing.mjs')] };
const importLoop = fileURLToPath(new URL('../fixtures/import-loop.py', import.meta.url));

let shared: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-shared-'));
  shared = join(folder, 'shared');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

/** A hub that shares the folder; ready when the bindings of all its servers are written. */
async function serve(servers: ServersForTest = { changing }, more: { user?: ServedHub; port?: number } = {}): Promise<ServedHub> {
  const { user, ...options } = more;
  const hub = await ServedHub.start({ servers, args: ['--notebook', 'none', '--shared-dir', shared], ...options }, user);
  await hub.logged('Bindings written.');
  return hub;
}
const writtenIn = (hub: ServedHub): number => hub.log().filter(({ msg }) => msg === 'Bindings written.').length;
const become = (hub: ServedHub, version: string) => hub.call('changing', 'become', { version }, hub.ownerToken);
const env = (): Record<string, string> => ({ ...bareEnvironment(), PYTHONPATH: shared });

function python(code: string): string {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', code], { encoding: 'utf8', env: env() });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

describe('serve --shared-dir', () => {
  it('writes bindings that work, and a folder for skills', async () => {
    await using hub = await serve();
    expect(
      readdirSync(shared)
        .filter((name) => !name.startsWith('.'))
        .sort(),
    ).toEqual(['generated', 'skills']);
    const call = `import os; os.environ['NOTEBRIDGE_TOKEN'] = '${hub.ownerToken}'\nfrom generated.mcp.changing import first; print(first.sync())`;
    expect(python(call)).toBe('1');
    expect(readFileSync(join(shared, 'generated', '_manifest.json'), 'utf8')).toContain(`"${hub.url}/api/v1/mcp/proxy"`);
  });

  it('renews them when tools change, and when servers come and go by an edit of the config', async () => {
    await using hub = await serve();
    await become(hub, '2');
    await hub.until(() => writtenIn(hub) === 2);
    expect(python('import generated.mcp.changing.only_2; print(2)')).toBe('2');

    hub.writeConfig({ changing, another: changing });
    await hub.until(() => existsSync(join(shared, 'generated', 'mcp', 'another', 'only_1.py')) || writtenIn(hub) > 20);
    expect(python('import generated.mcp.another.only_1; print(1)')).toBe('1');

    // The line about the last writing may come after this.
    const all = () => readdirSync(join(shared, 'generated', 'mcp')).filter((name) => !name.startsWith('_'));
    hub.writeConfig({ another: changing });
    await hub.until(() => all().length === 1);
    expect(all()).toEqual(['another']);
  });

  it('writes what it can while a server is silent, and the rest when it has answered', async () => {
    const slow = {
      command: 'sh',
      args: [
        '-c',
        `while [ ! -e ${shared}/go ]; do read -t 1 x < /dev/null; done; exec ${process.execPath} ${fixtureServer('changing.mjs')}`,
      ],
    };
    await using hub = await serve({ changing, slow: { ...slow, command: 'bash' } });
    expect(readdirSync(join(shared, 'generated', 'mcp'))).not.toContain('slow');
    expect(hub.stderr).toContain('The server \\"slow\\" is left out');
    writeFileSync(join(shared, 'go'), '');
    await hub.until(() => writtenIn(hub) === 2);
    expect(readdirSync(join(shared, 'generated', 'mcp'))).toContain('slow');
  });

  it('lets a Python import in a loop while it renews them fifty times: no import fails, and none sees a mix', {
    tags: ['P-088'],
    timeout: 240_000,
  }, async () => {
    await using hub = await serve();
    const loop = spawn('python3', [importLoop], { env: env(), stdio: 'pipe' });
    let said = '';
    let woken = (): void => {};
    for (const stream of [loop.stdout, loop.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        woken();
      });
    const ended = new Promise<number | null>((resolve) => loop.once('close', resolve));
    void ended.then(() => woken());
    onTestFinished(() => void loop.kill('SIGKILL'));
    for (let version = 2; version <= 51; version++) {
      await become(hub, String(version));
      await hub.until(() => writtenIn(hub) === version);
    }
    // The last version has been seen, so that the loop ran all the time.
    await new Promise<void>((resolve) => {
      woken = () => {
        if (/^51$/m.test(said) || loop.exitCode !== null) resolve();
      };
      woken();
    });
    loop.stdin.end();
    expect([await ended, said]).toEqual([0, expect.stringMatching(/imported \d+ times, \d+ versions\n$/)]);
    // Of all the old folders a few are left.
    expect(readdirSync(shared).filter((name) => name.startsWith('.generated-')).length).toBeLessThanOrEqual(33);
  });

  it('lets a kernel that imported the old package go on with it, and have the new one by a reload', async () => {
    await using hub = await serve();
    const code = `
import importlib, sys
import generated.mcp.changing
print("ready", flush=True)
sys.stdin.readline()
# Loaded only now, from the package that was imported.
from generated.mcp.changing import only_1
print(only_1.__name__)
importlib.reload(generated)
from generated.mcp.changing import only_2
print(only_2.__name__)
`;
    const kernel = spawn('python3', ['-c', code], { env: env(), stdio: 'pipe' });
    let said = '';
    const ready = new Promise<void>((resolve) => kernel.stdout.once('data', () => resolve()));
    for (const stream of [kernel.stdout, kernel.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
    const ended = new Promise<number | null>((resolve) => kernel.once('close', resolve));
    await ready;
    await become(hub, '2');
    await hub.until(() => writtenIn(hub) === 2);
    kernel.stdin.end('\n');
    expect([await ended, said]).toEqual([0, 'ready\nonly_1\nonly_2\n']);
  });

  it('leaves a whole package however often it is killed while it writes, and cleans up behind itself', { tags: ['P-088'] }, async () => {
    // Many tools, so that there is a middle to be killed in.
    const many = { command: process.execPath, args: [fixtureServer('many-tools.mjs')], tools: { allow: ['tool_1*'] } };
    await using user = await ServedHub.start({ args: ['--notebook', 'none'] });
    const hub = await ServedHub.start({ servers: { changing }, args: ['--notebook', 'none', '--shared-dir', shared] }, user);
    await hub.logged('Bindings written.');
    await hub.stop();
    const whole = realpathSync(join(shared, 'generated'));
    const state = (): string => readdirSync(shared).join(' ');
    let halves = 0;
    for (let kill = 0; kill < 12 && halves < 3; kill++) {
      const doomed = await ServedHub.start({ servers: { changing, many }, args: ['--notebook', 'none', '--shared-dir', shared] }, user);
      // The folder that is being written shows itself by its name.
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (/\.generated-new-/.test(state()) || doomed.log().some(({ msg }) => msg === 'Bindings written.')) resolve();
          else setImmediate(look);
        };
        look();
      });
      await doomed.stop('SIGKILL');
      if (/\.generated-new-/.test(state())) halves++;
      expect(
        python('import generated.mcp.changing; from generated.mcp.changing import first, second; print(first.__doc__ == second.__doc__)'),
      ).toBe('True');
    }
    expect(halves).toBeGreaterThan(0);
    expect(realpathSync(join(shared, 'generated'))).toHaveLength(whole.length);
    const last = await ServedHub.start({ servers: { changing }, args: ['--notebook', 'none', '--shared-dir', shared] }, user);
    await last.until(() => last.stderr.includes('Bindings written.'));
    await last.stop();
    expect(state()).not.toMatch(/\.generated-(new|old|link)-/);
  });

  it('ends at once also while it waits for a server, and leaves the bindings as they were', async () => {
    const silent = { command: process.execPath, args: [fixtureServer('hangs.mjs')] };
    await using hub = await serve();
    await using second = await ServedHub.start({ servers: { silent }, args: ['--notebook', 'none', '--shared-dir', shared] }, hub);
    expect(await second.stop()).toBe(0);
    expect(second.stderr).not.toContain('Bindings written.');
    expect(python('import generated.mcp.changing.only_1; print(1)')).toBe('1');
  });

  it('goes on serving where the folder cannot be written, and leaves what is not its own alone', async () => {
    mkdirSync(join(shared, 'generated'), { recursive: true });
    writeFileSync(join(shared, 'generated', 'thesis.txt'), 'years of work');
    await using hub = await ServedHub.start({ servers: { changing }, args: ['--notebook', 'none', '--shared-dir', shared] });
    await hub.logged('are not up to date');
    expect(hub.stderr).toContain('it holds files that were not generated');
    expect(readFileSync(join(shared, 'generated', 'thesis.txt'), 'utf8')).toBe('years of work');
    expect((await hub.call('changing', 'first', {}, hub.ownerToken)).answer).toMatchObject({ success: true, result: '1' });
  });

  it('keeps a plain folder plain, so that what `generate` wrote can stay committed', async () => {
    const file = join(shared, '..', 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { changing } }));
    await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
    await using generated = Watching.program(['generate', '--out', join(shared, 'generated'), '--config', file], { env: hub.env });
    expect(await generated.ended).toBe(0);
    await using second = await ServedHub.start({ servers: { changing }, args: ['--notebook', 'none', '--shared-dir', shared] });
    await second.logged('Bindings written.');
    expect(lstatSync(join(shared, 'generated')).isDirectory()).toBe(true);
    expect(() => readlinkSync(join(shared, 'generated'))).toThrow();
    expect(python('import generated.mcp.changing.only_1; print(1)')).toBe('1');
  });
});
