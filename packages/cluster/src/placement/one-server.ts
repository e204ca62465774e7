import { createHash } from 'node:crypto';
import type { CacheHints } from '@notebridge/protocol/core/cache-hints';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Tool } from '@notebridge/protocol/core/mcp';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import type { ServerState, ServerStatus, ToolServer, ToolServerEvent } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { type CallTarget, type Claim, type ClusterParts, type Owned, toKeyPart } from '../cluster-parts.js';
import { RemoteCaller } from '../remote-caller.js';
import { type HubContextOptions, toHubContext } from '../remote-events.js';
import { ConfiguredServer } from './configured-server.js';
import { OwnerFollower } from './owner-follower.js';
import { RemoteToolList } from './remote-tool-list.js';
import { endSessionMethod, ofServers, startMethod, stopMethod, watchTaskMethod } from './server-resources.js';

/** Another hub takes over after a pause by chance of at most this, so that not all try at once. Milliseconds. */
const takeOverWithinMs = 300;
/** Its program may take so long to end before another hub may start its own. Milliseconds. */
const endMs = 5_000;
/** What others see of the server is written at most this often. Milliseconds. */
const describeEveryMs = 250;

/** The parts of a cluster by which servers are placed. */
export type PlacingParts = Pick<ClusterParts, 'calls' | 'claims' | 'membership' | 'runtime' | 'logger'>;

export interface OneServerOptions extends PlacingParts {
  /** The server as this hub has it: it runs nothing unless it is called. */
  local: ToolServer;
  onEvent: (event: ToolServerEvent) => void;
}

/** A server of which the cluster has one. Whoever has the claim runs it; all others have it called there, and take it over when that hub ends. */
export class OneServer extends ConfiguredServer implements ToolServer {
  readonly resource: string;
  readonly #options: OneServerOptions;
  readonly #caller: RemoteCaller;
  readonly #follower: OwnerFollower;
  readonly #remoteTools: RemoteToolList;
  readonly #stopWatching: () => void;
  #claim: Claim | undefined;
  #taking: Promise<Claim | undefined> | undefined;
  #describing: (() => void) | undefined;
  #takingOver: (() => void) | undefined;
  /** Sessions that have called it at another hub. */
  readonly #sessions = new Set<string>();
  /** Who had it when it was looked at last. */
  #seen = '';
  #isClosed = false;

