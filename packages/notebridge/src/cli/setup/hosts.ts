import { homedir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Environment } from '@notebridge/system/processes/environment';
import { shellWord } from '@notebridge/system/starts/shell-word';
import { ownProgramFile } from '../own-command.js';
import { jsonFormat } from './json-format.js';
import type { HostFormat, ServersPlace } from './merge.js';
import { tomlFormat } from './toml-format.js';

/** How an agent host starts us. */
export interface LaunchCommand {
  command: string;
  args: string[];
}

/**
 * This very program, by its absolute path: a host starts us from any folder. Not `npx -y notebridge`, which is somebody else's program
 * as long as the name is not published.
 */
export function launchCommand(): LaunchCommand {
  return { command: 'node', args: [ownProgramFile()] };
}

/** The command line as a person would paste it into a shell. */
export function toShellLine({ command, args }: LaunchCommand): string {
  return [command, ...args].map((word) => shellWord(word)).join(' ');
}

/** How an agent host comes to us: by a command to start, or by the address of a hub. */
interface WayToUs<Start> {
  /** What stands under our name in a file that did not have us. Of an existing entry only `command` and `args`, or the address, are ever changed. */
  entry(start: Start): JsonObject;
  /** The host's own command that does the same, if it has one for that scope. */
  ownCommand?(start: Start, scope: Scope): string | undefined;
}

/** An agent host that can be set up. A new host is one entry of `hosts`. */
export interface Host extends WayToUs<LaunchCommand> {
  name: string;
  title: string;
  /** Where it keeps servers. The first scope is the default. */
  scopes: Readonly<Partial<Record<Scope, (place: ConfigPlace) => ServersPlace>>>;
  format: HostFormat;
  /** How it connects to a hub that serves; missing where the file has commands only. The token is named by a variable, never written. */
  connection?: WayToUs<string>;
  /** What to do in the host afterwards: one sentence. */
  afterwards: string;
}

/** For which projects an entry counts: `local` for this one, in the user's own files; `project` for this one, in a file of the project; `user` for all. */
export type Scope = 'local' | 'project' | 'user';

/** Where a host finds the token with which its agents come to a hub. */
export const tokenVariable = 'NOTEBRIDGE_AGENT_TOKEN';

/** As hosts write a variable: Claude Code and Gemini CLI `${NAME}`, Cursor and VS Code `${env:NAME}`. */
function bearer(prefix = ''): { Authorization: string } {
  return { Authorization: `Bearer \${${prefix}${tokenVariable}}` };
}

/** Whose machine it is. */
export interface ConfigPlace {
  env: Environment;
  platform: NodeJS.Platform;
  /** The folder of the project, absolute. */
  project: string;
}

/** A cell may run for long: hosts that let a server say so wait as long as we do, an hour. */
const timeoutSeconds = 3600;
/** Codex gives up on a start after 10 s, which a cold disk can take. */
const startupSeconds = 60;

