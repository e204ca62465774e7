import { BridgeError } from '../../core/errors.js';
import { chooseHub } from '../hub/choose-hub.js';

/** The address of a hub's door for agents; `true`: of the hub that this user runs, or names. @throws BridgeError `bad_usage`. */
export function toHubAddress(url: string | true, dir: string): string {
  if (url !== true) return toDoor(url);
  const hub = chooseHub(dir);
  if (hub !== undefined) return toDoor(hub.url);
  throw new BridgeError(
    'bad_usage',
    'No hub of yours serves, so it is not known where. Start one ("notebridge serve"), or give its address: --url http://127.0.0.1:8765/mcp',
  );
}

function toDoor(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw bad('it is no address. Give that of the hub: http://127.0.0.1:8765/mcp');
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw bad('there is more in it than an address. A token is not for the host’s file: leave it out');
  if (url.pathname === '/') url.pathname = '/mcp';
  return url.href;
}

function bad(found: string): BridgeError {
  return new BridgeError('bad_usage', `--url cannot be used: ${found}.`);
}
