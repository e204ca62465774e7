import { Command } from 'commander';
import { addHubOptions, type HubCommandOptions } from '../command-options.js';
import { createOwnNotebridge } from '../own-notebridge.js';
import { serveAgent } from '../serve-agent.js';

export function stdioCommand(): Command {
  const command = new Command('stdio').description('an MCP server on stdin and stdout, for an agent host (the default command)');
  return addHubOptions(command).action(async (options: HubCommandOptions) => {
    await serveAgent(await createOwnNotebridge(options, { command: 'stdio', oneAgent: true, hold: options.standalone ? 'own' : 'join' }));
  });
}
