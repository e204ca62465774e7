import { consoleLinkRoute } from '../../doors/owner/owner-routes.js';
import { openAddress } from '../../identity/open-address.js';
import { defineCommand, option } from '../define-command.js';
import { askOwner } from '../hub/hub-request.js';
import { ownHub } from '../hub/own-hub.js';
import { newTypedCode } from './code.js';

/** `notebridge console`: the page by which the running hub is watched. */
export const consoleCommand = defineCommand({
  typed: [option('--no-browser', 'print the address instead, which opens the page once, within 15 minutes')],
  run: openConsole,
});

/** Opens the console, signed in. Prints the address alone where no browser is to be opened, or none can. Rejects with `closed` without a hub. */
async function openConsole({ browser }: { browser: boolean }): Promise<void> {
  const hub = await ownHub();
  const newAddress = async (query = ''): Promise<string> => {
    const { address } = await askOwner<'ConsoleLink'>(hub, `${consoleLinkRoute.path}${query}`, { body: {} });
    return address;
  };
  const { stdout, stderr } = process;
  const result = browser ? await openAddress(await newAddress('?opens=true')) : undefined;
  if (result?.opened === true) return void stderr.write(`The console is open in your browser (${result.by}).\n`);
  if (result !== undefined) stderr.write(`${result.hint} The address is good for 15 minutes, once:\n`);
  stdout.write(`${await newAddress()}\n`);
  // A terminal alone: what reads stdout wants the address.
  if (stderr.isTTY) stderr.write(`As another user, or through a proxy or forwarded port, type the code ${newTypedCode()}\n`);
}
