import { isDeepStrictEqual } from 'node:util';
import type { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { Config } from '../config/config.js';
import type { ConfigEdit, RefusedEdit, WatchedConfig } from '../config/config-edit.js';
import type { ServerConfig } from '../config/server-config.js';
import { ConfigWatch } from '../config/watch-config.js';
import { programOf } from '../upstreams/program-of.js';
import type { Settings } from './settings.js';

/** What the edits of the config did, for the owner of the hub. */
export class ConfigEdits implements WatchedConfig {
  readonly #listeners = new Listeners<void>();
  edit: ConfigEdit | undefined;
  refused: RefusedEdit | undefined;

  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** An edit is taken into use. `late`: keys of it that hold after a restart. */
  noteUsed(next: Config, previous: Config, late: readonly string[]): void {
    this.edit = { at: Date.now(), ...compareServers(previous.servers, next.servers), late };
    this.#listeners.emit();
  }

  noteRefused({ message, data: { file, faults } }: BridgeError): void {
    const all = Array.isArray(faults) ? faults.filter(isJsonObject).map(toFault) : [];
    this.refused = { at: Date.now(), message, file: typeof file === 'string' ? file : undefined, faults: all };
    this.#listeners.emit();
  }

  /** The file can be used again. */
  noteMended(): void {
    this.refused = undefined;
    this.#listeners.emit();
  }
}

function compareServers(
  previous: readonly ServerConfig[],
  next: readonly ServerConfig[],
): Pick<ConfigEdit, 'added' | 'removed' | 'restarted' | 'changed'> {
  const before = new Map(previous.map((server) => [server.name, server]));
  const after = new Set(next.map(({ name }) => name));
  const found: Record<'added' | 'restarted' | 'changed', string[]> = { added: [], restarted: [], changed: [] };
  for (const server of next) {
    const known = before.get(server.name);
    if (known === undefined) found.added.push(server.name);
    else if (!isDeepStrictEqual(programOf(known), programOf(server))) found.restarted.push(server.name);
    else if (!isDeepStrictEqual(known, server)) found.changed.push(server.name);
  }
  return { ...found, removed: [...before.keys()].filter((name) => !after.has(name)) };
}

function toFault({ line, key, found, next }: JsonObject): RefusedEdit['faults'][number] {
  const [subject, why, step] = [key, found, next].map((text) => (typeof text === 'string' ? text : ''));
  return { line: typeof line === 'number' ? line : undefined, key: subject ?? '', found: why ?? '', next: step ?? '' };
}

/** Has edits of the file taken into use. A broken one is reported, and what held before goes on. */
export function followConfig(
  file: string,
  { config, logger, env, stateDir, edits }: Pick<Settings, 'config' | 'env' | 'stateDir'> & { logger: Logger; edits: ConfigEdits },
  change: (config: Config) => Promise<void>,
): ConfigWatch {
  return new ConfigWatch({
    file,
    env,
    stateDir,
    current: config,
    logger,
    onChange: async (next, previous) => {
      logger.info('The config was changed.', { file: next.file });
      const late = lateKeys.filter((key) => !isDeepStrictEqual(next[key], previous[key]));
      if (late.length > 0) logger.warn(`Changes of ${late.map((key) => `"${key}"`).join(', ')} in the config hold after a restart.`);
      for (const warning of next.warnings) if (!previous.warnings.includes(warning)) logger.warn(warning);
      edits.noteUsed(next, previous, late);
      await change(next);
    },
    onFault: (error) => {
      logger.error(`The changed config is not used; what held before goes on. ${error.message}`);
      edits.noteRefused(error);
    },
    onMended: () => {
      logger.info('The config is good again.');
      edits.noteMended();
    },
  });
}

/** Parts of the config that are read once. */
const lateKeys = ['middleware', 'limits', 'audit', 'keepCalls', 'exchange', 'auth', 'journal', 'codeMode', 'telemetry'] as const;
