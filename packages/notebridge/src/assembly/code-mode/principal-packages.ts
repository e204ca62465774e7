import { type BindingsInput, loadChecked, loadEmitter } from '@notebridge/bindings';
import { Listeners } from '@notebridge/kit/listeners';
import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import type { ToolPackage } from '@notebridge/notebook/host';
import { gatherInput } from '../../bindings/input.js';
import { Renewer } from '../../bindings/renewer.js';
import type { ToolPackages } from '../../code-mode/execution/kernel-calls.js';
import type { CheckablePackage } from '../../code-mode/type-check/type-checker.js';
import type { Tool } from '../../core/mcp.js';
import { type Principal, principalKey } from '../../core/principal.js';
import { onToolsChanged, type ToolServers } from '../../core/tool-server.js';

export interface PrincipalPackagesOptions {
  servers: ToolServers;
  /** Whether the principal may know of a tool; undefined: of a server whose tools are not known. */
  mayList: (principal: Principal, server: string, tool: Tool | undefined) => boolean;
  logger: Logger;
}

/** How long a package waits for a server that was never asked for its tools. It is taken in when it has answered. Milliseconds. */
const timeoutMs = 10_000;
const waitMs = 200;
const retryMs = 60_000;
/** Packages that are kept up to date. Who comes back after so many others has one made anew. */
const mostPackages = 50;

const nothing = 'no tool can be called by this agent: no MCP servers are configured, or its grant allows none (search_tools lists them)';

/** For each principal the functions that its code may import: those of the tools that it may call. */
export class PrincipalPackages {
  readonly #options: PrincipalPackagesOptions;
  readonly #byKey = new Map<string, OwnPackage>();

  constructor(options: PrincipalPackagesOptions) {
    this.#options = options;
  }

  of(principal: Principal): ToolPackages {
    // The owner and anonymous callers see the same.
    const key = principal.kind === 'grant' ? principalKey(principal) : '';
    const own = this.#byKey.get(key) ?? new OwnPackage(principal, this.#options);
    this.#byKey.delete(key);
    this.#byKey.set(key, own);
    const [oldest] = this.#byKey;
    if (this.#byKey.size > mostPackages && oldest !== undefined) {
      this.#byKey.delete(oldest[0]);
      void oldest[1].close();
    }
    return own;
  }

  /** Closing twice is harmless. */
  async close(): Promise<void> {
    await Promise.all([...this.#byKey.values()].map((own) => own.close()));
  }
}

/** The package of one principal, made when it is first wanted and again when the tools are others. */
class OwnPackage implements ToolPackages {
  readonly #principal: Principal;
  readonly #options: PrincipalPackagesOptions;
  readonly #listeners = new Listeners<ToolPackage>();
  readonly #closing = new AbortController();
  readonly #renewer: Renewer;
  #stopListening: (() => void) | undefined;
  #package: ToolPackage = { state: 'coming' };
  #checkable: CheckablePackage | undefined;

  constructor(principal: Principal, options: PrincipalPackagesOptions) {
    this.#principal = principal;
    this.#options = options;
    this.#renewer = new Renewer({ work: () => this.#renew(), onFault: (error) => this.#fail(error), waitMs, retryMs });
  }

  get package(): ToolPackage {
    return this.#package;
  }

  start(): void {
    if (this.#stopListening !== undefined || this.#closing.signal.aborted) return;
    this.#stopListening = onToolsChanged(this.#options.servers, () => this.#renewer.ask());
    this.#renewer.ask(0);
  }

  onPackage(listener: (next: ToolPackage) => void): () => void {
    return this.#listeners.add(listener);
  }

  async checkable(signal: AbortSignal): Promise<CheckablePackage | undefined> {
    this.start();
    if (this.#package.state === 'coming') await this.#untilKnown(signal);
    return this.#checkable;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#stopListening?.();
    await this.#renewer.close();
  }

  async #renew(): Promise<void> {
    const { servers, mayList, logger } = this.#options;
    const emit = await loadEmitter('python');
    const { input, warnings } = await gatherInput(servers, {
      hubUrl: undefined,
      timeoutMs,
      signal: this.#closing.signal,
      mayShow: (server, tool) => mayList(this.#principal, server, tool),
    });
    if (this.#closing.signal.aborted) return;
    for (const warning of warnings) logger.warn(warning);
    if (input.servers.length === 0 && !input.skills) return this.#offer({ state: 'none', reason: nothing });
    const { files, contentHash } = await emit(input);
    this.#offer({ state: 'there', version: contentHash, files }, toCheckable(input));
  }

  #untilKnown(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        stopListening();
        signal.removeEventListener('abort', finish);
        resolve();
      };
      const stopListening = this.onPackage(finish);
      if (signal.aborted) finish();
      else signal.addEventListener('abort', finish, { once: true });
    });
  }

  /** What there is stays; who waits for the first package gets the reason. */
  #fail(error: unknown): void {
    this.#options.logger.error(`The tools for code are not up to date. ${messageOf(error)}`);
    if (this.#package.state === 'coming') this.#offer({ state: 'none', reason: messageOf(error) });
  }

  #offer(next: ToolPackage, checkable?: CheckablePackage): void {
    const before = this.#package;
    if (before.state === 'there' && next.state === 'there' && before.version === next.version) return;
    this.#package = next;
    this.#checkable = checkable;
    this.#listeners.emit(next);
  }
}

function toCheckable(input: BindingsInput): CheckablePackage {
  return { make: async () => (await loadChecked())(input) };
}
