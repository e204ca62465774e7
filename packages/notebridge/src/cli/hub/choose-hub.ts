import { BridgeError } from '../../core/errors.js';
import { type HubFile, readHubFiles } from '../../identity/hub-file.js';
import { hubVariable } from '../../identity/hub-name.js';
import { stateDir } from '../../processes/state-dir.js';

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
