// @module-tag deep
// @module-tag P-066

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { ServerState } from '@notebridge/protocol/core/tool-server';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ServerConfig } from '../../src/config/server-config.js';
import { hangsAfterMs } from '../support/hangs-after.js';
import { fixtureConfig, fixtureServer, linesOf, temporaryPath } from '../support/upstreams.js';

beforeEach(({ skip }) => skip(process.platform !== 'linux', 'processes are looked up in /proc'));

interface Family {
  hub: ChildProcess;
  states: ServerState[];
  /** Children, grandchildren and the servers themselves. */
  pids: number[];
}

/** A real hub of its own process, with a server that has children. */
async function startHub(createConfig: (idsFile: string) => ServerConfig): Promise<Family> {
  const idsFile = temporaryPath('ids');
  const hub = spawn(process.execPath, [fixtureServer('hub.mjs'), JSON.stringify([createConfig(idsFile)])], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void hub.kill('SIGKILL'));
  const states = JSON.parse(String((await once(hub.stdout, 'data'))[0])) as ServerState[];
  const pids = linesOf(idsFile).map(Number);
  expect(pids).toHaveLength(3);
  expect(pids.filter(isAlive)).toEqual(pids);
  return { hub, states, pids };
}

function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The processes that have it in their arguments. */
function programsThatName(argument: string): string[] {
  const commands = readdirSync('/proc').map((name) => readOrEmpty(`/proc/${name}/cmdline`));
  return commands.filter((command) => command.includes(`${argument}\0`));
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The guard of a hub: a shell that was started by it, or by nobody any more. */
function guardOf(hub: ChildProcess): number {
  const children = readFileSync(`/proc/${hub.pid}/task/${hub.pid}/children`, 'utf8').trim().split(' ').map(Number);
  const guard = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('notebridge-guard'));
  if (guard === undefined) throw new Error('The hub has no guard.');
  return guard;
}

const inside = (command: string, toArgs: (program: string[]) => string[]) => (idsFile: string) => {
  const direct = fixtureConfig('family.mjs', [idsFile]);
  return { ...direct, command, args: toArgs([direct.command, ...direct.args]) };
};
const quoteForShell = (program: string[]): string => program.map((word) => `'${word}'`).join(' ');

const ways: [string, (idsFile: string) => ServerConfig][] = [
  ['directly', (idsFile) => fixtureConfig('family.mjs', [idsFile])],
  ['by sh -c', inside('sh', (program) => ['-c', `${quoteForShell(program)}; true`])],
  ['by npx', inside('npx', (program) => ['--no-install', '-c', quoteForShell(program)])],
  ['by setsid', inside('setsid', (program) => ['--wait', ...program])],
];

describe('the processes of a server', () => {
  it.each(ways)('end with a hub that is killed, started %s: children, and those that left the group', async (_, createConfig) => {
    const { hub, pids } = await startHub(createConfig);
    const guard = guardOf(hub);
    hub.kill('SIGKILL');
    await vi.waitUntil(() => !pids.some(isAlive), { timeout: hangsAfterMs, interval: 20 });
    await vi.waitUntil(() => !isAlive(guard), { timeout: hangsAfterMs, interval: 20 });
  });

  it.each(ways)('end with a hub that closes, started %s', async (_, createConfig) => {
    const { hub, pids } = await startHub(createConfig);
    const guard = guardOf(hub);
    const answers = once(hub.stdout ?? expect.fail(), 'data');
    hub.stdin?.write('close\n');
    expect(String((await answers)[0])).toBe('closed\n');
    expect(pids.filter(isAlive)).toEqual([]);
    await vi.waitUntil(() => !isAlive(guard), { timeout: hangsAfterMs, interval: 20 });
  });

  it('end when the program that we started ends at once, and leaves its child behind in a session of its own', async () => {
    const idsFile = temporaryPath('ids');
    // It never answers: a child that did so, on the pipes that it shares, could pass for a server that runs.
    const silent = fixtureConfig('hangs.mjs', [idsFile]);
    const config = { ...silent, command: 'setsid', args: ['--fork', silent.command, ...silent.args] };
    const hub = spawn(process.execPath, [fixtureServer('hub.mjs'), JSON.stringify([config])], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void hub.kill('SIGKILL'));
    const [state] = JSON.parse(String((await once(hub.stdout, 'data'))[0])) as ServerState[];
    expect(state).toMatchObject({ status: 'failed', reason: expect.stringContaining('exit code 0') });
    // A server is given up in the moment its last start fails; what that start left is ended just after.
    await vi.waitUntil(() => programsThatName(idsFile).length === 0, { timeout: hangsAfterMs, interval: 20 });
  });

  it('are guarded only where there are any', async () => {
    const hub = spawn(process.execPath, [fixtureServer('hub.mjs'), '[]'], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void hub.kill('SIGKILL'));
    await once(hub.stdout, 'data');
    expect(readFileSync(`/proc/${hub.pid}/task/${hub.pid}/children`, 'utf8')).toBe('');
  });

  it('end with a hub that is killed after its guard had been told to end, as by Ctrl-C', async () => {
    const { hub, pids } = await startHub((idsFile) => fixtureConfig('family.mjs', [idsFile]));
    const guard = guardOf(hub);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.kill(guard, signal);
    expect(isAlive(guard)).toBe(true);
    hub.kill('SIGKILL');
    await vi.waitUntil(() => !pids.some(isAlive), { timeout: hangsAfterMs, interval: 20 });
  });

  it('are guarded again when the guard was killed', async () => {
    const { hub, pids } = await startHub((idsFile) => fixtureConfig('family.mjs', [idsFile]));
    const first = guardOf(hub);
    process.kill(first, 'SIGKILL');
    await vi.waitUntil(
      () => {
        try {
          return guardOf(hub) !== first;
        } catch {
          return false;
        }
      },
      { timeout: hangsAfterMs, interval: 20 },
    );
    hub.kill('SIGKILL');
    await vi.waitUntil(() => !pids.some(isAlive), { timeout: hangsAfterMs, interval: 20 });
  });
});
