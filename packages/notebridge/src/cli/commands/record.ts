import { resolve } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { createLineChannel } from '@notebridge/protocol/rpc/line-channel';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { ownStdio } from '@notebridge/system/processes/own-stdio';
import { InvalidArgumentError } from 'commander';
import type { Config } from '../../config/config.js';
import { loadConfig } from '../../config/load-config.js';
import type { Recorder } from '../../recording/recorder.js';
import { maxRecordingBytes } from '../../recording/recording-format.js';
import { relayChannels } from '../../recording/relay-channels.js';
import { openStdioLink } from '../../upstreams/open-link.js';
import { hubOptions, listOption } from '../command-options.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { createOwnNotebridge, serveAgent, toNamedLog } from '../own-notebridge.js';
import { untilSignal } from '../process-life.js';
import { defaultRecordingBytes, openRecorder } from '../record/open-recorder.js';

const options = [
  option('--server <name>', 'one server of the config alone, with its own names'),
  option('--max-size <size>', 'most that is written (10k, 64M; up to 256M); then recording stops, and the session goes on', {
    default: defaultRecordingBytes,
    shownDefault: '64M',
    parse: parseSize,
  }),
  option('--force', 'replace the file if it is there'),
  listOption('--secret-env <name>', 'a variable whose value is a secret, besides those whose names say so (repeatable)'),
  ...hubOptions,
];

/** `notebridge record`: a session that can be replayed. */
export const recordCommand = defineCommand({
  arguments: [
    ['<file>', 'where to write; if it is there, the new one gets a number'],
    ['[command...]', 'the command line of an MCP server, behind "--"'],
  ],
  options,
  example: 'notebridge record bug.jsonl -- node server.js',
  run: runRecord,
});

const units = { '': 1, k: 1024, m: 1024 ** 2 };

function parseSize(text: string): number {
  const [, digits, unit = ''] = /^(\d+)([km]?)$/i.exec(text) ?? [];
  const bytes = Number(digits) * units[unit.toLowerCase() as keyof typeof units];
  if (digits === undefined || bytes < 1024 || bytes > maxRecordingBytes)
    throw new InvalidArgumentError('A size is a number of bytes, or one with k or M behind it; from 1k to 256M.');
  return bytes;
}

/** Serves an agent on stdio as the hub, one of its servers, or any other server does, and writes down what is said. */
async function runRecord(file: string, [program, ...args]: readonly string[], given: OptionsOf<typeof options>): Promise<void> {
  const { maxSize: maxBytes, force, secretEnv: secretVariables, server } = given;
  const missing = secretVariables.find((name) => (process.env[name] ?? '') === '');
  if (missing !== undefined) throw new BridgeError('bad_usage', `--secret-env ${quote(missing)}: there is no such variable.`);
  if (program !== undefined && server !== undefined)
    throw new BridgeError('bad_usage', 'Give "record" a command line behind "--", or --server with a name of the config; not both.');
  const open = openRecorder({ file: resolve(file), maxBytes, force, secretVariables });
  let recorder: Recorder | undefined;
  const createRecorder = (redactor: Redactor, logger: Logger): Recorder => {
    recorder = open(redactor, logger);
    return recorder;
  };
  try {
    if (program !== undefined) return await relayCommandLine(program, args, createRecorder);
    const only = server === undefined ? {} : { config: await configWith(server, given.config), notebook: 'none', followConfig: false };
    const [hold, createLogger] = [given.standalone ? ('own' as const) : ('join' as const), toNamedLog('record', given)];
    await serveAgent(await createOwnNotebridge(given, { command: 'record', oneAgent: true, hold, createRecorder, createLogger, ...only }));
  } finally {
    // The last word of a recorded session.
    if (recorder !== undefined) process.stderr.write(`notebridge: ${recorder.summary} Look through it before you pass it on.\n`);
  }
}

/** The config with this server alone, under its own names. */
async function configWith(name: string, file: string | undefined): Promise<Config> {
  const config = await loadConfig({ file, env: process.env });
  const found = config.servers.find((server) => server.name === name);
  if (found !== undefined) return { ...config, servers: [{ ...found, names: 'plain' }], skills: [] };
  const names = config.servers.map((server) => server.name);
  const meant = didYouMean(name, names);
  const there = names.length === 0 ? 'has none' : `has ${names.join(', ')}`;
  throw new BridgeError(
    'unknown_server',
    `There is no server ${quote(name)}; the config ${there}.${meant === undefined ? '' : ` Did you mean "${meant}"?`}`,
  );
}

/** Longest message, in UTF-16 units. */
const maxMessageLength = 64 * 1024 * 1024;

/**
 * Starts an MCP server and stands between it and who started us: every message passes as it came, and is recorded. The server has our
 * environment, since we stand in its place, but for what leads to code that a sandbox could have written. Rejects if it cannot be started, or ended by itself.
 */
async function relayCommandLine(
  command: string,
  args: string[],
  createRecorder: (redactor: Redactor, logger: Logger) => Recorder,
): Promise<void> {
  const redactor = new Redactor();
  const recorder = createRecorder(redactor, silentLogger);
  const say = (text: string): void => void process.stderr.write(`${redactor.redactOurs(text)}\n`);
  const onUnreadable = (error: Error): void => say(`notebridge: A line was skipped, and not handed on: ${messageOf(error)}`);
  const config = { name: command, command, args, env: {}, cwd: undefined };
  try {
    const server = await openStdioLink(config, { inherited: process.env, maxMessageLength, onUnreadable, onStderrLine: say }).catch(
      (error: unknown) => {
        throw new Error(`"${command}" is not started: ${messageOf(error)}`, { cause: error });
      },
    );
    try {
      const agent = createLineChannel({ ...ownStdio(), maxMessageLength, onUnreadable });
      const relayed = relayChannels(recorder.record(agent, { name: 'agent', we: 'server' }), server.channel);
      const end = await Promise.race([relayed, untilSignal()]);
      if (end?.gone === 'server') throw end.error ?? new Error(`"${command}" ended.`);
    } finally {
      await server.close();
    }
  } finally {
    recorder.close();
  }
}
