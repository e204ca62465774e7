import type { Tool } from '@notebridge/protocol/core/mcp';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { ensurePrivateDir, readPrivateFile } from '@notebridge/system/files/private-file';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { type KeptTokens, maxRestored } from './page-tokens.js';
import { toShownTools } from './page-tools.js';

/** A slot as it outlives the process that made it. */
export interface KeptSlot {
  /** Which notebook it is for. */
  key: string;
  profile: string;
  /** What is opened for it. */
  url: string;
  /** Origins besides the profile's. */
  allowOrigins: readonly string[];
  tokens: KeptTokens;
  /** What its last page listed. */
  tools?: readonly Tool[] | undefined;
}

/** What lets pages come back to the next process. */
export interface KeptPages {
  /** The port that they dial. */
  port: number;
  /** Used last, last. */
  slots: readonly KeptSlot[];
}

export const maxSlots = 1000;
/** Lists of tools that are kept, in characters of JSON. Pages of one kind share one. */
const maxToolsLength = 4 * 1024 * 1024;
const format = 1;

/** The slots on disk: a private file that holds digests, never a token. What is asked for while it is written is written together. */
export class SlotStore {
  readonly #path: string;
  readonly #source: () => KeptPages;
  readonly #logger: Logger;
  #written: Promise<boolean> = Promise.resolve(true);
  #next: Promise<boolean> | undefined;
  #isFailing = false;

  constructor({ path, source, logger }: { path: string; source: () => KeptPages; logger: Logger }) {
    this.#path = path;
    this.#source = source;
    this.#logger = logger;
  }

  /** Writes what there is. Resolves to whether all that was so at the call is on disk; never rejects. */
  save(): Promise<boolean> {
    this.#next ??= this.#written.then(() => {
      this.#next = undefined;
      this.#written = this.#write();
      return this.#written;
    });
    return this.#next;
  }

  async #write(): Promise<boolean> {
    try {
      await writeFileAtomic(this.#path, printPages(this.#source()), { mode: 0o600, anew: true });
      if (this.#isFailing) this.#logger.info('The places of pages are kept on disk again.');
      this.#isFailing = false;
      return true;
    } catch (error) {
      if (!this.#isFailing) {
        const error_ = messageOf(error);
        this.#logger.warn('The places of pages are not kept on disk: after a restart, pages have to be opened anew.', { error: error_ });
      }
      this.#isFailing = true;
      return false;
    }
  }
}

/**
 * What an earlier process has kept; undefined if it has kept nothing, or nothing that can be used. Throws `write_failed` for a file that is
 * not the user's own alone, or cannot be read: it is left as it is.
 */
export function readKeptPages(dir: string, path: string): KeptPages | undefined {
  const rules = { uid: ownUserId() };
  ensurePrivateDir(dir, rules);
  const found = tryJson(readPrivateFile(path, rules) ?? '');
  if (!isJsonObject(found) || found.format !== format || !isPort(found.port) || !Array.isArray(found.slots)) return undefined;
  const lists = Array.isArray(found.lists) ? found.lists : [];
  const slots = new Map<string, KeptSlot>();
  for (const entry of found.slots.slice(-maxSlots)) {
    const slot = parseKeptSlot(entry, lists);
    if (slot !== undefined) slots.set(slot.key, slot);
  }
  return { port: Number(found.port), slots: [...slots.values()] };
}

function printPages({ port, slots }: KeptPages): string {
  const lists: string[] = [];
  let length = 0;
  const indexOf = (tools: readonly Tool[] | undefined): number => {
    if (tools === undefined) return -1;
    const list = JSON.stringify(tools);
    const known = lists.indexOf(list);
    if (known >= 0) return known;
    if (length + list.length > maxToolsLength) return -1;
    length += list.length;
    return lists.push(list) - 1;
  };
  const printed = slots.slice(-maxSlots).map(({ tools, ...slot }) => JSON.stringify({ ...slot, list: indexOf(tools) }));
  return `{"format":${format},"port":${port},"lists":[${lists.join()}],"slots":[\n${printed.join(',\n')}]}\n`;
}

/** A slot as it was kept, whose `list` is the place of its tools among the lists. Undefined: it is none. */
export function parseKeptSlot(entry: unknown, lists: readonly unknown[]): KeptSlot | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { key, profile, url, allowOrigins, tokens, list } = entry;
  if (!isText(key) || !isText(profile) || !isText(url) || !isWebUrl(url)) return undefined;
  if (!Array.isArray(allowOrigins) || allowOrigins.length > 100 || !allowOrigins.every(isOrigin)) return undefined;
  const parsed = parseTokens(tokens);
  if (parsed === undefined) return undefined;
  const tools = typeof list === 'number' && Array.isArray(lists[list]) ? toShownTools({ tools: lists[list] }).tools : undefined;
  return { key, profile, url, allowOrigins, tokens: parsed, tools };
}

function parseTokens(tokens: unknown): KeptTokens | undefined {
  if (!isJsonObject(tokens) || !Array.isArray(tokens.passes) || !Array.isArray(tokens.lasting)) return undefined;
  const { passes, lasting } = tokens;
  const isPass = (pass: unknown): boolean =>
    isJsonObject(pass) && isDigest(pass.token) && (pass.offered === undefined || isDigest(pass.offered));
  if (passes.length > maxRestored || lasting.length > maxRestored || !passes.every(isPass) || !lasting.every(isDigest)) return undefined;
  return {
    passes: passes.map(({ token, offered }: JsonObject) => ({ token: String(token), ...(isDigest(offered) && { offered }) })),
    lasting,
  };
}

function isPort(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 4096;
}

/** SHA-256 in base64url. */
function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]{43}$/.test(value);
}

function isWebUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

function isOrigin(value: unknown): value is string {
  return isText(value) && isWebUrl(value) && new URL(value).origin === value;
}