export const hosts: readonly Host[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    scopes: {
      local: (place) => ({ file: claudeFile(place), container: ['projects', place.project, 'mcpServers'] }),
      project: ({ project }) => ({ file: join(project, '.mcp.json'), container: ['mcpServers'] }),
      user: (place) => ({ file: claudeFile(place), container: ['mcpServers'] }),
    },
    format: jsonFormat,
    entry: (launch) => ({ type: 'stdio', ...launch }),
    ownCommand: (launch, scope) => `claude mcp add --scope ${scope} notebridge -- ${toShellLine(launch)}`,
    connection: {
      entry: (url) => ({ type: 'http', url, headers: bearer() }),
      ownCommand: (url, scope) =>
        `claude mcp add --scope ${scope} --transport http notebridge ${shellWord(url)} --header '${`Authorization: ${bearer().Authorization}`}'`,
    },
    afterwards: 'Start a new Claude Code session, then type /mcp to see it.',
  },
  {
    name: 'claude-desktop',
    title: 'Claude Desktop',
    scopes: {
      user: (place) => ({ file: join(applicationData(place), 'Claude', 'claude_desktop_config.json'), container: ['mcpServers'] }),
    },
    format: jsonFormat,
    entry: (launch) => ({ ...launch }),
    afterwards: 'Quit Claude Desktop and start it again.',
  },
  {
    name: 'cursor',
    title: 'Cursor',
    scopes: inFolders('.cursor', 'mcp.json', 'mcpServers'),
    format: jsonFormat,
    entry: (launch) => ({ ...launch }),
    connection: { entry: (url) => ({ url, headers: bearer('env:') }) },
    afterwards: 'Restart Cursor; its settings list it under MCP.',
  },
  {
    name: 'vscode',
    title: 'VS Code',
    scopes: {
      user: (place) => ({ file: join(applicationData(place), 'Code', 'User', 'mcp.json'), container: ['servers'] }),
      project: ({ project }) => ({ file: join(project, '.vscode', 'mcp.json'), container: ['servers'] }),
    },
    format: jsonFormat,
    entry: (launch) => ({ type: 'stdio', ...launch }),
    connection: { entry: (url) => ({ type: 'http', url, headers: bearer('env:') }) },
    afterwards: 'In VS Code, run "MCP: List Servers" and start it there.',
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    scopes: inFolders('.gemini', 'settings.json', 'mcpServers', (place) => join(place.env.GEMINI_CLI_HOME || home(place), '.gemini')),
    format: jsonFormat,
    entry: (launch) => ({ ...launch, timeout: timeoutSeconds * 1000 }),
    connection: { entry: (url) => ({ httpUrl: url, headers: bearer(), timeout: timeoutSeconds * 1000 }) },
    afterwards: 'Start Gemini CLI again, then type /mcp to see it.',
  },
  {
    name: 'codex',
    title: 'Codex',
    scopes: inFolders('.codex', 'config.toml', 'mcp_servers', (place) => place.env.CODEX_HOME || join(home(place), '.codex')),
    format: tomlFormat,
    entry: (launch) => ({ ...launch, startup_timeout_sec: startupSeconds, tool_timeout_sec: timeoutSeconds }),
    ownCommand: (launch, scope) => (scope === 'user' ? `codex mcp add notebridge -- ${toShellLine(launch)}` : undefined),
    connection: {
      entry: (url) => ({
        url,
        bearer_token_env_var: tokenVariable,
        startup_timeout_sec: startupSeconds,
        tool_timeout_sec: timeoutSeconds,
      }),
      ownCommand: (url, scope) =>
        scope === 'user' ? `codex mcp add notebridge --url ${shellWord(url)} --bearer-token-env-var ${tokenVariable}` : undefined,
    },
    afterwards: 'Start a new Codex session, then type /mcp to see it.',
  },
];

function claudeFile(place: ConfigPlace): string {
  return join(place.env.CLAUDE_CONFIG_DIR || home(place), '.claude.json');
}

/** A file of the same name in the user's folder of the host and in that of a project. */
function inFolders(folder: string, file: string, key: string, ofUser = (place: ConfigPlace) => join(home(place), folder)): Host['scopes'] {
  return {
    user: (place) => ({ file: join(ofUser(place), file), container: [key] }),
    project: ({ project }) => ({ file: join(project, folder, file), container: [key] }),
  };
}

function home({ env, platform }: ConfigPlace): string {
  return (platform === 'win32' ? env.USERPROFILE : env.HOME) || homedir();
}

/** Where desktop programs keep the user's settings. */
function applicationData(place: ConfigPlace): string {
  if (place.platform === 'darwin') return join(home(place), 'Library', 'Application Support');
  if (place.platform === 'win32') return place.env.APPDATA || join(home(place), 'AppData', 'Roaming');
  return place.env.XDG_CONFIG_HOME || join(home(place), '.config');
}
