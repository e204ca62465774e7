import { stateDir } from '@notebridge/system/processes/state-dir';
import { ensureOwnerToken } from '../../identity/owner-token.js';
import { createTypedCode } from '../../identity/typed-codes.js';
import { defineCommand } from '../define-command.js';

/** `notebridge code`: lets a browser in that is not known to be this user's. The code is good at whatever of this user runs, which is not asked. */
export const codeCommand = defineCommand({
  run: () => {
    process.stdout.write(`${newTypedCode()}\n`);
    process.stderr.write('Type it into the page that asks for it, once, within 15 minutes.\n');
  },
});

/** A code of this user. Throws `write_failed` if the state folder is not theirs alone. */
export function newTypedCode(): string {
  return createTypedCode(ensureOwnerToken(stateDir()));
}
