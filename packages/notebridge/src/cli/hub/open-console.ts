import { isJsonObject } from '@notebridge/kit/json';
import { consoleLinksPath } from '../../doors/console/console-door.js';
import { openAddress } from '../../identity/open-address.js';
import { askHub } from '../client/hub-request.js';
import { ownHub } from './own-hub.js';
import { newTypedCode } from './print-code.js';

const askMs = 10_000;

/** Opens the console, signed in. Prints the address alone where no browser is to be opened, or none can. Rejects with `closed` without a hub. */
export async function openConsole({ browser }: { browser: boolean }): Promise<void> {
  const { url, token } = await ownHub();
  const newAddress = async (query = ''): Promise<string> => {
    const answer = await askHub(url, { path: `${consoleLinksPath}${query}`, token, body: {}, timeoutMs: askMs });
    return String(isJsonObject(answer) ? answer.address : '');
  };
  const { stdout, stderr } = process;
  const result = browser ? await openAddress(await newAddress('?opens=true')) : undefined;
  if (result?.opened === true) return void stderr.write(`The console is open in your browser (${result.by}).\n`);
  if (result !== undefined) stderr.write(`${result.hint} The address is good for 15 minutes, once:\n`);
  stdout.write(`${await newAddress()}\n`);
  // A terminal alone: what reads stdout wants the address.
  if (stderr.isTTY) stderr.write(`As another user, or through a proxy or forwarded port, type the code ${newTypedCode()}\n`);
}
