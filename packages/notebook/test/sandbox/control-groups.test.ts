// @module-tag P-241

/** Groups of Linux around real processes: what they bound, and that none is left. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { boundKinds, type ControlGroups, createControlGroups } from '@notebridge/sandbox/control-groups';
import { afterEach, describe, expect, test } from 'vitest';

const mebibyte = 1024 ** 2;
const hasNone = boundKinds().length === 0;
if (hasNone) console.warn('Skipped: this user can make no control groups here');

/** Where a group of the first version can be made to bound processes, looked for by another way than ours. */
function canBoundProcesses(): boolean {
  if (process.platform !== 'linux') return false;
  const own = /^\d+:pids:(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '';
  const mount = / \/ (\/\S+) .* - cgroup \S+ \S*\bpids\b/.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1];
  if (mount === undefined || own.startsWith('/..')) return false;
  const trial = join(mount, own, `notebridge-test-${process.pid}`);
  try {
    mkdirSync(trial);
    rmdirSync(trial);
    return true;
  } catch {
    return false;
  }
}

test.skipIf(!canBoundProcesses())('control groups are found where there are some: without them nothing bounds a bomb in time', () => {
  expect(boundKinds()).toContain('pids');
});

describe.skipIf(hasNone)('control groups', () => {
  const children: ChildProcess[] = [];
  let groups: ControlGroups | undefined;
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await groups?.remove();
  });

  const make = (tasks: number) => {
    groups = createControlGroups({ tasks, bytes: 256 * mebibyte });
    if (!groups) throw new Error('There are none');
    return groups;
  };
  const folders = ({ doors }: ControlGroups) => doors.map((door) => dirname(door));

  test.skipIf(!boundKinds().includes('pids'))('a bomb of processes gets as many as are allowed, however late anybody looks', () => {
    const made = make(30);
    // Each ends by itself. A shell stops at the first process that it cannot have.
    const bomb =
      'for door in "$@"; do echo 0 >"$door" || exit 1; done; count=0; while [ $count -lt 200 ]; do sleep 2 & count=$((count + 1)); done';
    const ended = spawnSync('/bin/sh', ['-c', bomb, 'bomb', ...made.doors], { encoding: 'utf8' });
    expect(ended.stderr).toMatch(/fork|Resource temporarily unavailable/);
    const [pids = ''] = folders(made).filter((folder) => existsSync(join(folder, 'pids.max')));
    expect(readFileSync(join(pids, 'pids.max'), 'utf8').trim()).toBe('30');
    expect(Number(/^max (\d+)/m.exec(readFileSync(join(pids, 'pids.events'), 'utf8'))?.[1])).toBeGreaterThan(0);
  });

  test('are gone after the end, with all that was made', async () => {
    const made = make(30);
    const child = spawn('/bin/sh', ['-c', 'for door in "$@"; do echo 0 >"$door" || exit 1; done; echo in; read -r _', 'in', ...made.doors]);
    children.push(child);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    for (const door of made.doors) expect(readFileSync(door, 'utf8').trim()).toBe(String(child.pid));
    child.stdin.end();
    await made.remove();
    for (const folder of folders(made)) expect(existsSync(folder)).toBe(false);
    await made.remove();
  });

  test('the groups of a program that was killed are removed by the next one, those of one that lives are not', async () => {
    const [place = ''] = folders(make(30)).map((folder) => dirname(folder));
    const gone = spawnSync('/bin/true').pid;
    const [stale, alive] = [
      join(place, `notebridge-${gone}-1-stale`),
      join(place, `notebridge-${process.pid}-${startOf(process.pid)}-alive`),
    ];
    mkdirSync(stale);
    mkdirSync(alive);
    await groups?.remove();
    make(30);
    expect(existsSync(stale)).toBe(false);
    expect(existsSync(alive)).toBe(true);
    rmdirSync(alive);
    await groups?.remove();
    expect(readdirSync(place).filter((name) => name.startsWith(`notebridge-${process.pid}-`))).toEqual([]);
  });
});

function startOf(pid: number): string {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
