import { isDeepStrictEqual } from 'node:util';
import type { CallContext, Caller } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { LogLevels } from '@notebridge/protocol/core/log-levels';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import { everyAskable, toAskable } from '@notebridge/protocol/core/questions';
import type { ServerState } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import { agentKey, isOnlyDeclared } from '@notebridge/protocol/questions/agent-key';
import { AskedCalls, type QuestionTie } from '@notebridge/protocol/questions/asked-calls';
import { ShownUrls } from '@notebridge/protocol/questions/shown-urls';
import { NotificationBrake } from '@notebridge/protocol/rpc/notification-brake';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { ServerConfig } from '../config/server-config.js';
import type { FollowCall } from '../telemetry/outgoing-calls.js';
import { type CallLimits, type SentRequest, ServerCalls } from './server-calls.js';
import { ServerInstance, type ServerInstanceOptions } from './server-instance.js';
import type { SoleAgent } from './sole-agent.js';
import { Stalls } from './stalls.js';
import type { UpstreamSession } from './upstream-session.js';
import type { UpstreamTools } from './upstream-tools.js';

export interface InstancesOptions extends Omit<ServerInstanceOptions, 'onNotification' | 'onReady' | 'questions' | 'eraOfAgent'> {
  logLevels: LogLevels;
  /** Follows each request. Left out: nobody does. */
  follow?: FollowCall | undefined;
  /** The process serves one agent alone. Left out: it may serve several. */
  soleAgent?: SoleAgent | undefined;
  /** See `ServerInstanceOptions`. */
  onReady: (session: UpstreamSession, pooled: PooledInstance) => void;
  onNotification: (event: ProviderEvent, session: UpstreamSession, pooled: PooledInstance) => void;
}

/** As many calls as run at once may wait four times over. */
const waitingPerRunning = 4;
/** The part of the instances that one session can take: agents of the modern era have one for each name that they give themselves. */
const mostOfOne = 0.25;
/** Where calls run one at a time. */
const waitingInTurn = 64;

/** Doors of agents, which have sessions of their own. */
const agentDoors: ReadonlySet<Caller['door']> = new Set(['stdio', 'http', 'library']);

/** True for what an agent of the legacy era does itself, which has a session. */
function hasSession({ caller: { era, door }, parent }: CallContext): boolean {
  return era === 'legacy' && agentDoors.has(door) && parent === undefined;
}

/** An instance of one agent: where each has a program of its own, and over HTTP, where a session costs no process, as without a bridge. */
function mayServeOne({ instances, transport, era }: ServerConfig): boolean {
  return instances === 'per-agent' || (transport === 'http' && era !== 'modern');
}

/** What ties a question of a server of the legacy era to one of the calls that run; undefined: it may not ask. */
function tieOf({ questions, transport }: ServerConfig): QuestionTie | undefined {
  if (questions !== 'auto') return questions === 'serial' ? 'serial' : undefined;
  return transport === 'http' ? 'stream' : 'single';
}

/** One running server with the calls to it. */
export interface PooledInstance {
  /** The agent's session that it serves alone. */
  sessionId?: string | undefined;
  /** What it lists, where that is not what all list. */
  tools?: UpstreamTools | undefined;
  /** What the agent could be asked when it was first needed. */
  askable?: JsonObject | undefined;
  instance: ServerInstance;
  calls: ServerCalls;
}

/** The instances of one server: one that all share, or one for each agent beside the one that lists the tools. */
export class ServerInstances {
  readonly #options: InstancesOptions;
  readonly #own = new Map<string, PooledInstance>();
  readonly shared: PooledInstance;
  readonly #stopFollowing: () => void;
  /** Undefined over HTTP: there the stream says of which call a question is, so that a person's cell has its questions too. */
  readonly #soleAgent: SoleAgent | undefined;
  /** The level that a session was asked for last. */
  readonly #levels = new WeakMap<UpstreamSession, string>();
  #config: ServerConfig;
  #mayServeOne: boolean;
  #hasSaidWhoIsOne = false;

