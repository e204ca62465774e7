import { Command } from 'commander';

/** `notebridge code`: lets a browser in that is not known to be this user's. */
export function codeCommand(): Command {
  return new Command('code')
    .description(
      'print a code for the page that asks for one: in a browser of another user or machine, or behind a proxy or forwarded port',
    )
    .action(async () => {
      const { printCode } = await import('../hub/print-code.js');
      printCode();
    });
}
