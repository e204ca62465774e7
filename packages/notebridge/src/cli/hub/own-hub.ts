import { BridgeError } from '@notebridge/protocol/core/errors';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { type HubFile, isOwnHub, readHubFiles } from '../../identity/hub-file.js';
import { hubVariable } from '../../identity/hub-name.js';
import { readOwnerToken } from '../../identity/owner-token.js';
import { asTyped } from '../own-command.js';

/** A hub of this user that runs, and the token of its owner. */
export interface OwnHub {
  url: string;
  token: string;
}

/** The hub that a command talks to; see `findHub`. Rejects with `closed` if there is none; `consequence` is said behind that. */
export async function ownHub(consequence = ''): Promise<OwnHub> {
  const hub = await findHub();
  if (hub !== undefined) return hub;
  throw new BridgeError('closed', asTyped(`No hub of yours runs${consequence}. One is started by: notebridge serve`));
}

/**
 * The user's running hub, if there is one; see `chooseHub`. What listens at its address has to prove that it is the hub before it sees the token: after
 * a crash any program may have taken the port.
 */
export async function findHub(): Promise<OwnHub | undefined> {
  const file = chooseHub();
  if (file === undefined || readOwnerToken(stateDir()) === undefined) return undefined;
  const hub = await proven(file);
  if (hub === undefined)
    process.stderr.write(`notebridge: What listens at ${file.url} is not your hub, or does not answer; it is not used.\n`);
  return hub;
}

/** The hub that a file of the user names, once it has proved that it is that hub. */
export async function proven({ url }: HubFile): Promise<OwnHub | undefined> {
  const token = readOwnerToken(stateDir());
  return token !== undefined && (await isOwnHub(url, token)) ? { url, token } : undefined;
}

/**
 * The hub that a command talks to: the one that is named, or the only one of this user. Undefined: none runs. That what listens there is
 * that hub is only known after `isOwnHub`.
 *
 * @throws BridgeError `bad_usage` if the one that is named does not run, or several run and none is named.
 */
export function chooseHub(dir = stateDir()): HubFile | undefined {
  const running = readHubFiles(dir);
  const name = process.env[hubVariable] || undefined;
  const list = running.map((hub) => `"${hub.name}" (${hub.url})`).join(', ');
  if (name === undefined) {
    if (running.length < 2) return running[0];
    throw new BridgeError('bad_usage', `Several hubs of yours run: ${list}. Say which one you mean: --hub NAME`);
  }
  const named = running.find((hub) => hub.name === name);
  if (named !== undefined) return named;
  throw new BridgeError(
    'bad_usage',
    `No hub of yours that is called "${name}" runs${list === '' ? `. Start it: notebridge serve --name ${name}` : `; there is ${list}`}`,
  );
}
