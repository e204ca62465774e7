import type { CallContext } from '../core/call-context.js';
import { BridgeError } from '../core/errors.js';
import type { ProviderEvent } from '../core/provider.js';
import type { ServerConfig } from '../core/server-config.js';
import type { ServerState } from '../core/tool-server.js';
import { NotificationBrake } from '../rpc/notification-brake.js';
import { type CallLimits, ServerCalls } from './server-calls.js';
import { ServerInstance, type ServerInstanceOptions } from './server-instance.js';
import type { UpstreamSession } from './upstream-session.js';

export interface InstancesOptions extends Omit<ServerInstanceOptions, 'onNotification'> {
  onNotification: (event: ProviderEvent, session: UpstreamSession) => void;
}

/** One running server with the calls to it. */
interface PooledInstance {
  instance: ServerInstance;
  calls: ServerCalls;
}

/** The instances of one server: one that all share, or one for each agent's session beside the one that lists the tools. */
export class ServerInstances {
  readonly #options: InstancesOptions;
  readonly #own = new Map<string, PooledInstance>();
  readonly #shared: PooledInstance;
  #config: ServerConfig;

  constructor(options: InstancesOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#shared = this.#createPooled();
  }

  get status(): ServerState['status'] {
    return this.#shared.instance.status;
  }

  /** That of the shared instance; calls of all. */
  get state(): ServerState {
    const inFlight = [...this.#own.values()].reduce((sum, { calls }) => sum + calls.inFlight, this.#shared.calls.inFlight);
    return { ...this.#shared.instance.state, inFlight };
  }

  /** The instance that serves a call. Throws `limit_reached`. */
  of(context: CallContext | undefined): PooledInstance {
    if (this.#config.instances === 'shared' || context === undefined) return this.#shared;
    const { sessionId } = context.caller;
    const own = this.#own.get(sessionId);
    if (own !== undefined) {
      // The one that was asked last stands last.
      this.#own.delete(sessionId);
      this.#own.set(sessionId, own);
      return own;
    }
    if (this.#own.size >= this.#options.limits.maxOwnInstances && !this.#giveUpIdle()) {
      throw new BridgeError(
        'limit_reached',
        `"${this.#config.name}" runs ${this.#own.size} times, once for each session, and all are at work; wait for one of them.`,
      );
    }
    const pooled = this.#createPooled(sessionId);
    this.#own.set(sessionId, pooled);
    return pooled;
  }

  /** Ends the instance that nobody has asked for the longest time, if one has nothing to do: its session may have ended without notice. */
  #giveUpIdle(): boolean {
    const [idle] = [...this.#own].filter(([, { calls }]) => calls.isIdle);
    if (idle === undefined) return false;
    void this.end(idle[0]);
    return true;
  }

  /** Starts the shared instance. */
  start(): Promise<void> {
    return this.#shared.instance.start();
  }

  update(config: ServerConfig): void {
    this.#config = config;
    for (const { calls } of this.#pooledInstances()) calls.limits = this.#limits();
  }

  async end(sessionId: string): Promise<void> {
    const pooled = this.#own.get(sessionId);
    this.#own.delete(sessionId);
    await pooled?.instance.close('the session that it served has ended');
  }

  async close(why: string): Promise<void> {
    await Promise.all(this.#pooledInstances().map(({ instance }) => instance.close(why)));
  }

  #pooledInstances(): PooledInstance[] {
    return [this.#shared, ...this.#own.values()];
  }

  #createPooled(sessionId?: string): PooledInstance {
    const brake = new NotificationBrake({
      sender: `the server "${this.#config.name}"`,
      pass: (event) => {
        if (instance.session === undefined) return;
        // What a program of one agent writes into its log is not for the others. Updates are: resources are watched once for all.
        const isPrivate = sessionId !== undefined && event.method === 'notifications/message';
        this.#options.onNotification(isPrivate ? { ...event, sessionId } : event, instance.session);
      },
    });
    const instance: ServerInstance = new ServerInstance({ ...this.#options, onNotification: (event) => brake.take(event) });
    return { instance, calls: new ServerCalls(instance, this.#limits()) };
  }

  #limits(): CallLimits {
    const { maxInFlight, timeoutMs, lazy } = this.#config;
    const { callTimeoutMs, lazyIdleMs } = this.#options.limits;
    return { maxInFlight, timeoutMs: timeoutMs ?? callTimeoutMs, idleMs: lazy ? lazyIdleMs : undefined };
  }
}
