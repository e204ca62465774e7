import { isDeepStrictEqual } from 'node:util';
import { LogLevels } from '@notebridge/protocol/core/log-levels';
import type { ToolServerEvent, ToolServers } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { Redactor } from '@notebridge/protocol/util/redactor';
import type { Environment } from '@notebridge/system/processes/environment';
import type { ServerConfig } from '../config/server-config.js';
import type { FollowCall } from '../telemetry/outgoing-calls.js';
import { EraVerdicts } from './era-verdicts.js';
import type { OpenLink } from './link.js';
import { Logins } from './oauth/logins.js';
import { openLink } from './open-link.js';
import { secretsOfServer } from './server-secrets.js';
import type { SoleAgent } from './sole-agent.js';
import { Upstream, type UpstreamOptions } from './upstream.js';
import { defaultUpstreamLimits, type UpstreamLimits } from './upstream-limits.js';

export interface UpstreamsOptions {
  servers: readonly ServerConfig[];
  logger?: Logger;
  /** Learns the secrets of the configs, and takes them out of what servers print. */
  redactor?: Pick<Redactor, 'add' | 'replace' | 'redact'>;
  /** The name and version sent to servers. */
  clientInfo?: JsonObject;
  limits?: Partial<UpstreamLimits>;
  /** Which log lines agents have asked for. Default: nobody has. */
  logLevels?: LogLevels | undefined;
  /** A private file that keeps which era each server speaks. Default: none, this is known for the life of the object. */
  erasFile?: string | undefined;
  /** Who we are to remote servers. Default: whatever their entries say; a login is known nowhere else. */
  logins?: Logins | undefined;
  /** Variables that name proxies: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`. Default: none. */
  env?: Environment | undefined;
  /** Follows each request to a server. Default: nobody does. */
  follow?: FollowCall | undefined;
  /** The process serves one agent alone. Default: it may serve several. */
  soleAgent?: SoleAgent | undefined;
  /** Whether a server is started without a call. Default: each may be that is not lazy. */
  mayStart?: ((config: ServerConfig) => boolean) | undefined;
  /** How servers are reached. Default: as their config says. */
  openLink?: OpenLink;
}

/** The MCP servers of a config. Nothing runs before `start`, or a call. */
export function createUpstreams(options: UpstreamsOptions): Upstreams {
  return new Upstreams(options);
}

/** The MCP servers of a config, by name: kept running, and changed as the config does. */
export class Upstreams implements ToolServers {
  readonly #options: UpstreamsOptions;
  readonly #logger: Logger;
  readonly #redactor: Pick<Redactor, 'add' | 'replace' | 'redact'>;
  readonly #eras: EraVerdicts;
  /** The same for each server. */
  readonly #ofAll: Omit<UpstreamOptions, 'after' | 'onEvent'>;
  readonly #events = new Listeners<ToolServerEvent>();
  readonly #configs = new Map<string, ServerConfig>();
  readonly #servers = new Map<string, Upstream>();
  /** Those that were taken out and have not ended yet: one that comes back waits. */
  readonly #leaving = new Map<string, Promise<void>>();
  #closing: Promise<void> | undefined;

