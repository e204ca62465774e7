import type { JsonObject } from '../json.js';
import type { CallContext } from './call-context.js';
import type { ParamHeader } from './param-headers.js';
import type { Provider, ProviderEvent } from './provider.js';

/** A provider in front of another one: it passes on all that it does not answer itself. */
export class ForwardingProvider implements Provider {
  protected readonly inner: Provider;

  constructor(inner: Provider) {
    this.inner = inner;
  }

  get name(): string {
    return this.inner.name;
  }

  get instructions(): string | undefined {
    return this.inner.instructions;
  }

  request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    return this.inner.request(method, params, context);
  }

  paramHeadersOf(tool: unknown): readonly ParamHeader[] {
    return this.inner.paramHeadersOf?.(tool) ?? [];
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.inner.notify(method, params);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.inner.subscribe(listener);
  }
}
