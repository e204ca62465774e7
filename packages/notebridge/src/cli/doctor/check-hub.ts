import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { errnoOf } from '@notebridge/kit/errno';
import { messageOf } from '@notebridge/kit/message-of';
import { isOwnHub, readHubFile } from '../../identity/hub-file.js';
import { readOwnerToken } from '../../identity/owner-token.js';
import { describePortOwner } from '../../processes/port-owner.js';
import { stateDir } from '../../processes/state-dir.js';
import { type Check, failedCheck, note, ok } from './check.js';

/** The hub that the user's files name: there, gone, or not what it claims to be. */
export async function checkHub(): Promise<Check> {
  const dir = stateDir();
  const path = join(dir, 'hub.json');
  try {
    const hub = readHubFile(dir);
    if (hub === undefined) {
      if (!existsSync(path)) return ok('running hub', 'none');
      return failedCheck(
        'running hub',
        `${path} speaks of a hub that has ended without removing it`,
        `Remove it: rm "${path}". The next "notebridge serve" replaces it too.`,
      );
    }
    const token = readOwnerToken(dir);
    if (token !== undefined && (await isOwnHub(hub.url, token)))
      return ok('running hub', `${hub.url} (pid ${hub.pid}, version ${hub.version})`);
    return failedCheck(
      'running hub',
      `${path} says ${hub.url} (pid ${hub.pid}), but what listens there cannot prove that it is your hub`,
      `Your token was not sent to it. Look at process ${hub.pid}; if it is no hub of yours, remove the file: rm "${path}"`,
    );
  } catch (error) {
    return failedCheck('running hub', messageOf(error), `Until then, commands start servers of their own.`);
  }
}

/** The user's hub that serves. Undefined: none does, or something of it is at fault. Never rejects. */
export async function findOwnHub(): Promise<{ url: string; token: string } | undefined> {
  const dir = stateDir();
  try {
    const [hub, token] = [readHubFile(dir), readOwnerToken(dir)];
    return hub !== undefined && token !== undefined && (await isOwnHub(hub.url, token)) ? { url: hub.url, token } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether `notebridge serve` could have its port. */
export async function checkPort(port: number): Promise<Check> {
  if (port === 0) return ok('port', 'any free one');
  const taken = await tryPort(port);
  if (taken === undefined) return ok(`port ${port}`, 'free');
  const hub = await ownHubAt(port);
  if (hub) return ok(`port ${port}`, 'your running hub has it');
  if (taken !== 'EADDRINUSE') return failedCheck(`port ${port}`, `cannot be bound (${taken})`, 'Choose another --port.');
  const holder = (await describePortOwner(port)) ?? 'another program';
  return note(`port ${port}`, `taken by ${holder}`, `End it before "notebridge serve", or choose another --port.`);
}

async function ownHubAt(port: number): Promise<boolean> {
  try {
    const dir = stateDir();
    const hub = readHubFile(dir);
    const token = readOwnerToken(dir);
    return hub !== undefined && token !== undefined && new URL(hub.url).port === String(port) && (await isOwnHub(hub.url, token));
  } catch {
    return false;
  }
}

/** Why it cannot be bound, or undefined. It is released at once. */
function tryPort(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(errnoOf(error) ?? error.message));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
