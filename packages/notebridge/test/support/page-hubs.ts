import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExchangedCalls } from '@notebridge/cluster/hub-calls';
import { HubLease } from '@notebridge/cluster/hub-lease';
import { hubWire } from '@notebridge/cluster/packets';
import { ResourceClaims } from '@notebridge/cluster/resource-claims';
import { MemoryProvider } from '@notebridge/protocol/core/memory-provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { silentLogger } from '@notebridge/protocol/util/logger';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { ClusterDirectory } from '../../src/assembly/cluster/cluster-directory.js';
import { ClusterPages } from '../../src/assembly/cluster/cluster-pages.js';
import type { HeldPage } from '../../src/assembly/cluster/held-page.js';
import { NotebookDesk } from '../../src/assembly/cluster/notebook-desk.js';
import { openClusterPage } from '../../src/assembly/cluster/open-cluster-page.js';
import { PagesDirectory } from '../../src/assembly/cluster/pages-directory.js';
import { PageListener, type RefusedPage } from '../../src/notebooks/pages/page-listener.js';
import { pageProfiles } from '../../src/notebooks/profiles/page-profiles.js';
import { RunLedger } from '../../src/notebooks/runs/run-ledger.js';
import type { NotebookDirectory, NotebookLink } from '../../src/notebooks/selection/notebook-directory.js';
import { OwnLink } from '../../src/notebooks/selection/own-link.js';
import { createContext } from './create-context.js';
import { createFastRuntime, MemoryCluster, type MemoryLink } from './memory-cluster.js';
import { pageOrigin } from './page-servers.js';

/** How much faster time passes for what hubs agree by, if the test says nothing else. */
const usualSpeed = 10;

/** Hubs of one process, with real ports for pages, and a store and a bus in memory. */
export class PageHubs implements AsyncDisposable {
  readonly runtime: Runtime;
  readonly memory: MemoryCluster;
  readonly dir = mkdtempSync(join(tmpdir(), 'page-hubs-'));
  readonly hubs: PageHub[] = [];

  constructor(speed = usualSpeed) {
    this.runtime = createFastRuntime(speed);
    this.memory = new MemoryCluster(this.runtime);
  }

  /** `link`: to what its hubs share. Default: a store and a bus in memory. */
  async add(name: string, link: MemoryLink = this.memory.connect()): Promise<PageHub> {
    const hub = await PageHub.start(name, { link, runtime: this.runtime, dir: this.dir });
    this.hubs.push(hub);
    return hub;
  }

  /** Resolves when each sees so many hubs. */
  async seen(count: number): Promise<void> {
    for (const { lease } of this.hubs) await until(lease, () => lease.hubs().length === count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.hubs.map((hub) => hub.close()));
    this.memory.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Resolves when the condition holds after a change. */
export function until(changing: { subscribe(listener: () => void): () => void }, condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!condition()) return;
      stop();
      resolve();
    };
    const stop = changing.subscribe(look);
    look();
  });
}

export class PageHub {
  readonly link: MemoryLink;
  readonly lease: HubLease;
  readonly claims: ResourceClaims;
  readonly calls: ExchangedCalls;
  readonly pages: ClusterPages;
  readonly directory: ClusterDirectory;
  readonly refused: RefusedPage[] = [];
  listener!: PageListener;
  readonly #desk: NotebookDesk;
  readonly #ledger: RunLedger;
  #closing: Promise<void> | undefined;

