import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type LogLevel, logLevels } from '../core/logger.js';

/** What the commands that open a hub have in common. */
export interface HubCommandOptions {
  config?: string;
  port: number;
  logDir: string;
  logLevel: LogLevel;
  browser: boolean;
  notebook: string;
  list: 'static' | 'dynamic';
  allowHost: string[];
  allowOrigin: string[];
}

/** Adds the common options. Each has an environment variable: `--log-dir` is `NOTEBRIDGE_LOG_DIR`. */
export function addHubOptions(command: Command): Command {
  const options = [
    new Option('--config <file>', "config file (default: notebridge/mcp.json in the user's config folder, if it is there)"),
    new Option('--port <number>', 'port that notebook pages dial, on loopback; 0 for any free one').default(0).argParser(parsePort),
    new Option(
      '--notebook <where>',
      'the notebook to work in: "colab", "local" (built in), an .ipynb file, or the URL of a Colab notebook',
    ).default('colab'),
    new Option('--list <mode>', "list the notebook's tools always, or only while its page is connected")
      .choices(['static', 'dynamic'])
      .default('static'),
    new Option('--no-browser', 'never open a browser; the answer names the URL to open'),
    new Option('--allow-host <host>', 'let in pages that dialled this host name (repeatable, exact)').default([]).argParser(collect),
    new Option('--allow-origin <origin>', 'let in pages of this origin (repeatable, exact)').default([]).argParser(collect),
    new Option('--log-dir <dir>', 'folder for the log').default(defaultLogDir()),
    new Option('--log-level <level>', 'least level that is logged').choices([...logLevels]).default('info'),
    new Option('--standalone', 'never join another hub of this user'),
  ];
  for (const option of options) {
    const name = `NOTEBRIDGE_${option.long?.slice(2).replaceAll('-', '_').toUpperCase()}`;
    // As people expect of environment variables: an empty one is none, and a switch is on for any value but these.
    const isUnset = (option.required ? [''] : ['', '0', 'false']).includes(process.env[name] ?? 'unset');
    command.addOption(isUnset ? option : option.env(name));
  }
  return command;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535 || text.trim() === '')
    throw new InvalidArgumentError('A port is a whole number from 0 to 65535.');
  return port;
}

function collect(value: string, previous: string[]): string[] {
  return [...previous, ...value.split(',').filter((part) => part !== '')];
}

/** The XDG state folder: logs are state, neither config nor cache. */
function defaultLogDir(): string {
  return join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'notebridge', 'logs');
}
