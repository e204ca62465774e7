import { messageOf } from '@notebridge/kit/message-of';
import { Command, Option } from 'commander';
import type { BuiltInNotebook } from '../../assembly/notebooks/open-built-in.js';
import type { OpenNotebook } from '../../assembly/notebooks/open-notebook.js';
import { openBrowser } from '../../processes/browser.js';
import { addHubOptions, type HubCommandOptions } from '../command-options.js';
import { createOwnNotebridge } from '../own-notebridge.js';
import { untilSignal } from '../process-life.js';
import { serveAgent } from '../serve-agent.js';

interface NotebookCommandOptions extends Omit<HubCommandOptions, 'browser'> {
  /** `--browser`, `--no-browser`, or neither. */
  browser?: boolean;
  headless?: boolean;
  readOnly?: boolean;
}

export function notebookCommand(): Command {
  const command = new Command('notebook')
    .description('the built-in notebook on a file, in a browser window; an agent host can start it as an MCP server')
    .argument('[file]', 'an .ipynb file, made if it is not there (default: a notebook in memory)')
    .addOption(new Option('--headless', 'open no window'))
    .addOption(new Option('--browser', 'open a window, also with --headless'))
    .addOption(new Option('--read-only', 'agents may look, and change or run nothing'));
  return addHubOptions(command).action((file: string | undefined, options: NotebookCommandOptions) => runNotebook(file, options));
}

/** On a terminal, serves windows until Ctrl-C; started by an agent host, serves the agent too, and ends with it. */
async function runNotebook(file: string | undefined, options: NotebookCommandOptions): Promise<void> {
  const { headless, readOnly } = options;
  const isAttended = process.stdin.isTTY;
  const wantsWindow = options.browser ?? !headless;
  const open: OpenNotebook = async (setup) => {
    const { openBuiltIn } = await import('../../assembly/notebooks/open-built-in.js');
    const notebook = await openBuiltIn(setup, { file, readOnly });
    process.stderr.write(`${file ?? 'A notebook in memory'}: ${await addressOf(notebook)}\n`);
    if (wantsWindow) await showWindow(notebook.host.url);
    return isAttended ? withMoreWindows(notebook, wantsWindow) : notebook;
  };
  const bridge = await createOwnNotebridge(
    // Nobody is there to be asked where there is no window.
    { ...options, browser: options.browser !== false, kernel: options.kernel ?? (isAttended && !headless ? 'auto' : undefined) },
    {
      command: 'notebook',
      notebook: open,
    },
  );
  if (!isAttended) return serveAgent(bridge);
  try {
    await bridge.start();
    process.stderr.write('Press Enter for another window, Ctrl-C to end it; everything is saved.\n');
    await untilSignal();
  } finally {
    await bridge.close();
  }
}

/** Opens another window for each line that the person enters. */
function withMoreWindows(notebook: BuiltInNotebook, wantsWindow: boolean): BuiltInNotebook {
  const another = async (): Promise<void> => {
    process.stderr.write(`${await addressOf(notebook)}\n`);
    if (wantsWindow) await showWindow(notebook.host.url);
  };
  process.stdin.on('data', another);
  return {
    ...notebook,
    close: async () => {
      process.stdin.off('data', another).pause();
      await notebook.close();
    },
  };
}

/** The address holds the token: a terminal may show it, and a log or an agent's host, which keep what we write, may not. */
async function addressOf({ host, writeAddress }: BuiltInNotebook): Promise<string> {
  if (process.stderr.isTTY) return host.url;
  try {
    return `the address of its window stands in "${await writeAddress()}", which only you can read.`;
  } catch (error) {
    return `its window has an address that only a terminal is shown. ${messageOf(error)}`;
  }
}

async function showWindow(url: string): Promise<void> {
  const outcome = await openBrowser(url);
  if (!outcome.opened) process.stderr.write(`No browser was opened: ${outcome.hint}\n`);
}