  constructor(options: OneServerOptions) {
    super(options.local);
    const { claims, calls, runtime, local } = options;
    this.#options = options;
    this.resource = `${ofServers}${toKeyPart(local.name)}`;
    this.#caller = new RemoteCaller({
      calls,
      runtime,
      find: () => this.#find(),
      callHere: (method, params, context) => this.local.request(method, params, context),
      what: `The server "${local.name}"`,
    });
    this.#follower = new OwnerFollower({
      calls,
      runtime,
      onEvent: (event) => options.onEvent({ server: this.name, kind: 'notification', notification: event as unknown as ProviderEvent }),
      onSilence: () => this.#lookAround(),
    });
    this.#remoteTools = new RemoteToolList({
      ask: () => this.#callOwner('tools/list'),
      digest: () => this.#owned?.about.tools,
    });
    this.#stopWatching = claims.subscribe((resource) => {
      if (resource === this.resource) this.#lookAround();
    });
    const held = claims.held(this.resource);
    if (held?.isHeld() === true && local.status !== 'disabled') {
      // Its program is another one now, at the same hub.
      this.#adopt(held);
      if (!this.isLazy) void local.start?.();
    }
    // It ran here before it was placed so: where it runs from now on the cluster decides.
    else if (local.status !== 'stopped') void local.stop?.('one hub of the cluster runs it from now on');
    this.#lookAround();
  }

  get isHere(): boolean {
    return this.#claim?.isHeld() === true;
  }

  get status(): ServerStatus {
    return this.state.status;
  }

  get state(): ServerState {
    if (this.isHere || this.local.status === 'disabled') return this.local.state;
    // What was told of it before says nothing of now, where this hub has lost its place: nobody is known to have it.
    const { about = {} } = (this.#options.membership.isHeld() ? this.#owned : undefined) ?? {};
    const status = typeof about.status === 'string' ? (about.status as ServerStatus) : 'stopped';
    return { status, since: this.local.state.since, restarts: 0, inFlight: 0 };
  }

  get knownTools(): readonly Tool[] | undefined {
    return this.isHere ? this.local.knownTools : this.#remoteTools.known;
  }

  get toolsCache(): CacheHints | undefined {
    return this.isHere ? this.local.toolsCache : this.#remoteTools.cache;
  }

  get tasksEra(): Era | undefined {
    if (this.isHere) return this.local.tasksEra;
    const era = this.#owned?.about.tasksEra;
    return era === 'legacy' || era === 'modern' ? era : undefined;
  }

  async listTools(context?: CallContext): Promise<readonly Tool[]> {
    if (!this.isHere && this.#remoteTools.isCurrent && this.#remoteTools.known !== undefined) return this.#remoteTools.known;
    return (await this.#find()) === undefined ? this.local.listTools(context) : this.#remoteTools.read();
  }

  request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (this.isHere || this.local.status === 'disabled') return this.local.request(method, params, context);
    if (this.isPerAgent) this.#sessions.add(context.caller.sessionId);
    return this.#caller.call(method, params, context);
  }

  watchTask(taskId: string, context: CallContext): () => void {
    if (this.isHere) return this.local.watchTask?.(taskId, context) ?? (() => {});
    const cancellation = new Cancellation();
    const { caller } = context;
    this.#callOwner(watchTaskMethod, { params: { taskId }, cancellation, caller }).catch(() => undefined);
    return () => cancellation.cancel('nobody listens to the task any more');
  }

  async start(): Promise<void> {
    try {
      if ((await this.#find()) === undefined) await this.local.start?.();
      else await this.#callOwner(startMethod);
    } catch (error) {
      this.#options.logger.warn(`The server "${this.name}" could not be started in the cluster.`, { error: messageOf(error) });
    }
  }

  async stop(why: string): Promise<void> {
    if (this.isHere || this.#owned === undefined) return await this.local.stop?.(why);
    await this.#callOwner(stopMethod, { params: { why } }).catch(() => undefined);
  }

  /** An event of the server of this hub. True if it is everybody's here. */
  fromLocal({ kind }: ToolServerEvent): boolean {
    if (!this.isHere) return false;
    if (kind === 'state' || kind === 'tools') this.#describeSoon();
    return true;
  }

  /** Hubs came or went, or this hub's own lease did: what a claim says holds only while its hub lives. */
  membershipChanged(): void {
    const owned = this.#owned;
    const isNobodys = owned === undefined && !this.isHere;
    const isUnheard = owned !== undefined && !this.#follower.isFollowing;
    if (isNobodys || isUnheard || this.#seen !== this.#seenOf(owned)) this.#lookAround();
  }

  /** An agent of this hub has gone: what is held for it alone, at whichever hub, can go. Never rejects. */
  async endSession(sessionId: string): Promise<void> {
    const owned = this.#owned;
    if (!this.#sessions.delete(sessionId) || owned === undefined) return;
    const { calls, runtime } = this.#options;
    const context = toHubContext(endSessionMethod, { params: { sessionId }, runtime });
    await calls.call(owned, context.method, context.message, context).catch(() => undefined);
  }

  /** Hands over what others can have; `next` is what this hub has in its place, if it goes on. Never rejects. Closing twice is harmless. */
  async close(next?: ToolServer): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopWatching();
    this.#describing?.();
    this.#takingOver?.();
    this.#follower.stop();
    const claim = this.#claim;
    this.#claim = undefined;
    const isKept = next !== undefined && next.status !== 'disabled';
    // Another program of this hub: no other hub has it in between.
    if (isKept && next.placement === 'one') return;
    // Two programs of one server may not run at once, unless each hub may have its own now.
    if (claim !== undefined && !isKept) await this.#ended();
    await claim?.release();
  }

  /** Resolves when what runs here has ended, or does not for too long. */
  #ended(): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.#options.runtime.after(endMs, resolve);
      const end = (): void => {
        callOff();
        resolve();
      };
      Promise.resolve(this.local.stop?.('another hub of the cluster runs it from now on')).then(end, end);
    });
  }

  /** As far as was told, if it is not this hub. */
  get #owned(): Owned | undefined {
    const owned = this.#options.claims.ownerOf(this.resource);
    return owned?.hub === this.#options.membership.self.id ? undefined : owned;
  }

  /** Undefined: it is here, from now on. */
  async #find(): Promise<CallTarget | undefined> {
    if (this.isHere) return undefined;
    const owned = this.#owned;
    if (owned !== undefined) return owned;
    const claim = await this.#take();
    if (claim?.isHeld() === true) return undefined;
    const other = this.#owned;
    if (other !== undefined) return other;
    throw new BridgeError(
      'cluster_unavailable',
      `Which hub of the cluster runs the server "${this.name}" is not known just now. Call again.`,
    );
  }

  #take(): Promise<Claim | undefined> {
    this.#taking ??= this.#tryToTake().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  async #tryToTake(): Promise<Claim | undefined> {
    if (this.#isClosed) return undefined;
    const { claims, logger } = this.#options;
    let claim: Claim | undefined;
    try {
      claim = await claims.take(this.resource, this.#about());
    } catch (error) {
      throw new BridgeError(
        'cluster_unavailable',
        `The server "${this.name}" runs at one hub of the cluster, and which one cannot be decided: ${messageOf(error)}`,
        {
          cause: error,
        },
      );
    }
    if (this.#isClosed) {
      await claim?.release();
      return undefined;
    }
    if (claim !== undefined && claim !== this.#claim) {
      this.#adopt(claim);
      logger.info(`The server "${this.name}" runs at this hub from now on.`, { epoch: claim.epoch });
    }
    return claim;
  }

  #adopt(claim: Claim): void {
    this.#claim = claim;
    this.#follower.stop();
    claim.onLost(() => {
      if (this.#claim !== claim) return;
      this.#claim = undefined;
      if (!this.#isClosed) this.#options.logger.warn(`The server "${this.name}" runs at this hub no more.`);
      void this.local.stop?.('another hub of the cluster runs it now');
      this.#lookAround();
    });
  }

  #about(): JsonObject {
    const { local } = this;
    const known = local.knownTools;
    const tools = known === undefined ? undefined : createHash('sha256').update(JSON.stringify(known)).digest('base64url').slice(0, 16);
    return {
      status: local.status,
      ...(tools !== undefined && { tools }),
      ...(local.tasksEra !== undefined && { tasksEra: local.tasksEra }),
    };
  }

  #describeSoon(): void {
    this.#describing ??= this.#options.runtime.after(describeEveryMs, () => {
      this.#describing = undefined;
      if (!this.isHere) return;
      this.#claim?.describe(this.#about()).catch((error: unknown) => {
        this.#options.logger.debug(`What runs here was not told to the cluster.`, { error: messageOf(error) });
      });
    });
  }

  /** Its owner is another, or says something else of it. */
  #lookAround(): void {
    if (this.#isClosed) return;
    const owned = this.#owned;
    const isOther = this.#seen !== this.#seenOf(owned);
    this.#seen = this.#seenOf(owned);
    if (owned !== undefined) this.#followOwner(owned);
    else if (!this.isHere && !this.isLazy && this.local.status !== 'disabled') this.#takeOverSoon();
    if (isOther) this.#options.onEvent({ server: this.name, kind: 'state' });
  }

  #takeOverSoon(): void {
    const { runtime, membership } = this.#options;
    const ms = runtime.bytes(2).readUInt16BE() % takeOverWithinMs;
    this.#takingOver ??= runtime.after(ms, () => {
      this.#takingOver = undefined;
      if (this.#isClosed || this.#owned !== undefined || this.isHere || !membership.isHeld()) return;
      this.#take().then(
        (claim) => void (claim?.isHeld() === true && this.local.start?.()),
        () => this.#takeOverSoon(),
      );
    });
  }

  #followOwner(owned: Owned): void {
    this.#follower.follow(owned);
    const { known, isCurrent } = this.#remoteTools;
    if (known === undefined || isCurrent || owned.about.tools === undefined) return;
    this.#remoteTools.read().then(
      () => this.#options.onEvent({ server: this.name, kind: 'tools' }),
      () => undefined,
    );
  }

  #seenOf(owned: Owned | undefined): string {
    if (owned === undefined) return '';
    const { hub, epoch, about } = owned;
    return `${hub} ${epoch} ${String(about.status)} ${String(about.tools)} ${this.#options.membership.isHeld()}`;
  }

  /** Has whoever has it answer a call of this hub itself. */
  #callOwner(method: string, options: HubContextOptions = {}): Promise<JsonObject> {
    const context = toHubContext(method, { ...options, runtime: this.#options.runtime });
    return this.#caller.call(method, context.message, context);
  }
}
