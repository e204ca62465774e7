import { setTimeout as pause } from 'node:timers/promises';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { ownVersion } from '@notebridge/system/files/own-files';
import { processExists } from '@notebridge/system/processes/living-process';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { askToEnd } from '../../broker/ask-host.js';
import { type HostPlace, readHostPlaces } from '../../broker/host-place.js';
import { dialHost } from '../../broker/join-link.js';
import type { EndedNotebook } from '../../broker/shared-notebook.js';
import { defineCommand, option } from '../define-command.js';
import { findOpen } from '../notebook/find-open.js';
import { onOneLine } from '../terminal-logger.js';

/** `notebridge stop NOTEBOOK` or `stop all`: saves and ends notebooks, wherever they are open. */
export const stopCommand = defineCommand({
  arguments: [['<what>', 'its id or address in "notebridge ps", its .ipynb file, or "all"']],
  typed: [option('--force', 'also if something that is in no file is lost')],
  run: (what, { force = false }) => (what === 'all' ? stopAll(force) : stopOne(what, force)),
});

/** How long a process may take to save and end. Milliseconds. */
const endTimeoutMs = 20_000;
const pollMs = 25;

/** Saves and ends all notebooks, with the processes that hold them. */
async function stopAll(isForced: boolean): Promise<void> {
  const places = readHostPlaces(stateDir());
  if (places.length === 0) return print('No notebook of yours is open.');
  const faults: unknown[] = [];
  // One that would lose something keeps no other from its end.
  for (const place of places) await stopHost(place, isForced).catch((error: unknown) => faults.push(error));
  for (const fault of faults.slice(1)) process.stderr.write(`notebridge: ${messageOf(fault)}\n`);
  if (faults.length > 0) throw faults[0];
}

/** Rejects with `bad_usage` if there is none such. */
async function stopOne(named: string, isForced: boolean): Promise<void> {
  const { place, notebook } = await findOpen(named);
  const ended = await askToEnd(place, ownVersion(), { id: notebook.id, isForced });
  if (place.kind === 'notebook') await untilEnded(place);
  printEnded(ended);
}

async function stopHost(place: HostPlace, isForced: boolean): Promise<void> {
  let ended: EndedNotebook[] = [];
  try {
    ended = await askToEnd(place, ownVersion(), { isForced });
  } catch (error) {
    // It has proved itself by then, and knows another protocol: the signal is the same in all versions, and it saves.
    if (codeOf(error) !== 'other_version' || !(await isOurs(place))) throw error;
    process.kill(place.pid, 'SIGTERM');
  }
  await untilEnded(place);
  printEnded(ended);
  if (ended.length === 0) print(`Ended: process ${place.pid}${place.file === undefined ? '' : ` with ${onOneLine(place.file)}`}`);
}

function printEnded(ended: readonly EndedNotebook[]): void {
  for (const notebook of ended) print(onOneLine(`Ended: ${notebook.id} ${notebook.place ?? '(in memory)'}${whatOfItsRun(notebook)}`));
}

/** What has become of the code that ran. The kernels of a Jupyter server and of a page are not ours, and go on. */
function whatOfItsRun({ kind, isRunning, holder }: EndedNotebook): string {
  if (!isRunning) return '';
  const run = holder === null ? 'a run' : `a run of ${quote(holder)}`;
  return kind === 'built-in' ? ` (${run} was interrupted)` : ` (${run} goes on there)`;
}

/** The handshake says it before the versions are compared. */
async function isOurs(place: HostPlace): Promise<boolean> {
  const refuse = () => Promise.reject(new BridgeError('unknown_method', 'Nothing is answered here.'));
  try {
    const ours = { ...place, version: ownVersion() };
    const peer = await dialHost(ours, ownVersion(), () => ({ request: refuse, notify: () => {}, closed: () => {} }));
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
