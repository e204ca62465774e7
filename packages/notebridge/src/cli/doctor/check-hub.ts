import { createServer } from 'node:net';
import { errnoOf } from '@notebridge/protocol/util/errno';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { describePortOwner } from '@notebridge/system/processes/port-owner';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { type HubFile, hubFileOf, hubNamesIn, readHubFile, readHubFiles } from '../../identity/hub-file.js';
import { usualHubName } from '../../identity/hub-name.js';
import { chooseHub, type OwnHub, proven } from '../hub/own-hub.js';
import { type Check, failedCheck, note, ok } from './check.js';

/** Each hub that the user's files name: there, gone, or not what it claims to be. */
export async function checkHubs(): Promise<Check[]> {
  const dir = stateDir();
  const names = hubNamesIn(dir);
  return names.length === 0 ? [ok('running hub', 'none')] : Promise.all(names.map((name) => checkHub(dir, name)));
}

async function checkHub(dir: string, name: string): Promise<Check> {
  const title = name === usualHubName ? 'running hub' : `running hub ${name}`;
  const path = hubFileOf(dir, name);
  try {
    const hub = readHubFile(dir, name);
    if (hub === undefined)
      return failedCheck(
        title,
        `${path} speaks of a hub that has ended without removing it`,
        `Remove it: rm "${path}". The next "notebridge serve" of that name replaces it too.`,
      );
    if (await proven(hub)) return ok(title, `${hub.url} (pid ${hub.pid}, version ${hub.version})`);
    return failedCheck(
      title,
      `${path} says ${hub.url} (pid ${hub.pid}), but what listens there cannot prove that it is your hub`,
      `Your token was not sent to it. Look at process ${hub.pid}; if it is no hub of yours, remove the file: rm "${path}"`,
    );
  } catch (error) {
    return failedCheck(title, messageOf(error), `Until then, commands start servers of their own.`);
  }
}

/** The user's hub that serves; `find`: which one, by default that of commands. Undefined: none does, or something of it is at fault. Never rejects. */
export async function findOwnHub(find = (): HubFile | undefined => chooseHub()): Promise<OwnHub | undefined> {
  try {
    const hub = find();
    return hub && (await proven(hub));
  } catch {
    return undefined;
  }
}

/** Whether `notebridge serve` could have its port. */
export async function checkPort(port: number): Promise<Check> {
  if (port === 0) return ok('port', 'any free one');
  const taken = await tryPort(port);
  if (taken === undefined) return ok(`port ${port}`, 'free');
  const isOurs = await findOwnHub(() => readHubFiles(stateDir()).find(({ url }) => new URL(url).port === String(port)));
  if (isOurs) return ok(`port ${port}`, 'your running hub has it');
  if (taken !== 'EADDRINUSE') return failedCheck(`port ${port}`, `cannot be bound (${taken})`, 'Choose another --port.');
  const holder = (await describePortOwner(port)) ?? 'another program';
  return note(`port ${port}`, `taken by ${holder}`, `End it before "notebridge serve", or choose another --port.`);
}

/** Why it cannot be bound, or undefined. It is released at once. */
function tryPort(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(errnoOf(error) ?? error.message));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
