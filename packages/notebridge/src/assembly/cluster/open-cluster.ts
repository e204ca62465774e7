import { createHmac } from 'node:crypto';
import { hostname } from 'node:os';
import type { ClusterBus } from '@notebridge/cluster/cluster-bus';
import type { HubView } from '@notebridge/cluster/cluster-parts';
import type { ClusterSettings } from '@notebridge/cluster/cluster-settings';
import { ExchangedCalls } from '@notebridge/cluster/hub-calls';
import { HubLease } from '@notebridge/cluster/hub-lease';
import { LateEngine } from '@notebridge/cluster/late-engine';
import { connectNats } from '@notebridge/cluster/nats/connect-nats';
import type { NatsCluster } from '@notebridge/cluster/nats/nats-cluster';
import { hubWire } from '@notebridge/cluster/packets';
import { ResourceClaims } from '@notebridge/cluster/resource-claims';
import { createSignedStore } from '@notebridge/cluster/signed-store';
import { StoredSessions } from '@notebridge/cluster/stored-sessions';
import { codeOf } from '@notebridge/protocol/core/errors';
import { type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { deriveKey } from '@notebridge/protocol/util/derive-key';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Redactor } from '@notebridge/protocol/util/redactor';
import { type Runtime, systemRuntime } from '@notebridge/protocol/util/runtime';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import type { SharedStore } from '@notebridge/system/files/shared-store';

export interface OpenClusterOptions {
  settings: ClusterSettings;
  /** The secret that the hubs share. */
  key: Buffer;
  /** Of the program. */
  version: string;
  logger: Logger;
  redactor: Redactor;
  /** Calls that run at this hub just now. */
  load: () => number;
}

/** A cluster, and the names of its hubs, this one first. */
export interface ClusterView {
  name: string;
  hubs: readonly string[];
  /** False: this hub has no place there just now. */
  isJoined: boolean;
}

/** How long the start waits for NATS: a hub serves its own callers without it. Milliseconds. */
const startWaitMs = 5000;
/** Between tries to reach NATS, as long as it was never reached. Milliseconds. */
const retryMs = 2000;
/** How long one try waits for NATS: so the start has the reason before its own wait is over. Milliseconds. */
const tryMs = 3000;
const loadEveryMs = 1000;
/** A hub of the same name that is still there after so long is no earlier life of this one: its lease would have run out. Milliseconds. */
const namesakeMs = 12_000;

/** This hub in its cluster: who is there, who has what, and the calls between them. Nothing is reached before `start`. */
export class Cluster {
  readonly membership: HubLease;
  readonly claims: ResourceClaims;
  readonly calls: ExchangedCalls;
  readonly sessions: StoredSessions;
  readonly store: SharedStore;
  /** As it is, for what is sealed by those who write it. */
  readonly bareStore: SharedStore;
  readonly bus: ClusterBus;
  readonly runtime: Runtime = systemRuntime;
  readonly name: string;
  readonly key: Buffer;
  readonly #options: OpenClusterOptions;
  readonly #engine = new LateEngine();
  readonly #identityKey: Buffer;
  #nats: NatsCluster | undefined;
  #stopLoad: (() => void) | undefined;
  #stopRetry: (() => void) | undefined;
  #stopTelling: (() => void) | undefined;
  #stopNameCheck: (() => void) | undefined;
  #told: string | undefined;
  #refusal: string | undefined;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(options: OpenClusterOptions) {
    const { settings, key, version, logger } = options;
    const { runtime } = this;
    const { name, hubName = hostname() } = settings;
    this.#options = options;
    this.name = hubName;
    this.key = key;
    this.#identityKey = deriveKey(key, `identities ${name}`);
    this.bus = this.#engine.bus;
    this.bareStore = this.#engine.store;
    this.store = createSignedStore(this.#engine.store, { key, name, logger });
    this.membership = new HubLease({
      store: this.store,
      runtime,
      logger,
      about: { name: hubName, version, wire: hubWire, url: undefined },
    });
    this.claims = new ResourceClaims({ store: this.store, runtime, membership: this.membership, logger });
    const { bus, membership, claims } = this;
    this.calls = new ExchangedCalls({ bus, runtime, membership, claims, cluster: name, key, logger });
    this.sessions = new StoredSessions({ store: this.store, membership, runtime, logger });
  }

