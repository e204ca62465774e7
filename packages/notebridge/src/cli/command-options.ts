import { statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { noOtherTools } from '@notebridge/code-mode/execution/code-mode-limits';
import { logLevels } from '@notebridge/protocol/util/logger';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { InvalidArgumentError, Option } from 'commander';
import { hubNamePattern } from '../identity/hub-name.js';
import { type CommandOption, type OptionsOf, option } from './define-command.js';

export const parsePort = numberWithin(0, 65_535, 'A port is a whole number from 0 to 65535.');

/** The options that several commands share, by name. */
export const sharedOptions = {
  config: option('--config <file>', "config file (default: notebridge/mcp.json in the user's config folder, if it is there)"),
  port: option('--port <number>', 'port that notebook pages dial, on loopback; 0 for any free one', { default: 0, parse: parsePort }),
  notebook: option(
    '--notebook <where>',
    'the notebook to work in: "colab", "local" (built in), "jupyter[=ADDRESS]" (your JupyterLab), an .ipynb file, the URL of a Colab notebook, or "none"',
    { default: 'colab' },
  ),
  kernel: option(
    '--kernel <which>',
    'what runs the code of the built-in notebook: "pyodide", the name of a kernelspec, the path of a Python, or "auto"; "notebridge kernels" lists them (default: auto in a terminal, else pyodide)',
  ),
  sandbox: option(
    '--sandbox <mode>',
    "the built-in notebook's Python in a sandbox of the operating system: always, where one works, or never (default: auto; off for an own Python that is chosen in a terminal or window)",
    { choices: ['require', 'auto', 'off'] },
  ),
  files: option(
    '--files <access>',
    "what code reaches of the notebook's folder: nothing, to read, or to read and write; refused where it would not be kept (default: all that you can without a sandbox, ro in one; Pyodide: ro if a person opened the notebook, else none, never rw)",
    { choices: ['none', 'ro', 'rw'] },
  ),
  allowNet: listOption(
    '--allow-net <host>',
    'a server that code in Pyodide or in the sandbox may reach, on ports 443 and 80: "pypi.org", "*.example.org", "example.org:8443" (repeatable)',
  ),
  codeMode: option(
    '--code-mode [on]',
    'agents call tools by code: three tools (search, describe, execute) in place of those of every server without an "expose" of its own',
    { parse: parseCodeMode },
  ),
  list: option('--list <mode>', "list the notebook's tools always, or only while its page is connected", {
    choices: ['static', 'dynamic'],
    default: 'static',
  }),
  noBrowser: option('--no-browser', 'never open a browser; the answer names the URL to open'),
  noJournal: option(
    '--no-journal',
    'never read a cell of a Colab page before the agent changes it: it may overwrite what a person wrote, and cannot be undone',
  ),
  outputs: option(
    '--outputs <how>',
    "answer agents with a cell's outputs within a budget (text, tables and images; get_output has the rest), or whole",
    { choices: ['fit', 'whole'], default: 'fit' },
  ),
  allowEdits: option('--allow-edits', 'change notebooks of a Jupyter server without asking, also where open tabs cannot follow'),
  allowHost: listOption('--allow-host <host>', 'let in pages that dialled this host name (repeatable, exact)'),
  allowOrigin: listOption('--allow-origin <origin>', 'let in pages of this origin (repeatable, exact)'),
  logDir: { create: () => new Option('--log-dir <dir>', 'folder for the log').default(join(stateDir(), 'logs')) } as CommandOption<{
    logDir: string;
  }>,
  logLevel: option('--log-level <level>', 'least level that is logged', { choices: logLevels, default: 'info' }),
  standalone: option(
    '--standalone',
    'hold the notebook in this process, which ends with the agent; never join another process, and use no other notebook',
  ),
  hold: option(
    '--hold <where>',
    'a Colab page is held by this process, or by one that all your agents join and that outlives them (default: own); --standalone never joins',
    { choices: ['own', 'join'] },
  ),
  json: option('--json', 'print JSON, for scripts'),
};

const { json: _, ...ofHubs } = sharedOptions;
/** The options of a command that opens a notebook for one agent. */
export const hubOptions = Object.values(ofHubs);

/** What the commands that open a notebook have in common; `serve` has some of it. */
export type HubCommandOptions = {
  [name in keyof OptionsOf<typeof hubOptions>]?: OptionsOf<typeof hubOptions>[name] | undefined;
};

/** A switch, whose variable needs a word. It once chose between tools: a word that asks for others is not passed over. */
export function parseCodeMode(text: string): true {
  if (['1', 'true', 'yes', 'on'].includes(text.toLowerCase())) return true;
  throw new InvalidArgumentError(`${noOtherTools}. Write --code-mode alone.`);
}

/** Reads a whole number within bounds; `rule` is what a wrong one is answered with. */
export function numberWithin(from: number, to: number, rule: string): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (Number.isInteger(number) && number >= from && number <= to && text.trim() !== '') return number;
    throw new InvalidArgumentError(rule);
  };
}

export function parseHubName(text: string): string {
  if (!hubNamePattern.test(text)) throw new InvalidArgumentError('A hub is named by up to 32 characters of a-z, 0-9 and "-".');
  return text;
}

/**
 * What `--kernel` names, as any process can find it: a path becomes a whole one, since another process may open the notebook, in a
 * folder of its own. `.venv` is a path too where such a folder is there; any other single word is the name of a kernelspec.
 */
export function toWholeKernel(kernel: string, from: string = process.cwd()): string {
  const path = resolve(from, kernel);
  const isFolder = (): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  return kernel.includes('/') || kernel.includes(sep) || (kernel.startsWith('.') && isFolder()) ? path : kernel;
}

/** An option that can be given more than once, or with commas; an empty list where it is not. */
export function listOption<const Flags extends string>(flags: Flags, description: string) {
  return option(flags, description, { default: [], shownDefault: 'none', parse: collect });
}

/** The values of an option that can be given more than once, or with commas. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, ...value.split(',').filter((part) => part !== '')];
}
