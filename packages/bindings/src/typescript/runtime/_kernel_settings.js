// In place of `_settings.js` in a kernel of Notebridge, which knows its host.
import { ToolError } from './_errors.js';

/** @type {typeof import('./client.js').configure} */
export function configure() {
  throw new ToolError('There is nothing to configure: code here calls the hub that runs it, with the rights of its execution.', {
    code: 'denied',
  });
}