  /** As a person is told. */
  get view(): ClusterView {
    const isJoined = this.membership.isHeld();
    return { name: this.#options.settings.name, hubs: [this.name, ...this.others.map(({ name }) => name).sort()], isJoined };
  }

  /** Why it does not join until it is started again; undefined: it does, or tries. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** The others that are there. */
  get others(): HubView[] {
    const { self } = this.membership;
    return this.membership.hubs().filter(({ id }) => id !== self.id);
  }

  /**
   * Joins. Resolves when this hub has its place, or after five seconds: it goes on trying, and serves its own callers meanwhile. Rejects with
   * `bad_config` for what a person has to change.
   */
  async start(): Promise<void> {
    const { logger } = this.#options;
    const joined = this.#join();
    joined.catch(() => {});
    if (await settlesWithin(joined, startWaitMs)) return await joined;
    logger.warn(
      'This hub has not joined its cluster yet, and goes on trying. It serves its own callers meanwhile, and refuses grants until then.',
    );
    joined.catch((error) => {
      this.#refusal = messageOf(error);
      if (!this.#isClosed) logger.error(`This hub does not join its cluster, until it is started again. ${messageOf(error)}`);
    });
  }

  /** This process, whatever becomes of its lease. */
  get processMark(): string {
    return markOfProcess(this.membership.self);
  }

  /** The hub of a process, while it is there. */
  hubOfProcess(mark: string): HubView | undefined {
    return this.membership.hubs().find((hub) => markOfProcess(hub) === mark);
  }

  /** The same for one principal at all hubs, and nobody else's. */
  sessionIdOf(principal: Principal): string {
    return createHmac('sha256', this.#identityKey).update(principalKey(principal)).digest('hex').slice(0, 32);
  }

  /** How long calls that run may still end when this hub ends. Milliseconds. */
  get drainMs(): number {
    return this.#options.settings.drainMs;
  }

  /** Writes a line of the audit for all hubs. Never throws. */
  audit(line: string): void {
    this.#nats?.publishAudit(this.name, line);
  }

  /** Takes nothing more from others, and lets what runs for them end, for a while. Never rejects. */
  async drain(): Promise<void> {
    this.membership.setDraining(true);
    await settlesWithin(this.calls.drain(), this.#options.settings.drainMs);
  }

  /** Leaves: what this hub had, others can have at once. Closing twice is harmless. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#stopLoad?.();
    this.#stopRetry?.();
    this.#stopTelling?.();
    this.#stopNameCheck?.();
    await this.claims.close();
    await this.membership.leave();
    await this.calls.close();
    await this.#nats?.close();
  }

  async #join(): Promise<void> {
    await this.#reach();
    if (this.#isClosed) return;
    await Promise.all([this.membership.start(), this.claims.start()]);
    this.#sayLoad();
    this.#tellOthers();
    this.#stopTelling = this.membership.subscribe(() => this.#tellOthers());
  }

  /** Who else is there, whenever that has changed. */
  #tellOthers(): void {
    const others = this.others.map(({ name }) => name).sort();
    const told = this.membership.isHeld() ? others.join(' ') : undefined;
    if (told === this.#told || this.#isClosed) return;
    this.#told = told;
    const { logger, settings } = this.#options;
    if (told === undefined) logger.warn('This hub has lost its place in the cluster, and joins it again.');
    else logger.info('The hubs of the cluster:', { cluster: settings.name, self: this.name, others });
    if (others.includes(this.name)) this.#stopNameCheck ??= this.runtime.after(namesakeMs, () => this.#tellNamesake());
  }

  /** An earlier life of this hub that was killed is gone by now; what is still there is another hub. */
  #tellNamesake(): void {
    this.#stopNameCheck = undefined;
    if (!this.others.some(({ name }) => name === this.name)) return;
    const { logger } = this.#options;
    logger.warn(
      `Another hub of the cluster is called "${this.name}" too. Give each a "hubName" of its own: sessions and notebooks are found by it.`,
    );
  }

  async #reach(): Promise<void> {
    const { settings, logger, redactor } = this.#options;
    let told: string | undefined;
    while (!this.#isClosed) {
      try {
        const nats = await connectNats({ settings: { ...settings, hubName: this.name }, logger, redactor, waitMs: tryMs });
        if (this.#isClosed) return await nats.close();
        this.#nats = nats;
        this.#engine.reach(nats);
        return;
      } catch (error) {
        if (codeOf(error) !== 'cluster_unavailable') throw error;
        if (messageOf(error) !== told) logger.warn(messageOf(error));
        told = messageOf(error);
        await new Promise<void>((resolve) => {
          const callOff = this.runtime.after(retryMs, resolve);
          this.#stopRetry = () => {
            callOff();
            resolve();
          };
        });
      }
    }
  }

  #sayLoad(): void {
    this.membership.setLoad(this.#options.load());
    this.#stopLoad = this.runtime.after(loadEveryMs, () => this.#sayLoad());
  }
}

/** The id of a hub is of its lease; this is of its process. */
function markOfProcess({ name, startedAt }: HubView): string {
  return `${startedAt} ${name}`;
}
