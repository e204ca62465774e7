import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { ParamHeader } from '@notebridge/protocol/core/param-headers';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';

/** One request as it came, with what was answered once it was. */
export interface RecordedRequest {
  method: string;
  params: JsonObject;
  context: CallContext;
  result?: JsonObject;
  error?: unknown;
}

/** Any provider, with everything that passes written down: the very objects, uncopied. */
export class RecorderProvider implements Provider {
  readonly requests: RecordedRequest[] = [];
  readonly notifications: { method: string; params: JsonObject | undefined }[] = [];
  /** What the provider said of its own accord, once for each listener that was told. */
  readonly events: ProviderEvent[] = [];
  readonly #inner: Provider;

  constructor(inner: Provider) {
    this.#inner = inner;
  }

  get name(): string {
    return this.#inner.name;
  }

  get instructions(): string | undefined {
    return this.#inner.instructions;
  }

  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const recorded: RecordedRequest = { method, params, context };
    this.requests.push(recorded);
    try {
      recorded.result = await this.#inner.request(method, params, context);
      return recorded.result;
    } catch (error) {
      recorded.error = error;
      throw error;
    }
  }

  paramHeadersOf(tool: unknown): readonly ParamHeader[] {
    return this.#inner.paramHeadersOf?.(tool) ?? [];
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.notifications.push({ method, params });
    this.#inner.notify(method, params);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#inner.subscribe((event) => {
      this.events.push(event);
      listener(event);
    });
  }
}
