import { type BindingsInput, loadChecked, loadEmitter } from '@notebridge/bindings';
import { type GatherOptions, gatherInput } from '@notebridge/code-mode/bindings/input';
import { Renewer } from '@notebridge/code-mode/bindings/renewer';
import type { ToolPackages } from '@notebridge/code-mode/execution/code-kernel';
import type { CheckablePackage } from '@notebridge/code-mode/type-check/type-checker';
import type { ToolPackage } from '@notebridge/notebook/host';
import { onToolsChanged, type ToolServers } from '@notebridge/protocol/core/tool-server';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { whenAborted } from '@notebridge/protocol/util/when-aborted';

export interface KeptPackageOptions {
  servers: ToolServers;
  mayShow?: GatherOptions['mayShow'];
  /** The package's input; undefined: there is nothing to call. `gather`: asks the servers. */
  inputOf: (gather: () => Promise<BindingsInput>) => Promise<BindingsInput | undefined>;
  /** Why there is none then. */
  nothing: string;
  /** What it is for, as the log names it. */
  what: string;
  logger: Logger;
}

/** How long a package waits for a server that was never asked for its tools. It is taken in when it has answered. Milliseconds. */
const timeoutMs = 10_000;

/** A package of functions for code, made when it is first wanted and again when the tools are others. */
export class KeptPackage implements ToolPackages {
  readonly #options: KeptPackageOptions;
  readonly #listeners = new Listeners<ToolPackage>();
  /** Resolves with the first package, or when it is known that there is none. */
  readonly #first = new Promise<void>((resolve) => this.#listeners.add(() => resolve()));
  readonly #closing = new AbortController();
  readonly #renewer: Renewer;
  #stopListening: (() => void) | undefined;
  #package: ToolPackage = { state: 'coming' };
  #checkable: CheckablePackage | undefined;

  constructor(options: KeptPackageOptions) {
    this.#options = options;
    this.#renewer = new Renewer({ work: () => this.#renew(), onFault: (error) => this.#fail(error) });
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
    await Promise.race([this.#first, whenAborted(signal)]);
    return this.#checkable;
  }

  /** Closing twice is harmless. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#stopListening?.();
    await this.#renewer.close();
  }

  async #renew(): Promise<void> {
    const { inputOf, nothing } = this.#options;
    const input = await inputOf(() => this.#gather());
    if (this.#closing.signal.aborted) return;
    if (input === undefined) return this.#offer({ state: 'none', reason: nothing });
    const emit = await loadEmitter('python');
    const { files, contentHash } = await emit(input);
    this.#offer({ state: 'there', version: contentHash, files }, async () => (await loadChecked())(input));
  }

  async #gather(): Promise<BindingsInput> {
    const { servers, mayShow, logger } = this.#options;
    const { signal } = this.#closing;
    const { input, warnings } = await gatherInput(servers, { hubUrl: undefined, timeoutMs, signal, mayShow });
    if (!signal.aborted) for (const warning of warnings) logger.warn(warning);
    return input;
  }

  /** What there is stays; who waits for the first package gets the reason. */
  #fail(error: unknown): void {
    const { logger, what } = this.#options;
    logger.error(`The tools for ${what} are not up to date. ${messageOf(error)}`);
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
