import { Command, Option } from 'commander';
import { addHubOptions } from '../command-options.js';
import type { NotebookCommandOptions } from '../notebook/run-notebook.js';

export function notebookCommand(): Command {
  const command = new Command('notebook')
    .description('the built-in notebook on a file, in a browser window; an agent host can start it as an MCP server')
    .argument('[file]', 'an .ipynb file, made if it is not there (default: a notebook in memory)')
    .addOption(new Option('--headless', 'open no window'))
    .addOption(new Option('--browser', 'open a window, also with --headless'))
    .addOption(new Option('--read-only', 'agents may look, and change or run nothing'));
  addHubOptions(command);
  for (const option of command.options) if (ofPages.has(option.long ?? '')) option.hideHelp();
  return command.action(async (file: string | undefined, options: NotebookCommandOptions) => {
    const { runNotebook } = await import('../notebook/run-notebook.js');
    await runNotebook(file, options);
  });
}

/** What is about other notebooks; understood, since a host may give every command the same arguments, and of no use to one who reads. */
const ofPages = new Set(['--notebook', '--list', '--no-journal', '--outputs', '--allow-edits']);
