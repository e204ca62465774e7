import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { isSameFile } from '@notebridge/system/files/same-file';
import { ownProcessId } from '@notebridge/system/processes/own-user';
import { type HeldNotebooks, HostLink, type JoinRequest } from './host-link.js';
import { readBrokerPlace, type WrittenPlace, writeHostPlace } from './host-place.js';
import { dialHost } from './join-link.js';
import { JoinListener } from './join-listener.js';
import { fileOf, keyOf, type NotebookAddress } from './notebook-address.js';
import { idFor } from './notebook-ids.js';
import type { SharedNotebook } from './shared-notebook.js';

/** A notebook that the broker has opened. */
export interface BrokerNotebook {
  notebook: SharedNotebook;
  /** Saves and ends it. Rejects with what could not be saved, when all is closed. */
  close(): Promise<void>;
}

/** What is to be opened, and the id that it gets. */
export interface NotebookOpening {
  request: JoinRequest;
  address: NotebookAddress;
  id: string;
}

export interface BrokerOptions {
  /** The user's state folder. */
  dir: string;
  version: string;
  /** A notebook, and the broker, ends so long after its last agent, window and run. Milliseconds. */
  idleMs: number;
  open: (opening: NotebookOpening) => Promise<BrokerNotebook>;
  /** False if another process may be starting a broker at this moment. */
  isAlone: () => boolean;
  logger: Logger;
}

/** How often it is looked whether anything is still needed. */
const shortestLookMs = 50;
const longestLookMs = 5000;

/** Holds the notebooks of agents, so that they outlive them. One of a user and state folder. */
export class Broker implements HeldNotebooks {
  readonly #options: BrokerOptions;
  readonly #notebooks = new Map<string, Promise<BrokerNotebook>>();
  readonly #opened = new Map<SharedNotebook, { key: string; close(): Promise<void> }>();
  readonly #closingNotebooks = new Map<string, Promise<void>>();
  #listener: JoinListener | undefined;
  #place: WrittenPlace | undefined;
  readonly #startedAt = performance.now();
  /** A notebook was asked for. Others that start look only whether we are here, and leave again. */
  #hasServed = false;
  #scratches = 0;
  #closing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly ended: Promise<void>;
  #end: () => void = () => {};

  private constructor(options: BrokerOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /**
   * Listens and publishes where; undefined if the user has a broker already, which has proved itself. To be called under a lock. Rejects
   * with `write_failed`.
   */
  static async open(options: BrokerOptions): Promise<Broker | undefined> {
    if (await hasBroker(options)) return undefined;
    const broker = new Broker(options);
    await broker.#listen();
    if (options.isAlone()) return broker;
    await broker.close();
    return undefined;
  }

  async open(request: JoinRequest): Promise<{ notebook: SharedNotebook; isNew: boolean }> {
    if (this.#closing !== undefined) throw new BridgeError('closed', 'The broker is ending. Try again: another one is started.');
    this.#hasServed = true;
    const { address } = request;
    if (address === undefined) throw new BridgeError('bad_notebook', `No notebook "${request.id}" is open here: it was closed.`);
    const key = this.#keyOf(address);
    // One that is just being closed still has its lock.
    while (this.#closingNotebooks.has(key)) await this.#closingNotebooks.get(key);
    const known = this.#notebooks.get(key);
    if (known !== undefined) return { notebook: (await known).notebook, isNew: false };
    const opening = this.#openNew(request, address);
    this.#notebooks.set(key, opening);
    try {
      const { notebook, close } = await opening;
      this.#opened.set(notebook, { key, close });
      return { notebook, isNew: true };
    } catch (error) {
      this.#notebooks.delete(key);
      throw error;
    }
  }

  async #openNew(request: JoinRequest, address: NotebookAddress): Promise<BrokerNotebook> {
    return this.#options.open({ request, address, id: await idFor(this.#options.dir, address) });
  }

  /** That of the address, or that by which the same file is open already. */
  #keyOf(address: NotebookAddress): string {
    const key = keyOf(address) ?? `#${++this.#scratches}`;
    const file = fileOf(address);
    const known = [...this.#notebooks.keys(), ...this.#closingNotebooks.keys()];
    if (file === undefined || known.includes(key)) return key;
    return known.find((other) => other.startsWith('file:') && isSameFile(other.slice('file:'.length), file)) ?? key;
  }

  left(notebook: SharedNotebook | undefined): void {
    if (notebook?.isForgotten === true || notebook?.isIdleFor(this.#options.idleMs) === true) void this.#closeNotebook(notebook);
    this.#look();
  }

  all(): readonly SharedNotebook[] {
    return [...this.#opened.keys()];
  }

  async stop(notebook: SharedNotebook | undefined): Promise<void> {
    if (notebook !== undefined) return this.#closeNotebook(notebook);
    await Promise.all(this.all().map((notebook) => this.#closeNotebook(notebook)));
    // The answer leaves first.
    setImmediate(() => void this.close());
  }

  /** Saves and ends everything. Closing twice is harmless. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #listen(): Promise<void> {
    const { dir, version, idleMs } = this.#options;
    this.#listener = await JoinListener.open({ dir, version, createHandler: (peer) => new HostLink(peer, this) });
    const { address, secret } = this.#listener;
    this.#place = await writeHostPlace(dir, { kind: 'broker', address, secret, pid: ownProcessId(), startedAt: Date.now(), version });
    const lookMs = Math.min(longestLookMs, Math.max(shortestLookMs, idleMs / 4));
    this.#timer = setInterval(() => this.#look(), lookMs);
  }

  /** Ends what nobody has needed for long enough. */
  #look(): void {
    if (this.#closing !== undefined) return;
    for (const notebook of this.all()) if (notebook.isIdleFor(this.#options.idleMs)) void this.#closeNotebook(notebook);
    if ((this.#listener?.links ?? 0) > 0 || this.#notebooks.size > 0) return;
    // One that was just started waits for its first agent. Notebooks have waited long enough already.
    if (this.#hasServed || performance.now() - this.#startedAt >= firstAgentMs) void this.close();
  }

  async #closeNotebook(notebook: SharedNotebook): Promise<void> {
    const found = this.#opened.get(notebook);
    if (found === undefined) return;
    this.#opened.delete(notebook);
    this.#notebooks.delete(found.key);
    notebook.end();
    const closing = found.close().catch((error: unknown) => {
      this.#options.logger.error('A notebook was not closed as it should.', { id: notebook.id, error: messageOf(error) });
    });
    this.#closingNotebooks.set(found.key, closing);
    await closing;
    this.#closingNotebooks.delete(found.key);
    this.#look();
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    // From now on agents start another broker.
    this.#place?.remove();
    this.#listener?.stop();
    await Promise.allSettled([...this.#notebooks.values()]);
    await Promise.all([...this.#opened.keys()].map((notebook) => this.#closeNotebook(notebook)));
    await Promise.all(this.#closingNotebooks.values());
    this.#listener?.close();
    this.#end();
  }
}

/** From its start to the first agent, at least: one that has just started it may be slow, and waits for it as long. Milliseconds. */
const firstAgentMs = 30_000;

/** True if a broker of the user runs and proves itself, of whatever version, or is stopped. */
async function hasBroker({ dir, version }: BrokerOptions): Promise<boolean> {
  const place = readBrokerPlace(dir);
  if (place === undefined || place.pid === ownProcessId()) return false;
  try {
    (await dialHost({ ...place, version }, version)).close();
    return true;
  } catch (error) {
    return codeOf(error) === 'other_version' || codeOf(error) === 'host_silent';
  }
}
