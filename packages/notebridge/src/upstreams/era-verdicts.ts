import { hash } from 'node:crypto';
import { dirname } from 'node:path';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import { isJsonObject } from '@notebridge/protocol/json';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { withFileLock } from '@notebridge/system/files/file-lock';
import { ensurePrivateDir, readPrivateFile } from '@notebridge/system/files/private-file';
import { ownUserId } from '@notebridge/system/processes/own-user';
import type { ServerConfig } from '../config/server-config.js';

interface Verdict {
  era: Era;
  /** When the server was asked. Milliseconds since 1970, since it outlives processes. */
  at: number;
  /** Tools that could ask by requests alone, which the modern era does not have. */
  pushing?: readonly string[];
}

/** After this a server is asked anew: it may have learnt another era. Milliseconds. */
const horizonMs = 24 * 3_600_000;
const maxVerdicts = 500;
const maxPushing = 20;
const format = 1;

/**
 * Which era each server speaks, and which of its tools that does not suit, by a hash of its entry, so that it is not asked at each start: in memory, and in a private file if there is
 * one, which all processes of the user share. What cannot be read or written is asked anew, no more.
 */
export class EraVerdicts {
  readonly #path: string | undefined;
  readonly #logger: Logger;
  #verdicts: Map<string, Verdict> | undefined;
  /** Not yet on disk; undefined: dropped. */
  #changes = new Map<string, Verdict | undefined>();
  #writing: Promise<void> = Promise.resolve();

  constructor({ path, logger = silentLogger }: { path?: string | undefined; logger?: Logger } = {}) {
    this.#path = path;
    this.#logger = logger;
  }

  find(config: ServerConfig): Era | undefined {
    return this.#find(config)?.era;
  }

  /** Tools of the server that could ask by requests alone, as far as they were called. */
  pushingOf(config: ServerConfig): readonly string[] {
    return this.#find(config)?.pushing ?? [];
  }

  keep(config: ServerConfig, era: Era): void {
    const pushing = era === 'modern' ? this.pushingOf(config) : [];
    this.#change(keyOf(config), { era, at: Date.now(), ...(pushing.length > 0 && { pushing }) });
  }

  /** A tool of a server of the modern era could ask by requests alone. */
  notePush(config: ServerConfig, tool: string): void {
    const known = this.pushingOf(config);
    if (known.includes(tool) || known.length >= maxPushing) return;
    this.#change(keyOf(config), { era: 'modern', at: Date.now(), pushing: [...known, tool] });
  }

  /** It does not hold any more. */
  drop(config: ServerConfig): void {
    const key = keyOf(config);
    if (this.#read().has(key)) this.#change(key, undefined);
  }

  /** Resolves when all is on disk, or cannot be written. */
  saved(): Promise<void> {
    return this.#writing;
  }

  #find(config: ServerConfig): Verdict | undefined {
    const verdict = this.#read().get(keyOf(config));
    return verdict !== undefined && isFresh(verdict) ? verdict : undefined;
  }

  #change(key: string, verdict: Verdict | undefined): void {
    set(this.#read(), key, verdict);
    if (this.#path === undefined) return;
    const path = this.#path;
    this.#changes.set(key, verdict);
    // What is changed meanwhile is written together.
    if (this.#changes.size === 1) this.#writing = this.#writing.then(() => this.#write(path));
  }

  async #write(path: string): Promise<void> {
    try {
      ensurePrivateDir(dirname(path), { uid: ownUserId() });
      await withFileLock(`${path}.lock`, async () => {
        const kept = readVerdicts(path);
        const changes = this.#changes;
        this.#changes = new Map();
        for (const [key, verdict] of changes) set(kept, key, verdict);
        await writeFileAtomic(path, print(kept), { mode: 0o600, anew: true });
      });
    } catch (error) {
      this.#changes.clear();
      this.#logger.debug('Which era servers speak is not kept on disk.', { error: messageOf(error) });
    }
  }

  #read(): Map<string, Verdict> {
    if (this.#verdicts !== undefined) return this.#verdicts;
    try {
      this.#verdicts = this.#path === undefined ? new Map() : readVerdicts(this.#path);
    } catch (error) {
      this.#logger.debug('Which era servers speak cannot be read from disk.', { error: messageOf(error) });
      this.#verdicts = new Map();
    }
    return this.#verdicts;
  }
}

/** Of what is started or called, secrets included: no more than its hash is kept. */
function keyOf(config: ServerConfig): string {
  const { transport } = config;
  const entry =
    config.transport === 'stdio'
      ? [transport, config.command, config.args, config.cwd, Object.entries(config.env).sort()]
      : [transport, config.url, Object.entries(config.headers).sort()];
  return hash('sha256', JSON.stringify(entry), 'base64url');
}

/** The one that was changed last stands last. */
function set(verdicts: Map<string, Verdict>, key: string, verdict: Verdict | undefined): void {
  verdicts.delete(key);
  if (verdict !== undefined) verdicts.set(key, verdict);
}

/** A clock that was set back makes no verdict last longer. */
function isFresh({ at }: Verdict): boolean {
  const ageMs = Date.now() - at;
  return ageMs >= 0 && ageMs < horizonMs;
}

function readVerdicts(path: string): Map<string, Verdict> {
  const found = tryJson(readPrivateFile(path, { uid: ownUserId() }) ?? '');
  const verdicts = new Map<string, Verdict>();
  if (!isJsonObject(found) || found.format !== format || !isJsonObject(found.servers)) return verdicts;
  for (const [key, entry] of Object.entries(found.servers)) {
    if (!isJsonObject(entry) || typeof entry.at !== 'number') continue;
    const { era, at, pushing } = entry;
    if (era !== 'legacy' && era !== 'modern') continue;
    const isList = Array.isArray(pushing) && pushing.every((tool) => typeof tool === 'string');
    verdicts.set(key, { era, at, ...(isList && { pushing }) });
  }
  return verdicts;
}

function print(verdicts: Map<string, Verdict>): string {
  const kept = [...verdicts].filter(([, verdict]) => isFresh(verdict)).slice(-maxVerdicts);
  return `${JSON.stringify({ format, servers: Object.fromEntries(kept) }, undefined, 2)}\n`;
}
