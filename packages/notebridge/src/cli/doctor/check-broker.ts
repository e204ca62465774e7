import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { ownVersion } from '@notebridge/system/files/own-files';
import { namesInPrivateDir } from '@notebridge/system/files/private-file';
import { processExists } from '@notebridge/system/processes/living-process';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { notebooksOf } from '../../broker/ask-host.js';
import { type HostPlace, readHostPlaces } from '../../broker/host-place.js';
import { type Check, failedCheck, note, ok } from './check.js';

/** The processes that hold notebooks: whether each is there, proves itself, and is of this version. */
export async function checkBroker(): Promise<Check[]> {
  const dir = stateDir();
  const file = join(dir, 'broker.json');
  try {
    const places = readHostPlaces(dir);
    const isStale = existsSync(file) && !places.some(({ kind }) => kind === 'broker');
    // An agent starts another one by itself: no fault.
    const stale = isStale
      ? [note('open notebooks', `${file} speaks of a broker that was killed`, 'None needed: the next agent replaces it.')]
      : [];
    const found = [...stale, ...checkLost(dir, places), ...(await Promise.all(places.map((place) => check(place, dir))))];
    return found.length === 0 ? [ok('open notebooks', 'none')] : found;
  } catch (error) {
    return [failedCheck('open notebooks', messageOf(error), 'Until then, agents cannot open the built-in notebook but with --standalone.')];
  }
}

/** Processes that listen where notebooks are joined, and are named by no file: no agent finds what they hold. */
function checkLost(dir: string, places: readonly HostPlace[]): Check[] {
  const named = new Set(places.map(({ pid }) => pid));
  const pids = namesInPrivateDir(dir).map((name) => Number(/^host-(\d+)\.sock$/.exec(name)?.[1]));
  return pids
    .filter((pid) => pid > 0 && !named.has(pid) && processExists(pid))
    .map((pid) =>
      note(
        `open notebooks of process ${pid}`,
        `process ${pid} listens in ${dir}, and no file names it: it is just starting or ending, or its file was removed and no agent finds it`,
        `If it is still there in a minute, end it: kill ${pid}. It saves what it holds first.`,
      ),
    );
}

async function check(place: HostPlace, dir: string): Promise<Check> {
  const { pid, version, kind } = place;
  const name = kind === 'broker' ? 'open notebooks' : `open notebooks of process ${pid}`;
  try {
    const notebooks = await notebooksOf(place, ownVersion());
    const files = notebooks.map(({ file, agents, windows }) => `${file ?? 'in memory'} (agents: ${agents.length}, windows: ${windows})`);
    return ok(name, `${files.length === 0 ? 'none' : files.join(', ')} (pid ${pid}, version ${version})`);
  } catch (error) {
    if (codeOf(error) === 'other_version')
      return failedCheck(
        name,
        `process ${pid} is Notebridge ${version}, and this is ${ownVersion()}; agents of this version cannot open the built-in notebook`,
        'Run: notebridge stop all. It saves everything; the next agent starts this version.',
      );
    if (codeOf(error) === 'host_silent')
      return failedCheck(name, messageOf(error), `Let it go on (kill -CONT ${pid}), or end it (kill ${pid}): it saves first.`);
    const path = kind === 'broker' ? join(dir, 'broker.json') : join(dir, `notebook-${pid}.json`);
    return failedCheck(
      name,
      `${path} names process ${pid}, which does not prove that it is yours: ${messageOf(error)}`,
      `Nothing secret was sent to it. If it is none of yours, remove the file: rm "${path}"`,
    );
  }
}
