import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { Listeners } from '@notebridge/kit/listeners';
import type { Config } from '../config/config.js';
import type { ConfigEdit, RefusedEdit, WatchedConfig } from '../config/config-edit.js';
import type { ServerConfig } from '../config/server-config.js';
import type { BridgeError } from '../core/errors.js';
import { programOf } from '../upstreams/program-of.js';

/** What the edits of the config did, for the owner of the hub. */
export class ConfigEdits implements WatchedConfig {
  readonly #listeners = new Listeners<void>();
  #edit: ConfigEdit | undefined;
  #refused: RefusedEdit | undefined;

  get edit(): ConfigEdit | undefined {
    return this.#edit;
  }

  get refused(): RefusedEdit | undefined {
    return this.#refused;
  }

  subscribe(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** An edit is taken into use. `late`: keys of it that hold after a restart. */
  noteUsed(next: Config, previous: Config, late: readonly string[]): void {
    this.#edit = { at: Date.now(), ...compareServers(previous.servers, next.servers), late };
    this.#listeners.emit();
  }

  noteRefused({ message, data: { file, faults } }: BridgeError): void {
    const all = Array.isArray(faults) ? faults.filter(isJsonObject).map(toFault) : [];
    this.#refused = { at: Date.now(), message, file: typeof file === 'string' ? file : undefined, faults: all };
    this.#listeners.emit();
  }

  /** The file can be used again. */
  noteMended(): void {
    this.#refused = undefined;
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
