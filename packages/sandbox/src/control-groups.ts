import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { startOfProcess } from '@notebridge/system/processes/living-process';
import { parseMounts } from '@notebridge/system/starts/mounts';
import { namesIn, textIn } from '@notebridge/system/starts/seen-files';

/** What Linux bounds for a program and all that it starts, together. */
export interface GroupBounds {
  /** Processes and threads. */
  readonly tasks: number;
  /** Memory, files in memory and what Linux itself holds for them (sockets, pipes), in bytes. */
  readonly bytes: number;
}

/** Groups of processes (cgroups) around one program. */
export interface ControlGroups {
  /** Files: a process that writes 0 to each of them is in. */
  readonly doors: readonly string[];
  /** Whether Linux has ended a process because all together went beyond their memory. */
  hasOverflowed(): boolean;
  /** Once all of its processes have ended. Tries for a while, since they take a moment to vanish. */
  remove(): Promise<void>;
}

type Kind = 'pids' | 'memory' | 'cpu';

/** A folder in which a group can be made, and what it can bound. */
interface Place {
  readonly folder: string;
  readonly kinds: readonly Kind[];
  readonly version: 1 | 2;
}

const kinds: readonly Kind[] = ['pids', 'memory', 'cpu'];
const versions: { readonly [fileSystem: string]: 1 | 2 } = { cgroup: 1, cgroup2: 2 };
const removeTries = 100;
const removeStepMs = 30;
/** Of the processor, when it is short, what `nice -n 5` leaves to one process; see sched_prio_to_weight of Linux. */
const sharesOfOne = 335;
const weightBesideOthers = 33;

let known: readonly Place[] | undefined;

/** What Linux bounds here by groups, for a program and all that it starts. Looked for once, and tried out. */
export function boundKinds(): readonly Kind[] {
  return places().flatMap((place) => place.kinds);
}

/** Undefined where this user can make none. Removes what programs of ours have left that were killed. */
export function createControlGroups(bounds: GroupBounds): ControlGroups | undefined {
  const made: { place: Place; folder: string }[] = [];
  for (const place of places()) {
    removeStale(place.folder);
    const folder = join(place.folder, `${prefix}${process.pid}-${startOfProcess(process.pid)}-${randomBytes(4).toString('hex')}`);
    try {
      mkdirSync(folder);
      made.push({ place, folder });
      for (const [file, value] of settingsOf(place, bounds)) if (existsSync(join(folder, file))) writeFileSync(join(folder, file), value);
    } catch (error) {
      for (const { folder } of made) tryRemove(folder);
      throw new Error(`the bounds of its processes cannot be set: ${messageOf(error)}`);
    }
  }
  if (made.length === 0) return undefined;
  return {
    doors: made.map(({ folder }) => join(folder, 'cgroup.procs')),
    hasOverflowed: () => made.some(({ place, folder }) => countOverflows(place, folder) > 0),
    async remove() {
      for (let count = 0; count < removeTries && made.some(({ folder }) => !tryRemove(folder)); count++)
        await new Promise((resolve) => setTimeout(resolve, removeStepMs));
    },
  };
}

const prefix = 'notebridge-';

function settingsOf({ version, kinds }: Place, { tasks, bytes }: GroupBounds): [file: string, value: string][] {
  const settings: { [kind in Kind]: [string, string][] } = {
    pids: [['pids.max', String(tasks)]],
    memory:
      version === 1
        ? [
            ['memory.limit_in_bytes', String(bytes)],
            ['memory.memsw.limit_in_bytes', String(bytes)],
          ]
        : [
            ['memory.max', String(bytes)],
            ['memory.swap.max', '0'],
          ],
    cpu: version === 1 ? [['cpu.shares', String(sharesOfOne * availableParallelism())]] : [['cpu.weight', String(weightBesideOthers)]],
  };
  return kinds.flatMap((kind) => settings[kind]);
}

function countOverflows({ version, kinds }: Place, folder: string): number {
  if (!kinds.includes('memory')) return 0;
  const text = textIn(join(folder, version === 1 ? 'memory.oom_control' : 'memory.events')) ?? '';
  return Number(/^oom_kill (\d+)/m.exec(text)?.[1] ?? 0);
}

