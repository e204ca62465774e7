import { Command, Option } from 'commander';

/** `notebridge stop NOTEBOOK` or `stop all`: saves and ends notebooks, wherever they are open. */
export function stopCommand(): Command {
  return new Command('stop')
    .description('save an open notebook and end it, with its kernel; or all of them')
    .argument('<what>', 'its id or address in "notebridge ps", its .ipynb file, or "all"')
    .addOption(new Option('--force', 'also if something that is in no file is lost'))
    .action(async (what: string, { force }: { force?: boolean }) => {
      const { stopNotebooks } = await import('../notebook/stop-notebooks.js');
      await stopNotebooks(what, { isForced: force === true });
    });
}
