import { Command, Option } from 'commander';
import type { ApprovalAnswers } from '../approvals/run-approvals.js';
import { collect, sharedOptions } from '../command-options.js';

/** `notebridge approvals`: the calls that wait for their owner. */
export function approvalsCommand(): Command {
  return new Command('approvals')
    .description('calls that wait for your approval; approve or deny them')
    .option('--show <id>', 'show this call with its arguments whole')
    .addOption(several('--approve <id>', 'let this call be made (repeatable)'))
    .addOption(several('--approve-session <id>', 'let it be made, and further calls of the same tool in the same session (repeatable)'))
    .addOption(several('--deny <id>', 'refuse it (repeatable)'))
    .addOption(sharedOptions.json())
    .action(async (options: ApprovalAnswers) => {
      const { runApprovals } = await import('../approvals/run-approvals.js');
      await runApprovals(options);
    });
}

function several(flags: string, description: string): Option {
  return new Option(flags, description).argParser<string[]>((value, previous = []) => collect(value, previous));
}
