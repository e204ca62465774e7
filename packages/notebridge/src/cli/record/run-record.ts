import { resolve } from 'node:path';
import { didYouMean } from '@notebridge/kit/did-you-mean';
import { type Logger, silentLogger } from '@notebridge/kit/logger';
import type { Config } from '../../config/config.js';
import { loadConfig } from '../../config/load-config.js';
import { BridgeError } from '../../core/errors.js';
import type { Recorder } from '../../recording/recorder.js';
import { quote } from '../../util/quote.js';
import { Redactor } from '../../util/redactor.js';
import type { HubCommandOptions } from '../command-options.js';
import { createOwnNotebridge } from '../own-notebridge.js';
import { serveAgent } from '../serve-agent.js';
import { openRecorder, type RecordTo, sayRecorded } from './open-recorder.js';
import { recordCommandLine } from './record-command-line.js';

export interface RecordOptions extends HubCommandOptions {
  maxSize: number;
  force?: boolean;
  secretEnv: string[];
  server?: string;
}

/** Serves an agent on stdio as the hub, one of its servers, or any other server does, and writes down what is said. */
export async function runRecord(file: string, words: readonly string[], options: RecordOptions): Promise<void> {
  const { maxSize: maxBytes, force, secretEnv: secretVariables, server } = options;
  const to: RecordTo = { file: resolve(file), maxBytes, force, secretVariables };
  const missing = secretVariables.find((name) => (process.env[name] ?? '') === '');
  if (missing !== undefined) throw new BridgeError('bad_usage', `--secret-env ${quote(missing)}: there is no such variable.`);
  const [command, ...args] = words;
  if (command !== undefined) {
    if (server !== undefined)
      throw new BridgeError('bad_usage', 'Give "record" a command line behind "--", or --server with a name of the config; not both.');
    const redactor = new Redactor();
    const recorder = openRecorder(to)(redactor, silentLogger);
    return recordCommandLine({ command, args }, { recorder, redactor });
  }
  let recorder: Recorder | undefined;
  const createRecorder = (redactor: Redactor, logger: Logger): Recorder => {
    recorder = openRecorder(to)(redactor, logger);
    return recorder;
  };
  const only = server === undefined ? {} : { config: await configWith(server, options.config), notebook: 'none', followConfig: false };
  const hold = options.standalone ? 'own' : 'join';
  try {
    await serveAgent(await createOwnNotebridge(options, { command: 'record', oneAgent: true, hold, createRecorder, ...only }));
  } finally {
    if (recorder !== undefined) sayRecorded(recorder);
  }
}

/** The config with this server alone, under its own names. */
async function configWith(name: string, file: string | undefined): Promise<Config> {
  const config = await loadConfig({ file, env: process.env });
  const found = config.servers.find((server) => server.name === name);
  if (found === undefined) {
    const names = config.servers.map((server) => server.name);
    const meant = didYouMean(name, names);
    const there = names.length === 0 ? 'has none' : `has ${names.join(', ')}`;
    throw new BridgeError(
      'unknown_server',
      `There is no server ${quote(name)}; the config ${there}.${meant === undefined ? '' : ` Did you mean "${meant}"?`}`,
    );
  }
  return { ...config, servers: [{ ...found, names: 'plain' }], skills: [] };
}
