import { LogLevels } from '@notebridge/protocol/core/log-levels';
import type { Middleware, MiddlewareContext, MiddlewareHost } from '@notebridge/protocol/core/middleware';
import type { ParamHeader } from '@notebridge/protocol/core/param-headers';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import { foreverLive, type WhileLive } from '@notebridge/protocol/core/while-live';
import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { Catalog } from './catalog/catalog.js';
import { type Chain, composeMiddleware, type Terminal } from './middleware/compose.js';
import { WatchedAgents } from './recent/watched-agents.js';

export interface HubOptions {
  /** Sent to agents as the protocol's `serverInfo`. */
  serverInfo?: JsonObject;
  /** Sent to agents before the instructions of the providers. */
  instructions?: string;
  logger?: Logger;
  /** Which log lines agents have asked for, where others are to know it too. Default: the hub's own. */
  logLevels?: LogLevels | undefined;
  /** Whether an agent of this principal receives an event. Default: it receives all. See `Admission.mayHear`. */
  mayHear?: ((principal: Principal, event: ProviderEvent) => boolean) | undefined;
  /** How the end of a principal's grant is learnt. Default: none ends. */
  whileLive?: WhileLive | undefined;
}

/** The running hub: the chain in front of the catalog in front of the providers. Doors hand it messages. */
export class Hub implements MiddlewareHost {
  readonly serverInfo: JsonObject;
  readonly logger: Logger;
  /** Notifications of providers; doors pass them to their agents. */
  readonly events = new Listeners<ProviderEvent>();
  /** Those that are connected: the doors say it. */
  readonly agents = new WatchedAgents();
  /** Which log lines agents have asked for: the doors say it. */
  readonly logLevels: LogLevels;
  /** Whether an agent of this principal may receive an event: the doors ask. */
  readonly mayHear: (principal: Principal, event: ProviderEvent) => boolean;
  /** Tells when the grant of an agent has ended: the doors end what they hold for it. */
  readonly whileLive: WhileLive;
  readonly #ownInstructions: string | undefined;
  readonly #catalog: Catalog;
  readonly #middlewares: Middleware[] = [];
  readonly #closers: (() => void)[] = [];
  readonly #toCatalog: Terminal = (context) => this.#catalog.request(context);
  #level: string | undefined;
  #chain: Chain = composeMiddleware([]);

  constructor(options: HubOptions = {}) {
    this.serverInfo = options.serverInfo ?? { name: 'notebridge', version: '0' };
    this.logger = options.logger ?? silentLogger;
    this.logLevels = options.logLevels ?? new LogLevels();
    this.#closers.push(this.logLevels.changed.add(() => this.#announceLevel()));
    this.mayHear = options.mayHear ?? (() => true);
    this.whileLive = options.whileLive ?? foreverLive;
    this.#ownInstructions = options.instructions;
    this.#catalog = new Catalog(this.logger);
  }

  /** What an agent of this principal is told first: of servers only what it may hear. */
  instructionsFor(principal: Principal): string | undefined {
    const mayHear = (server: string): boolean => this.mayHear(principal, { method: 'notifications/message', server });
    const { providers } = this.#catalog;
    const ofServers = providers.map((provider) => provider.instructionsOf?.(mayHear));
    const parts = [this.#ownInstructions, ...providers.map((provider) => provider.instructions), ...ofServers];
    return parts.filter((part) => part !== undefined).join('\n\n') || undefined;
  }

  /** Adds a provider: its tools, resources and prompts are offered from now on. */
  addProvider(provider: Provider): void {
    this.#catalog.add(provider);
    this.#closers.push(provider.subscribe((event) => this.#announce(event)));
  }

  /** Adds a layer around every message. The first added is outermost. */
  addMiddleware(middleware: Middleware): void {
    this.#middlewares.push(middleware);
    this.#chain = composeMiddleware(this.#middlewares);
    const onClose = middleware.onAdded?.(this);
    if (onClose !== undefined) this.#closers.push(onClose);
  }

  /** The parameters of a tool that calls over HTTP repeat in headers, as far as it is known without asking; `name` as agents know it. */
  paramHeadersOf(name: unknown): readonly ParamHeader[] {
    return this.#catalog.paramHeadersOf(name);
  }

  /** Sends a request through the chain to the provider that answers it, or to `terminal` for what the door answers itself. */
  request(context: MiddlewareContext, terminal: Terminal = this.#toCatalog): Promise<JsonObject> {
    return this.#chain(context, terminal);
  }

  /** Sends a notification of an agent through the chain to every provider. */
  async notify(context: MiddlewareContext): Promise<void> {
    await this.#chain(context, async (inner) => {
      for (const provider of this.#catalog.providers) provider.notify(inner.method, inner.message, inner);
      return {};
    });
  }

  sendToolListChanged(): void {
    this.#announce({ method: 'notifications/tools/list_changed' });
  }

  /** Releases providers and middlewares. What was opened elsewhere is closed there. */
  close(): void {
    for (const close of this.#closers.splice(0)) close();
  }

  /** To providers that have no level for each agent, such as pages. */
  #announceLevel(): void {
    const { lowest } = this.logLevels;
    if (lowest === undefined || lowest === this.#level) return;
    this.#level = lowest;
    for (const provider of this.#catalog.providers) provider.notify('logging/setLevel', { level: lowest });
  }

  #announce(event: ProviderEvent): void {
    if (event.method.endsWith('/list_changed')) this.#catalog.forget();
    this.events.emit(event);
  }
}
