import { Command, Option } from 'commander';
import { messageOf } from '../../core/errors.js';
import { openBrowser } from '../../processes/browser.js';
import { openAgentHub } from '../agent-hub.js';
import { type HubSetup, prepareHub, untilSignal } from '../hub-setup.js';
import { addHubOptions, type HubCommandOptions } from '../options.js';
import { serveAgent } from '../serve-agent.js';
import { type LocalSource, openLocal } from '../sources/local.js';

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
  const wantsWindow = options.browser ?? !headless;
  const setup = await prepareHub('notebook', { ...options, browser: options.browser !== false });
  const open = async (prepared: HubSetup): Promise<LocalSource> => {
    const source = await openLocal(prepared, { file, readOnly });
    process.stderr.write(`${file ?? 'A notebook in memory'}: ${await addressOf(source)}\n`);
    if (wantsWindow) await showWindow(source.host.url);
    return source;
  };
  if (!process.stdin.isTTY) return serveAgent(setup, open);
  const { source, close } = await openAgentHub(setup, open);
  process.stderr.write('Press Enter for another window, Ctrl-C to end it; everything is saved.\n');
  const another = async (): Promise<void> => {
    process.stderr.write(`${await addressOf(source)}\n`);
    if (wantsWindow) await showWindow(source.host.url);
  };
  process.stdin.on('data', another);
  try {
    await untilSignal();
  } finally {
    process.stdin.off('data', another).pause();
    await close();
  }
}

/** The address holds the token: a terminal may show it, and a log or an agent's host, which keep what we write, may not. */
async function addressOf({ host, writeAddress }: LocalSource): Promise<string> {
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