  private constructor(name: string, { link, runtime, dir }: { link: MemoryLink; runtime: Runtime; dir: string }) {
    const { store, bus } = link;
    const logger = silentLogger;
    this.link = link;
    this.lease = new HubLease({ store, runtime, about: { name, version: '0', wire: hubWire, url: undefined } });
    const { lease: membership } = this;
    this.claims = new ResourceClaims({ store, runtime, membership });
    const { claims } = this;
    this.calls = new ExchangedCalls({ bus, runtime, membership, claims, cluster: 'test', key: Buffer.alloc(32, 7), logger });
    const { calls } = this;
    this.pages = new ClusterPages({ claims, calls, membership, store, runtime, logger, profiles: pageProfiles });
    const local = new PagesDirectory({ local: noNotebooks, pages: this.pages });
    const first = new OwnLink({ provider: new MemoryProvider({ name: 'none' }), findId: () => 'none' });
    const endSession = (sessionId: string): void => this.pages.endSession(sessionId);
    this.#desk = new NotebookDesk({ first, directory: local, mayChoose: () => true, middlewares: [], endSession }, { calls, membership });
    this.directory = new ClusterDirectory({ local, pages: this.pages, calls, membership, runtime });
    this.#ledger = new RunLedger({ dir: join(dir, name), uid: ownUserId(), logger });
  }

  static async start(name: string, options: { link: MemoryLink; runtime: Runtime; dir: string }): Promise<PageHub> {
    const hub = new PageHub(name, options);
    await Promise.all([hub.lease.start(), hub.claims.start()]);
    const refused = new Listeners<RefusedPage>();
    refused.add((page) => hub.refused.push(page));
    hub.listener = await PageListener.open({
      port: 0,
      slots: [],
      finder: hub.pages,
      logger: silentLogger,
      maxMessageBytes: 1_000_000,
      describePortOwner: async () => undefined,
      onRefusedPage: (page) => refused.emit(page),
    });
    const { port } = hub.listener;
    hub.pages.start((kept) =>
      openClusterPage(kept, {
        listener: { port, refused, silentConnections: 0 },
        clientInfo: { name: 'test', version: '1' },
        secrets: { add: () => {}, delete: () => {} },
        isJournalled: false,
        ledger: hub.#ledger,
        openBrowser: async () => ({ opened: false, reason: 'no_display', hint: '' }),
        connectAddress: () => '',
        env: {},
        logger: silentLogger,
      }),
    );
    return hub;
  }

  get port(): number {
    return this.listener.port;
  }

  /** A new page of one's own, as an agent would ask for it; resolves when all hubs can know of it. */
  async create(): Promise<HeldPage> {
    const held = this.pages.open({ profile: 'page', url: `${pageOrigin}/`, allowOrigins: [pageOrigin] });
    await this.told(() => !held.isBehind);
    return held;
  }

  /** Resolves when the condition holds after news of a claim. */
  told(condition: () => boolean): Promise<void> {
    return until({ subscribe: (listener) => this.claims.subscribe(() => setImmediate(listener)) }, condition);
  }

  /** A link of an agent of this hub to a page, wherever it is. */
  linkTo(id: string): NotebookLink {
    return this.directory.linkTo({ kind: 'open', id });
  }

  /** As kill -9: nothing of it passes any more, and its pages are cut off. */
  async kill(): Promise<void> {
    this.link.setCut(true);
    for (const { page } of this.pages.held) void page.slot.close();
    await this.listener.close();
  }

  async drain(): Promise<void> {
    this.lease.setDraining(true);
    await this.pages.drain();
    await this.close();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.pages.close();
    await this.listener.close();
    await this.#desk.close();
    await this.claims.close();
    await this.lease.leave();
    this.calls.close();
    await this.#ledger.written();
  }
}

/** As `callTool`, by an agent of this hub that comes for this call alone. */
export async function callOnce(hub: PageHub, id: string, name: string): Promise<string> {
  const link = hub.linkTo(id);
  const text = await callTool(link, name);
  await link.close();
  return text;
}

/** The text of what a tool of a page answers. */
export async function callTool(link: NotebookLink, name: string, args: JsonObject = {}): Promise<string> {
  const context = createContext('tools/call', { name, arguments: args });
  const { content } = await link.request('tools/call', { name, arguments: args }, context);
  return String((content as { text?: unknown }[] | undefined)?.[0]?.text);
}

const noNotebooks: NotebookDirectory = {
  list: async () => ({ entries: [], silent: [] }),
  find: async () => Promise.reject(new Error('There is none.')),
  linkTo: () => {
    throw new Error('There is none.');
  },
};
