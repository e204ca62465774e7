import { join } from 'node:path';
import { type LoggerLevel, logLevels } from '@notebridge/kit/logger';
import type { SandboxMode } from '@notebridge/notebook/host';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { stateDir } from '../assembly/state-dir.js';

/** What the commands that open a notebook have in common. */
export interface HubCommandOptions {
  config?: string;
  port: number;
  logDir: string;
  logLevel: LoggerLevel;
  browser: boolean;
  journal: boolean;
  notebook: string;
  sandbox: SandboxMode;
  /** True: the built-in notebook is held in this process. */
  standalone?: boolean;
  list: 'static' | 'dynamic';
  allowHost: string[];
  allowOrigin: string[];
}

/** The options that several commands share, by name. */
export const sharedOptions = {
  config: () => new Option('--config <file>', "config file (default: notebridge/mcp.json in the user's config folder, if it is there)"),
  port: () =>
    new Option('--port <number>', 'port that notebook pages dial, on loopback; 0 for any free one').default(0).argParser(parsePort),
  notebook: () =>
    new Option(
      '--notebook <where>',
      'the notebook to work in: "colab", "local" (built in), an .ipynb file, or the URL of a Colab notebook',
    ).default('colab'),
  sandbox: () =>
    new Option('--sandbox <mode>', 'the built-in Python in a sandbox of the operating system: always, where one works, or never')
      .choices(['require', 'auto', 'off'])
      .default('auto'),
  list: () =>
    new Option('--list <mode>', "list the notebook's tools always, or only while its page is connected")
      .choices(['static', 'dynamic'])
      .default('static'),
  noBrowser: () => new Option('--no-browser', 'never open a browser; the answer names the URL to open'),
  noJournal: () =>
    new Option('--no-journal', 'never read a cell of a Colab page before the agent changes it; its changes cannot be undone then'),
  allowHost: () =>
    new Option('--allow-host <host>', 'let in pages that dialled this host name (repeatable, exact)').default([]).argParser(collect),
  allowOrigin: () =>
    new Option('--allow-origin <origin>', 'let in pages of this origin (repeatable, exact)').default([]).argParser(collect),
  logDir: () => new Option('--log-dir <dir>', 'folder for the log').default(join(stateDir(), 'logs')),
  logLevel: () => new Option('--log-level <level>', 'least level that is logged').choices([...logLevels]).default('info'),
  standalone: () =>
    new Option('--standalone', 'hold the built-in notebook in this process, which ends with the agent; never join another process'),
  json: () => new Option('--json', 'print JSON, for scripts'),
} satisfies Record<string, () => Option>;

/** Adds the options of a command that opens a notebook for one agent. */
export function addHubOptions(command: Command): Command {
  const { config, port, notebook, sandbox, list, noBrowser, noJournal, allowHost, allowOrigin, logDir, logLevel, standalone } =
    sharedOptions;
  const all = [config, port, notebook, sandbox, list, noBrowser, noJournal, allowHost, allowOrigin, logDir, logLevel, standalone];
  return addOptions(
    command,
    all.map((make) => make()),
  );
}

/** Adds options. Each has an environment variable: `--log-dir` is `NOTEBRIDGE_LOG_DIR`. */
export function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) {
    const name = `NOTEBRIDGE_${option.long?.slice(2).replaceAll('-', '_').toUpperCase()}`;
    // As people expect of environment variables: an empty one is none, and a switch is on for any value but these.
    const isUnset = (option.required ? [''] : ['', '0', 'false']).includes(process.env[name] ?? 'unset');
    command.addOption(isUnset ? option : option.env(name));
  }
  return command;
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535 || text.trim() === '')
    throw new InvalidArgumentError('A port is a whole number from 0 to 65535.');
  return port;
}

/** Of an option that can be given more than once, or with commas. */
export function collect(value: string, previous: string[]): string[] {
  return [...previous, ...value.split(',').filter((part) => part !== '')];
}
