import type { Command } from 'commander';
import { addHubOptions, type HubCommandOptions } from '../command-options.js';
import { createOwnNotebridge, serveAgent } from '../own-notebridge.js';

/** `notebridge stdio`, the default: an agent host starts it. */
export function stdioCommand(command: Command): void {
  addHubOptions(command).action(async (options: HubCommandOptions) => {
    await serveAgent(await createOwnNotebridge(options, { command: 'stdio', oneAgent: true, hold: options.standalone ? 'own' : 'join' }));
  });
}