  constructor(options: UpstreamsOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#redactor = options.redactor ?? new Redactor();
    this.#eras = new EraVerdicts({ path: options.erasFile, logger: this.#logger });
    this.#ofAll = {
      openLink: options.openLink ?? openLink,
      clientInfo: options.clientInfo ?? { name: 'notebridge', version: '0' },
      limits: { ...defaultUpstreamLimits, ...options.limits },
      eras: this.#eras,
      logLevels: options.logLevels ?? new LogLevels(),
      logins: options.logins ?? new Logins({ redactor: this.#redactor, clientName: 'Notebridge' }),
      env: options.env ?? {},
      follow: options.follow,
      soleAgent: options.soleAgent,
      logger: this.#logger,
      redact: (text) => this.#redactor.redact(text),
    };
    for (const config of options.servers) this.#add(config);
  }

  all(): readonly Upstream[] {
    return [...this.#servers.values()];
  }

  get(name: string): Upstream | undefined {
    return this.#servers.get(name);
  }

  subscribe(listener: (event: ToolServerEvent) => void): () => void {
    return this.#events.add(listener);
  }

  /** Starts all that are not lazy, in parallel. Resolves when each runs or was given up; one that fails harms no other. Never rejects. */
  async start(): Promise<void> {
    await Promise.all(
      [...this.#configs.values()].filter((config) => this.#startsItself(config)).map(({ name }) => this.get(name)?.start()),
    );
  }

  /**
   * Makes the set that of another config: what is new is started, what is gone is stopped, what runs another program now is
   * restarted, what was given up is tried again. Everything else is left untouched. The set is another one at once, whatever still starts or
   * ends: a server that hangs may be taken back. Resolves when that is done. Never rejects.
   */
  async reconcile(configs: readonly ServerConfig[]): Promise<void> {
    try {
      await this.#reconcile(configs);
    } catch (error) {
      this.#logger.error('The servers could not be changed.', { error: messageOf(error) });
    }
  }

  /** An agent's session has ended, and with it the instances that were its own. */
  async endSession(sessionId: string): Promise<void> {
    await Promise.all(this.all().map((server) => server.endSession(sessionId)));
  }

  /** Ends all servers with their whole trees. Closing twice is harmless. */
  close(): Promise<void> {
    this.#closing ??= Promise.all(this.all().map((server) => server.close())).then(() => this.#eras.saved());
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #reconcile(configs: readonly ServerConfig[]): Promise<void> {
    if (this.#closing !== undefined) return;
    const wanted = new Map(configs.map((config) => [config.name, config]));
    const work: Promise<void>[] = [];
    for (const [name, server] of this.#servers) if (!wanted.has(name)) work.push(this.#remove(name, server));
    for (const config of wanted.values()) work.push(this.#change(config));
    await Promise.all(work);
  }

  async #change(config: ServerConfig): Promise<void> {
    const { name } = config;
    const server = this.get(name);
    const isSame = isDeepStrictEqual(config, this.#configs.get(name));
    if (isSame && server?.state.status !== 'failed') return;
    if (server === undefined) this.#add(config, this.#leaving.get(name));
    else if (isSame || server.update(config)) this.#setConfig(config);
    else this.#add(config, server.close('its config was changed'));
    this.#notify({ server: name, kind: server === undefined ? 'added' : 'state' });
    if (this.#startsItself(config) || this.get(name)?.state.status === 'failed') await this.get(name)?.start();
  }

  #startsItself(config: ServerConfig): boolean {
    return !config.lazy && (this.#options.mayStart?.(config) ?? true);
  }

  async #remove(name: string, server: Upstream): Promise<void> {
    this.#servers.delete(name);
    this.#configs.delete(name);
    const closing = server.close('it was taken out of the config');
    this.#leaving.set(name, closing);
    this.#notify({ server: name, kind: 'removed' });
    await closing;
    if (this.#leaving.get(name) === closing) this.#leaving.delete(name);
    this.#knowSecrets(name);
  }

  /** In the place of one of the same name, if there is one; `after` it has ended. */
  #add(config: ServerConfig, after?: Promise<void>): void {
    const former = this.#configs.get(config.name);
    this.#setConfig(config, former);
    void after?.then(() => this.#knowSecrets(config.name));
    const upstream: Upstream = new Upstream(config, {
      ...this.#ofAll,
      after,
      onEvent: (event) => {
        // One that was replaced has nothing more to say.
        if (this.#servers.get(config.name) === upstream) this.#notify(event);
      },
    });
    this.#servers.set(config.name, upstream);
  }

  /** `former`: of a process that still ends, and may print what it knows. */
  #setConfig(config: ServerConfig, former?: ServerConfig): void {
    this.#configs.set(config.name, config);
    this.#knowSecrets(config.name, former);
  }

  #knowSecrets(name: string, former?: ServerConfig): void {
    const configs = [this.#configs.get(name), former].filter((config) => config !== undefined);
    this.#redactor.replace(`server ${name}`, configs.flatMap(secretsOfServer));
  }

  #notify(event: ToolServerEvent): void {
    this.#events.emit(event);
  }
}
