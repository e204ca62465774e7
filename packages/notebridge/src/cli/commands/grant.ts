import { Command, Option } from 'commander';
import { collect, sharedOptions } from '../command-options.js';
import type { IssueOptions } from '../grants/run-grant.js';
import { asTyped } from '../own-command.js';

/** `notebridge grant`: issues, lists and revokes the tokens with which code and agents come in over HTTP. */
export function grantCommand(): Command {
  const { json } = sharedOptions;
  const command = new Command('grant')
    .description('issue a token for code in a kernel, an agent, or who only watches; list and revoke them')
    .addHelpText('after', () =>
      asTyped("\nFor example: export NOTEBRIDGE_TOKEN=$(notebridge grant --allow 'github:*' --ttl 8h --read-only)"),
    )
    .addOption(
      new Option('--allow <server:tool>', 'what may be called, with * for any text (repeatable; default: everything)').argParser<string[]>(
        (value, previous = []) => collect(value, previous),
      ),
    )
    .option('--ttl <time>', 'how long it lives: 90s, 15m, 8h, 7d', '1h')
    .option('--calls <number>', 'calls in its whole life')
    .option('--rate <number/m>', 'calls per minute, as in 60/m')
    .option('--concurrent <number>', 'calls under way at once')
    .option('--read-only', 'only tools that say that they change nothing')
    .addOption(
      new Option(
        '--door <door>',
        'tools (HTTP tool proxy, for code), agent (/mcp) or watch (how the hub is, and its metrics; calls nothing)',
      )
        .choices(['tools', 'agent', 'watch'])
        .default('tools'),
    )
    .option('--agent', 'the same as --door agent')
    .option('--label <text>', 'for your own lists: who it is for')
    .option('--file <path>', 'write the token there (0600) in place of printing it')
    .option('--keep', 'stay, and renew the token in that file before it ends; when stopped, remove it and revoke the grant')
    .addOption(json())
    .action(async (options: IssueOptions) => {
      const { issueGrant } = await import('../grants/run-grant.js');
      await issueGrant(options);
    });
  command.addCommand(
    new Command('list')
      .description('the grants that are live')
      .addOption(json())
      .action(async (_: unknown, self: Command) => {
        const { listGrants } = await import('../grants/run-grant.js');
        await listGrants(self.optsWithGlobals());
      }),
  );
  command.addCommand(
    new Command('revoke')
      .description('end a grant at once, with all that runs for it')
      .argument('<id...>', 'see: notebridge grant list')
      .addOption(json())
      .action(async (ids: string[], _: unknown, self: Command) => {
        const { revokeGrants } = await import('../grants/run-grant.js');
        await revokeGrants(ids, self.optsWithGlobals());
      }),
  );
  return command;
}
