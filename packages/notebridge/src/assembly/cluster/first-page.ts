import { NotStarted } from '@notebridge/cluster/cluster-parts';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { ParamHeader } from '@notebridge/protocol/core/param-headers';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { HeldPage } from './held-page.js';
import type { RemoteNotebook } from './remote-notebook.js';

/** The page that a hub began with, for its own agents: also when it has gone to another hub, where each of them is a guest then. */
export class FirstPage implements Provider {
  readonly #held: HeldPage;
  readonly #createLink: () => RemoteNotebook;
  readonly #links = new Map<string, RemoteNotebook>();
  readonly #events = new Listeners<ProviderEvent>();

  /** `createLink`: a link of its own to the page, wherever it is. */
  constructor(held: HeldPage, createLink: () => RemoteNotebook) {
    this.#held = held;
    this.#createLink = createLink;
  }

  get name(): string {
    return this.#held.provider.name;
  }

  get instructions(): string | undefined {
    return this.#held.provider.instructions;
  }

  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (!this.#held.isGone) {
      try {
        return await this.#held.request(method, params, context);
      } catch (error) {
        if (!(error instanceof NotStarted)) throw error;
      }
    }
    return this.#linkOf(context).request(method, params, context);
  }

  notify(method: string, params: JsonObject | undefined): void {
    if (!this.#held.isGone) this.#held.provider.notify(method, params);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    const stops = [this.#held.provider.subscribe(listener), this.#events.add(listener)];
    return () => {
      for (const stop of stops) stop();
    };
  }

  paramHeadersOf(tool: unknown): readonly ParamHeader[] {
    return this.#held.provider.paramHeadersOf?.(tool) ?? [];
  }

  endSession(sessionId: string): void {
    const link = this.#links.get(sessionId);
    this.#links.delete(sessionId);
    void link?.close();
  }

  /** Closing twice is harmless. */
  close(): void {
    for (const sessionId of [...this.#links.keys()]) this.endSession(sessionId);
  }

  #linkOf({ caller: { sessionId } }: CallContext): RemoteNotebook {
    const known = this.#links.get(sessionId);
    if (known !== undefined) return known;
    const link = this.#createLink();
    link.subscribe((event) => this.#events.emit({ ...event, sessionId }));
    this.#links.set(sessionId, link);
    return link;
  }
}
