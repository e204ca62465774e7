import { Command } from 'commander';
import { prepareHub } from '../hub-setup.js';
import { addHubOptions, type HubCommandOptions } from '../options.js';
import { serveAgent } from '../serve-agent.js';
import { toSource } from '../sources/to-source.js';

export function stdioCommand(): Command {
  const command = new Command('stdio').description('an MCP server on stdin and stdout, for an agent host (the default command)');
  return addHubOptions(command).action(async (options: HubCommandOptions) => {
    const openSource = toSource(options.notebook);
    await serveAgent(await prepareHub('stdio', options), openSource);
  });
}
