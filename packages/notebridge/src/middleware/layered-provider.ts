import type { CallContext } from '@notebridge/protocol/core/call-context';
import { ForwardingProvider } from '@notebridge/protocol/core/forwarding-provider';
import type { Middleware } from '@notebridge/protocol/core/middleware';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import { RequestContext, type RequestContextOptions } from '@notebridge/protocol/core/request-context';
import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { type Chain, composeMiddleware } from './compose.js';

/** A provider with layers of its own around it, the first outermost: they see its messages and no others. */
export class LayeredProvider extends ForwardingProvider {
  readonly #chain: Chain;
  readonly #events = new Listeners<ProviderEvent>();
  readonly #stop: (() => void)[];

  constructor(provider: Provider, layers: readonly Middleware[]) {
    super(provider);
    this.#chain = composeMiddleware(layers);
    const host = { sendToolListChanged: (): void => this.#events.emit({ method: toolsChanged }) };
    const added = layers.map((layer) => layer.onAdded?.(host) ?? (() => {}));
    this.#stop = [...added, provider.subscribe((event) => this.#events.emit(event))];
  }

  override request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    return this.#chain(this.#toInner(method, params, context), (inner) => this.inner.request(method, inner.message, inner));
  }

  override subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#events.add(listener);
  }

  /** Releases provider and layers. Closing twice is harmless. */
  close(): void {
    for (const stop of this.#stop.splice(0)) stop();
  }

  /** What layers further out have said of the message stays with it. */
  #toInner(method: string, message: JsonObject, context: CallContext): RequestContext {
    if (context instanceof RequestContext && context.method === method) return context.copy({ message });
    const { callId, caller, cancellation, target } = context;
    const notify = (notified: string, sent: JsonObject = {}): void => {
      if (notified === 'notifications/progress') context.forwardProgress(sent);
      else if (notified === 'notifications/message') context.log(String(sent.level), sent.data);
      else if (notified === toolsChanged) this.#events.emit({ method: toolsChanged, sessionId: caller.sessionId });
    };
    const asking = toAsking(context);
    return new RequestContext({ type: 'request', method, message, callId, caller, target, cancellation, notify, ...asking });
  }
}

/** The caller is asked as further out. */
function toAsking({ clientCapabilities, ask }: CallContext): Pick<RequestContextOptions, 'asker' | 'requestId'> {
  if (clientCapabilities === undefined) return {};
  return { asker: { clientCapabilities, ask: ask && ((_, question, options) => ask(question, options)) }, requestId: 0 };
}

const toolsChanged = 'notifications/tools/list_changed';
