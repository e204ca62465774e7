import { ForwardingProvider } from '@notebridge/protocol/core/forwarding-provider';
import type { Provider } from '@notebridge/protocol/core/provider';
import type { NotebookEntry, NotebookLink } from './notebook-directory.js';

export interface OwnLinkOptions {
  provider: Provider;
  /** Asked once, when an agent first asks for its notebooks. */
  findId: () => string | Promise<string>;
  /** What agents are told of it; undefined: it is not here any more. Left out: the directory lists it. */
  describe?: (() => Omit<NotebookEntry, 'id'> | undefined) | undefined;
}

/** A notebook that this process holds itself, as its agents choose from it and others. Whoever opened it closes it. */
export class OwnLink extends ForwardingProvider implements NotebookLink {
  readonly isDisconnected = false;
  readonly #options: OwnLinkOptions;
  #finding: Promise<string> | undefined;
  #id: string | undefined;

  constructor(options: OwnLinkOptions) {
    super(options.provider);
    this.#options = options;
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

  /** Its windows are told of the agents by those who opened it. */
  showAgents(): void {}

  async close(): Promise<void> {}
}