function places(): readonly Place[] {
  known ??= process.platform === 'linux' ? findPlaces().filter(isUsable) : [];
  return known;
}

/** A group is made, entered and removed. */
function isUsable({ folder }: Place): boolean {
  const trial = join(folder, `${prefix}${process.pid}-${startOfProcess(process.pid)}-trial`);
  try {
    mkdirSync(trial);
    return spawnSync('/bin/sh', ['-c', 'echo 0 >"$1"', 'notebridge-trial', join(trial, 'cgroup.procs')]).status === 0;
  } catch {
    return false;
  } finally {
    tryRemove(trial);
  }
}

/**
 * Of the first version one for each kind: below the group that we are in. Of the second version a group that has processes gives no bounds to
 * those below it, so beside it, if whoever rules there (systemd) gives bounds to those. No farther up: nothing leaves what an
 * administrator has set for all of that.
 */
function findPlaces(): Place[] {
  const mounts = parseMounts(textIn('/proc/self/mountinfo') ?? '').flatMap((mount) => {
    const version = versions[mount.fileSystem];
    return version === undefined ? [] : [{ ...mount, version }];
  });
  const own = (textIn('/proc/self/cgroup') ?? '').split('\n').map((line) => /^\d+:([^:]*):(\/.*)$/.exec(line));
  const found: Place[] = [];
  for (const [, controllers = '', path = ''] of own.filter((entry) => entry !== null)) {
    const ours = controllers.split(',');
    const mount = mounts.find(({ version, options }) =>
      controllers === '' ? version === 2 : version === 1 && ours.every((name) => options.includes(name)),
    );
    // Another root is mounted there: where we are in it is not known.
    if (!mount || path.startsWith('/..')) continue;
    const folder = join(mount.path, mount.root === '/' ? path : path === mount.root ? '/' : path.slice(mount.root.length));
    if (mount.version === 1) found.push({ folder, version: 1, kinds: kinds.filter((kind) => ours.includes(kind)) });
    else
      appendAll(
        found,
        [folder, ...(folder === mount.path ? [] : [join(folder, '..')])].map((each) => toPlaceOfTwo(each)),
      );
  }
  const useful = found.filter((place) => place.kinds.length > 0);
  // One group of the second version is enough.
  return useful.filter((place, index) => place.version === 1 || useful.findIndex(({ version }) => version === 2) === index);
}

function toPlaceOfTwo(folder: string): Place {
  const given = (textIn(join(folder, 'cgroup.subtree_control')) ?? '').trim().split(' ');
  return { folder, version: 2, kinds: kinds.filter((kind) => given.includes(kind)) };
}

/** Those of a process that is gone. With processes in it a group cannot be removed. */
function removeStale(folder: string): void {
  for (const name of namesIn(folder)) {
    const [, pid = '', start] = /^notebridge-(\d+)-(\d+)-/.exec(basename(name)) ?? [];
    if (pid !== '' && (startOfProcess(Number(pid)) ?? '0') !== start) tryRemove(join(folder, name));
  }
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** What keeps the bounds of an own Python in the sandbox on this machine. */
export interface KernelBounds {
  /** For people. */
  readonly text: string;
  /** Linux bounds how many there are, however busy the machine is. */
  readonly isKept: boolean;
  /** What would have Linux do it. */
  readonly fix?: string;
}

const watched = 'watched ten times a second';

/** Makes a control group, to see whether it can, and removes it. */
export function lookAtBounds(): KernelBounds {
  const kinds = boundKinds();
  const isRoot = process.getuid?.() === 0;
  const byGroup = 'bounded by a control group of Linux';
  const isKept = kinds.includes('pids') || !isRoot;
  const processes = kinds.includes('pids') ? byGroup : isRoot ? `${watched} alone, since root has no limit` : 'bounded by a limit of Linux';
  return {
    text: `processes ${processes}; all memory together ${kinds.includes('memory') ? byGroup : watched}`,
    isKept,
    ...(isKept ? {} : { fix: 'Run Notebridge as another user than root, or where it can make control groups (cgroups).' }),
  };
}
