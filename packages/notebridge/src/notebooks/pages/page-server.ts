import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { EntryGate } from '@notebridge/system/net/entry-gate';
import type { OnRefused } from '@notebridge/system/net/refused-attempt';
import { describePortOwner } from '@notebridge/system/processes/port-owner';
import type { PageProfile } from '../profiles/profile.js';
import type { PageLimits } from './page-client.js';
import { type AnswerPlain, PageListener, type RefusedPage } from './page-listener.js';
import { PageNotebook } from './page-notebook.js';
import type { Secrets } from './page-tokens.js';
import { Slot } from './slot.js';
import { type KeptPages, type KeptSlot, maxSlots, readKeptPages, SlotStore } from './slot-store.js';

export interface PageServerOptions extends PageLimits {
  /** The user's state folder, where the slots are kept. */
  dir: string;
  /** The kinds of page that there are. */
  profiles: readonly PageProfile[];
  /** The tool by which agents open a page. */
  openTool: string;
  logger: Logger;
  /** Used where no earlier process has kept one; 0 for any free port. Default 0. */
  port?: number | undefined;
  /** Values of `Host` that pages may send besides the loopback ones. */
  allowHosts?: readonly string[] | undefined;
  /** Time between pings, and to answer one; a half-dead socket is cut after twice that. Milliseconds. Default 12000. */
  pingMs?: number | undefined;
  /** Largest frame of a page, in bytes. Default 64 MiB. */
  maxMessageBytes?: number | undefined;
  secrets?: Secrets | undefined;
  onRefused?: OnRefused | undefined;
  /** Knows whose connections are let in. Default: those of this user alone (Linux). */
  gate?: EntryGate | undefined;
  /** Answers requests to the port that are no page's. Default: each is told that there is nothing to see. */
  answerPlain?: AnswerPlain | undefined;
  /** How long the earlier port is tried if it is taken: a process that is just ending may have it. Milliseconds. Default 2000. */
  portTimeoutMs?: number | undefined;
}

/** A notebook of a page that is asked for. */
export interface PageAddress {
  /** Which notebook it is; whoever names the same key has the same page. */
  key: string;
  profile: string;
  /** What is opened. Default: the profile's page. */
  url?: string | undefined;
  /** Origins that may connect besides the profile's; exact. */
  allowOrigins?: readonly string[] | undefined;
}

const fileName = 'pages.json';
const portPollMs = 100;

/**
 * One port, and any number of pages, each in a slot of its own with its own token. Slots outlive their pages and this process: the next one
 * binds the same port, and pages come back with what they know. If it cannot, the tokens end, since whoever has the port is shown them.
 */
