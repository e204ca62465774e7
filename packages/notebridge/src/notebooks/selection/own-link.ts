import type { JsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../../core/call-context.js';
import type { ParamHeader } from '../../core/param-headers.js';
import type { Provider, ProviderEvent } from '../../core/provider.js';
import type { NotebookEntry, NotebookLink } from './notebook-directory.js';

export interface OwnLinkOptions {
  provider: Provider;
  /** Asked once, when an agent first asks for its notebooks. */
  findId: () => string | Promise<string>;
  /** What agents are told of it; undefined: it is not here any more. Left out: the directory lists it. */
  describe?: (() => Omit<NotebookEntry, 'id'> | undefined) | undefined;
}

/** A notebook that this process holds itself, as its agents choose from it and others. Whoever opened it closes it. */
export class OwnLink implements NotebookLink {
  readonly isDisconnected = false;
  readonly #options: OwnLinkOptions;
  #finding: Promise<string> | undefined;
  #id: string | undefined;

  constructor(options: OwnLinkOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.provider.name;
  }

  get instructions(): string | undefined {
    return this.#options.provider.instructions;
  }

  get id(): string | undefined {
    return this.#id;
  }

  async join(): Promise<void> {
    this.#finding ??= Promise.resolve(this.#options.findId());
    this.#id = await this.#finding;
  }

  /** For those who list it beside others. */
  async entries(): Promise<NotebookEntry[]> {
    const described = this.#options.describe?.();
    if (described === undefined) return [];
    await this.join();
    return [{ id: this.#id ?? '', ...described }];
  }

  request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    return this.#options.provider.request(method, params, context);
  }

  paramHeadersOf(tool: unknown): readonly ParamHeader[] {
    return this.#options.provider.paramHeadersOf?.(tool) ?? [];
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.#options.provider.notify(method, params);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#options.provider.subscribe(listener);
  }

  /** Its windows are told of the agents by those who opened it. */
  showAgents(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }
}