  constructor(options: InstancesOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#mayServeOne = mayServeOne(options.config);
    this.#soleAgent = options.config.transport === 'http' ? undefined : options.soleAgent;
    this.shared = this.#createPooled();
    this.#stopFollowing = options.logLevels.changed.add(() => {
      this.#sendLevel(this.shared, options.logLevels.lowest);
      for (const pooled of this.#own.values()) this.#sendLevel(pooled, options.logLevels.of(pooled.sessionId ?? ''));
    });
  }

  /** That of the shared instance; calls of all. */
  get state(): ServerState {
    const inFlight = [...this.#own.values()].reduce((sum, { calls }) => sum + calls.inFlight, this.shared.calls.inFlight);
    return { ...this.shared.instance.state, inFlight };
  }

  /** Those that serve one agent each. */
  get own(): IterableIterator<PooledInstance> {
    return this.#own.values();
  }

  /** The instance for what is of no session: an agent's own only where each has a program of its own. Throws `limit_reached`. */
  ofAll(context: CallContext): PooledInstance {
    return this.#config.instances === 'per-agent' ? this.of(context) : this.shared;
  }

  /** True for an agent's session at a server that all share: it lists what that lists. */
  isBesideShared(pooled: PooledInstance): boolean {
    return pooled !== this.shared && this.#config.instances === 'shared';
  }

  /** The instance that serves a call. Throws `limit_reached`. */
  of(context: CallContext | undefined): PooledInstance {
    if (context === undefined || this.#soleAgent !== undefined) return this.shared;
    if (!this.#mayServeOne) return this.shared;
    const isPerAgent = this.#config.instances === 'per-agent';
    if (!isPerAgent && !hasSession(context)) return this.shared;
    const key = this.#keyOf(context);
    const own = this.#own.get(key);
    if (own !== undefined) {
      // The one that was asked last stands last.
      this.#own.delete(key);
      this.#own.set(key, own);
      return own;
    }
    try {
      this.#makeRoom(context.caller.sessionId);
    } catch (error) {
      // What all share does as well, but for questions that no stream ties to a call.
      if (!isPerAgent) return this.shared;
      throw error;
    }
    if (isOnlyDeclared(context.caller)) this.#sayWhoIsOne();
    const pooled = this.#createPooled(context);
    this.#own.set(key, pooled);
    return pooled;
  }

  /**
   * A server of the modern era is told in each call what its caller can be asked. One of the legacy era was promised it once: who calls
   * itself the same and can be asked something else has another.
   */
  #keyOf({ caller, clientCapabilities }: CallContext): string {
    const key = agentKey(caller);
    const askable = toAskable(clientCapabilities);
    const ofThese = `${key} ${JSON.stringify(askable ?? {})}`;
    if (this.#own.has(ofThese)) return ofThese;
    const first = this.#own.get(key);
    if (first === undefined || isDeepStrictEqual(first.askable, askable)) return key;
    return tieOf(this.#config) !== undefined && this.#eraOf(first) === 'legacy' ? ofThese : key;
  }

  /** Undefined: it starts for the first time. */
  #eraOf({ instance }: PooledInstance): Era | undefined {
    const { era } = this.#config;
    return instance.session?.handshake.era ?? (era === 'auto' ? this.#options.eras.find(this.#config) : era);
  }

  /** Throws `limit_reached`. Whoever comes under ever new names takes places of its own session alone. */
  #makeRoom(sessionId: string): void {
    const { maxOwnInstances } = this.#options.limits;
    const ofOne = [...this.#own.values()].filter((own) => own.sessionId === sessionId).length;
    if (ofOne >= Math.ceil(mostOfOne * maxOwnInstances) && !this.#giveUpIdle(sessionId)) throw this.#full(ofOne, 'for your token alone');
    if (this.#own.size >= maxOwnInstances && !this.#giveUpIdle()) throw this.#full(this.#own.size, 'once for each agent');
  }

  #full(count: number, forWhom: string): BridgeError {
    return new BridgeError(
      'limit_reached',
      `"${this.#config.name}" runs ${count} times, ${forWhom}, and all are at work; wait for one of them.`,
    );
  }

  /** Once: what is kept apart here, and what is not. */
  #sayWhoIsOne(): void {
    if (this.#hasSaidWhoIsOne) return;
    this.#hasSaidWhoIsOne = true;
    const { name } = this.#config;
    this.#options.logger.info(
      `Agents of 2026-07-28 over HTTP have no session: "${name}" runs once for each token and name of a client. Give each agent a grant of its own (notebridge grant --agent) to keep it apart from others of the same name.`,
      { server: name },
    );
  }

  /** Sends a notification of an agent to the instances that know of it. */
  notifyOf(sessionId: string, method: string, params: JsonObject | undefined): void {
    if (tieOf(this.#config) === undefined) return;
    const own = [...this.#own.values()].filter((each) => each.sessionId === sessionId);
    const told = this.#config.instances === 'shared' && own.length === 0 ? [this.shared] : own;
    for (const { instance } of told) if (instance.session?.handshake.era === 'legacy') instance.session.notify(method, params);
  }

  /**
   * Ends the instance that nobody has asked for the longest time, if one has nothing to do: its session may have ended without notice.
   * With a session only one of that.
   */
  #giveUpIdle(sessionId?: string): boolean {
    const [idle] = [...this.#own].filter(([, own]) => own.calls.isIdle && (sessionId === undefined || own.sessionId === sessionId));
    if (idle === undefined) return false;
    void this.#end(idle[0]);
    return true;
  }

  /** Starts the shared instance. */
  start(): Promise<void> {
    return this.shared.instance.start();
  }

  /** Ends all of them; the next call starts what it needs. */
  async stop(why: string): Promise<void> {
    await Promise.all(this.#pooledInstances().map(({ instance }) => instance.stop(why)));
  }

  update(config: ServerConfig): void {
    this.#config = config;
    this.#mayServeOne = mayServeOne(config);
    for (const { calls } of this.#pooledInstances()) calls.limits = this.#limits();
  }

  async end(sessionId: string): Promise<void> {
    const ended = [...this.#own].filter(([, own]) => own.sessionId === sessionId);
    await Promise.all(ended.map(([key]) => this.#end(key)));
  }

  async #end(key: string): Promise<void> {
    const pooled = this.#own.get(key);
    this.#own.delete(key);
    // Its list has gone with it; an instance that runs says so itself.
    if (pooled?.instance.status === 'stopped') this.#options.onState();
    await pooled?.instance.close('the session that it served has ended');
  }

  async close(why: string): Promise<void> {
    this.#stopFollowing();
    await Promise.all(this.#pooledInstances().map(({ instance }) => instance.close(why)));
  }

  #pooledInstances(): PooledInstance[] {
    return [this.shared, ...this.#own.values()];
  }

  /** For one agent, if its call is given. */
  #createPooled(context?: CallContext): PooledInstance {
    const sessionId = context?.caller.sessionId;
    const { name } = this.#config;
    const tie = tieOf(this.#config);
    const owner = context === undefined ? this.#soleAgent : { context };
    const timeoutMs = this.#options.limits.answerTimeoutMs;
    const urls = new ShownUrls();
    // Who has one alone keeps nobody from it.
    const stalls = tie === 'serial' && owner === undefined ? new Stalls(this.#options.limits.cancelledCallMs) : undefined;
    const asked = tie && new AskedCalls({ server: name, tie, owner, timeoutMs, urls });
    const questions = asked && {
      askable: () => (owner === undefined ? everyAskable : (toAskable(owner.context?.clientCapabilities) ?? {})),
      calls: asked,
    };
    const brake = new NotificationBrake({
      sender: `the server "${this.#config.name}"`,
      pass: (event) => {
        if (instance.session === undefined) return;
        const addressed = this.#address(event, pooled);
        if (addressed !== undefined) this.#options.onNotification(addressed, instance.session, pooled);
      },
    });
    const { logLevels, follow: followAny } = this.#options;
    const url = this.#config.transport === 'stdio' ? undefined : this.#config.url;
    const follow = followAny && ((sent: SentRequest) => followAny({ ...sent, server: name, url }));
    const instance: ServerInstance = new ServerInstance({
      ...this.#options,
      questions,
      eraOfAgent: owner && (() => owner.context?.caller.era),
      onNotification: (event) => brake.take(event),
      onReady: (session) => {
        this.#options.onReady(session, pooled);
        this.#sendLevel(pooled, sessionId === undefined ? logLevels.lowest : logLevels.of(sessionId));
      },
    });
    const calls: ServerCalls = new ServerCalls(name, instance, { limits: this.#limits(), levels: logLevels, asked, urls, stalls, follow });
    const pooled: PooledInstance = { sessionId, instance, calls, askable: toAskable(context?.clientCapabilities) };
    return pooled;
  }

  /** An event of a server with whose it is; undefined if it is nobody's. */
  #address(event: ProviderEvent, { sessionId, calls }: PooledInstance): ProviderEvent | undefined {
    switch (event.method) {
      // What a program of one agent writes into its log is not for the others. Updates are: resources are watched once for all.
      case 'notifications/message':
        return { ...event, ...(sessionId === undefined ? {} : { sessionId }), callIds: calls.callIds };
      // The ids of tasks are those of that program.
      case 'notifications/tasks/status':
        return sessionId === undefined ? event : { ...event, sessionId };
      case 'notifications/elicitation/complete': {
        const shown = calls.urls.sessionOf(event.params?.elicitationId);
        return shown === undefined ? undefined : { ...event, sessionId: shown };
      }
      default:
        return event;
    }
  }

  /** Of one that all share the lowest level that anybody wants: each is sent no more than it asked for. In the modern era calls say it. */
  #sendLevel({ instance: { session } }: PooledInstance, level: string | undefined): void {
    if (session === undefined || session.handshake.era === 'modern' || !session.can('logging')) return;
    if (level === undefined || this.#levels.get(session) === level) return;
    this.#levels.set(session, level);
    session.request('logging/setLevel', { level }, {}).catch((error: unknown) => {
      this.#options.logger.debug(`"${this.#config.name}" did not take a log level.`, {
        server: this.#config.name,
        error: messageOf(error),
      });
    });
  }

  #limits(): CallLimits {
    const { maxInFlight: most, timeoutMs, lazy, questions } = this.#config;
    const { callTimeoutMs, answerTimeoutMs, cancelledCallMs, lazyIdleMs } = this.#options.limits;
    const isSerial = tieOf(this.#config) === 'serial';
    const maxInFlight = isSerial ? 1 : most;
    return {
      maxInFlight,
      mayAsk: questions !== 'none',
      maxWaiting: isSerial ? waitingInTurn : waitingPerRunning * most,
      timeoutMs: timeoutMs ?? callTimeoutMs,
      answerTimeoutMs,
      cancelledCallMs,
      idleMs: lazy ? lazyIdleMs : undefined,
    };
  }
}
