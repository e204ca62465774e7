import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '@notebridge/kit/message-of';
import { realFileOf } from '../../assembly/notebooks/notebook-file.js';
import { stateDir } from '../../assembly/state-dir.js';
import { askHost, findHolder, notebooksOf } from '../../broker/ask-host.js';
import { type HostPlace, readHostPlaces } from '../../broker/host-place.js';
import { dialHost } from '../../broker/join-link.js';
import { BridgeError, codeOf } from '../../core/errors.js';
import { processExists } from '../../processes/own-user.js';
import { ownVersion } from '../../state/own-files.js';
import { quoteWord } from '../own-command.js';

/** How long a process may take to save and end. Milliseconds. */
const endTimeoutMs = 20_000;
const pollMs = 25;

/** Saves and ends one notebook, or all with the processes that hold them. Rejects with `bad_usage` if there is none such. */
export async function stopNotebooks(what: string, { isForced }: { isForced: boolean }): Promise<void> {
  const dir = stateDir();
  if (what !== 'all') return stopFile(dir, realFileOf(what), { isForced });
  const places = readHostPlaces(dir);
  if (places.length === 0) return print('No notebook of yours is open.');
  const faults: unknown[] = [];
  // One that would lose something keeps no other from its end.
  for (const place of places) await stopHost(place, { isForced }).catch((error: unknown) => faults.push(error));
  for (const fault of faults.slice(1)) process.stderr.write(`notebridge: ${messageOf(fault)}\n`);
  if (faults.length > 0) throw faults[0];
}

async function stopFile(dir: string, file: string, { isForced }: { isForced: boolean }): Promise<void> {
  const place = await findHolder(dir, ownVersion(), file);
  if (place === undefined) {
    const other = await sameNameElsewhere(dir, file);
    const hint =
      other === undefined ? '"notebridge ps" lists what is open.' : `Open is another of that name: notebridge stop ${quoteWord(other)}`;
    throw new BridgeError('bad_usage', `No process of yours that can be asked has "${file}" open. ${hint}`);
  }
  await ask(place, { file, isForced });
  if (place.kind === 'notebook') await untilEnded(place);
  print(`Ended: ${file}`);
}

/** A notebook that is open is often stopped from another folder. */
async function sameNameElsewhere(dir: string, file: string): Promise<string | undefined> {
  const open = await Promise.all(readHostPlaces(dir).map((place) => notebooksOf(place, ownVersion()).catch(() => [])));
  const files = open.flat().flatMap((notebook) => notebook.file ?? []);
  return files.find((each) => basename(each) === basename(file));
}

async function stopHost(place: HostPlace, { isForced }: { isForced: boolean }): Promise<void> {
  try {
    await ask(place, { isForced });
  } catch (error) {
    // It has proved itself by then, and knows another protocol: the signal is the same in all versions, and it saves.
    if (codeOf(error) !== 'other_version' || !(await isOurs(place))) throw error;
    process.kill(place.pid, 'SIGTERM');
  }
  await untilEnded(place);
  print(`Ended: process ${place.pid}${place.file === undefined ? '' : ` with ${place.file}`}`);
}

/** Throws if something would be lost. */
async function ask(place: HostPlace, params: { file?: string; isForced: boolean }): Promise<void> {
  const { losses } = await askHost(place, ownVersion(), ['host/stop', params]);
  if (!Array.isArray(losses) || losses.length === 0) return;
  throw new BridgeError(
    'not_saved',
    `Not ended, because something would be lost: ${losses.join('; ')}. Save it in its window, or end it with --force.`,
  );
}

/** The handshake says it before the versions are compared. */
async function isOurs(place: HostPlace): Promise<boolean> {
  const refuse = () => Promise.reject(new BridgeError('unknown_method', 'Nothing is answered here.'));
  try {
    const peer = await dialHost({ ...place, version: ownVersion() }, ownVersion(), () => ({
      request: refuse,
      notify: () => {},
      closed: () => {},
    }));
    peer.close();
    return true;
  } catch (error) {
    return codeOf(error) === 'other_version';
  }
}

async function untilEnded({ pid }: HostPlace): Promise<void> {
  const deadline = performance.now() + endTimeoutMs;
  while (processExists(pid)) {
    if (performance.now() > deadline)
      throw new BridgeError('timeout', `Process ${pid} was asked to end and is still there after ${endTimeoutMs / 1000} s. Look at it.`);
    await pause(pollMs);
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
