import { hubOptions } from '../command-options.js';
import { defineCommand } from '../define-command.js';
import { createOwnNotebridge, serveAgent, toNamedLog } from '../own-notebridge.js';

/** `notebridge stdio`, the default: an agent host starts it. */
export const stdioCommand = defineCommand({
  options: hubOptions,
  run: async (options) => {
    const hold = options.standalone ? 'own' : 'join';
    await serveAgent(
      await createOwnNotebridge(options, { command: 'stdio', oneAgent: true, hold, createLogger: toNamedLog('stdio', options) }),
    );
  },
});