export class PageServer {
  /** Called for each page that was refused. */
  readonly refused = new Listeners<RefusedPage>();
  readonly #options: PageServerOptions;
  /** Used last, last. */
  readonly #notebooks = new Map<string, PageNotebook>();
  #listener: PageListener | undefined;
  #store: SlotStore | undefined;
  #voided: string | undefined;
  #problem: string | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: PageServerOptions) {
    this.#options = options;
  }

  /** Binds the port and restores the slots: from now on pages may come back. Rejects with `port_in_use` for a port that was asked for. */
  static async open(options: PageServerOptions): Promise<PageServer> {
    const server = new PageServer(options);
    await server.#start();
    return server;
  }

  /** True if an earlier process has left slots in this state folder. Never throws. */
  static hasKept(dir: string): boolean {
    try {
      return (readKeptPages(dir, join(dir, fileName))?.slots.length ?? 0) > 0;
    } catch {
      return false;
    }
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** Connections without a byte, past and present; see `PageListener`. */
  get silentConnections(): number {
    return this.#listener?.silentConnections ?? 0;
  }

  /** Why pages of an earlier process cannot come back, or those of this one to the next; undefined if they can. */
  get problem(): string | undefined {
    return this.#voided ?? this.#problem;
  }

  /** All notebooks, also those that no agent has asked for since the start. */
  get notebooks(): readonly PageNotebook[] {
    return [...this.#notebooks.values()];
  }

  /** The notebook of that key; made if there is none. Resolves when it is on disk, or cannot be. Rejects with `bad_usage`, `closed`, `limit_reached`. */
  async open({ key, profile: name, url, allowOrigins = [] }: PageAddress): Promise<PageNotebook> {
    if (this.#closing !== undefined) throw new BridgeError('closed', 'The port for pages is closed.');
    const known = this.#notebooks.get(key);
    if (known !== undefined) return this.#reopen(known, allowOrigins);
    if (this.#notebooks.size >= maxSlots) await this.#forgetOldest();
    const profile = this.#profileOf(name);
    if (profile === undefined) throw new BridgeError('bad_usage', `There is no kind of page "${name}".`);
    const notebook = this.#add({ key, profile, url: url ?? profile.defaultUrl, allowOrigins });
    await this.#store?.save();
    return notebook;
  }

  /** Ends a notebook: its page is let go, and its tokens end, also for the next process. Of one that is not there is no fault. */
  async forget(key: string): Promise<void> {
    const notebook = this.#notebooks.get(key);
    if (notebook === undefined) return;
    this.#notebooks.delete(key);
    await notebook.close();
    await this.#store?.save();
  }

  /** Hangs up and frees the port. The slots stay on disk for the next process. Closing twice is harmless. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #start(): Promise<void> {
    const kept = this.#read();
    await this.#listen(kept?.port);
    for (const slot of kept?.slots ?? []) this.#restore(slot);
    await this.#store?.save();
  }

  #read(): KeptPages | undefined {
    const { dir, logger } = this.#options;
    const path = join(dir, fileName);
    const source = (): KeptPages => ({ port: this.port, slots: this.notebooks.map(({ kept }) => kept) });
    try {
      const kept = readKeptPages(dir, path);
      this.#store = new SlotStore({ path, source, logger });
      return kept;
    } catch (error) {
      // What is there may be somebody's; it is left as it is.
      this.#problem = `Pages cannot come back after a restart: ${messageOf(error)}`;
      logger.warn('The places of pages are neither read nor kept.', { error: messageOf(error) });
      return undefined;
    }
  }

  async #listen(earlier: number | undefined): Promise<void> {
    const { port = 0, logger, portTimeoutMs = 2000 } = this.#options;
    if (earlier === undefined) return this.#bind(port);
    const deadline = performance.now() + portTimeoutMs;
    for (;;) {
      try {
        return await this.#bind(earlier);
      } catch (error) {
        if (codeOf(error) !== 'port_in_use') throw error;
        if (performance.now() < deadline) {
          await pause(portPollMs);
          continue;
        }
        const owner = (error as BridgeError).data.owner;
        const by = typeof owner === 'string' ? owner : 'another program';
        this.#voided = `The port ${earlier}, which open pages dial, is taken by ${by} now, so their tokens have ended and they cannot come back.`;
        logger.warn(this.#voided);
        return this.#bind(port === earlier ? 0 : port);
      }
    }
  }

  async #bind(port: number): Promise<void> {
    const { allowHosts, logger, maxMessageBytes = 64 * 1024 * 1024, onRefused, answerPlain, gate } = this.#options;
    const onRefusedPage = (page: RefusedPage): void => this.refused.emit(page);
    const notebooks = this.#notebooks;
    const slots: Iterable<Slot> = {
      *[Symbol.iterator]() {
        for (const { slot } of notebooks.values()) yield slot;
      },
    };
    const told = { onRefused, onRefusedPage, answerPlain, gate };
    this.#listener = await PageListener.open({ slots, port, allowHosts, logger, maxMessageBytes, describePortOwner, ...told });
  }

  #restore({ profile: name, ...kept }: KeptSlot): void {
    const profile = this.#profileOf(name);
    // Of a later version, perhaps.
    if (profile === undefined) return;
    // Whoever has the port now was shown the tokens.
    const tokens = this.#voided === undefined ? kept.tokens : { passes: [], lasting: [] };
    this.#add({ ...kept, tokens, profile });
  }

  #add(kept: Omit<KeptSlot, 'profile' | 'tokens'> & { profile: PageProfile; tokens?: KeptSlot['tokens'] }): PageNotebook {
    const { key, url, allowOrigins, profile, tokens, tools } = kept;
    const { logger, pingMs = 12_000, maxMessageBytes = 64 * 1024 * 1024, secrets, openTool } = this.#options;
    const { clientInfo, graceMs, handshakeMs, callTimeoutMs = 3_600_000 } = this.#options;
    const slot = new Slot({
      profile,
      logger,
      allowOrigins,
      pingMs,
      maxMessageBytes,
      secrets,
      kept: tokens && { tokens, tools },
      save: this.#store && (() => this.#store?.save() ?? Promise.resolve(false)),
    });
    const isRestored = tokens !== undefined;
    const voided = (): string | undefined => (isRestored ? this.#voided : undefined);
    const timeouts = { clientInfo, graceMs, handshakeMs, callTimeoutMs };
    const notebook = new PageNotebook({ ...timeouts, key, slot, listener: this, url, isRestored, voided, openTool, logger });
    this.#notebooks.set(key, notebook);
    return notebook;
  }

  /** Another agent may let more origins in: its pages need not be opened anew for that. */
  async #reopen(notebook: PageNotebook, allowOrigins: readonly string[]): Promise<PageNotebook> {
    this.#notebooks.delete(notebook.key);
    this.#notebooks.set(notebook.key, notebook);
    if (allowOrigins.every((origin) => notebook.slot.allowedOrigins.includes(origin))) return notebook;
    notebook.slot.allowOrigins(allowOrigins);
    await this.#store?.save();
    return notebook;
  }

  async #forgetOldest(): Promise<void> {
    const oldest = this.notebooks.find(({ client }) => !client.isConnected());
    if (oldest === undefined) throw new BridgeError('limit_reached', `${maxSlots} pages are connected; close one of them first.`);
    await this.forget(oldest.key);
  }

  #profileOf(name: string): PageProfile | undefined {
    return this.#options.profiles.find((profile) => profile.name === name);
  }

  async #close(): Promise<void> {
    await this.#store?.save();
    await Promise.all(this.notebooks.map((notebook) => notebook.close()));
    await this.#listener?.close();
  }
}
