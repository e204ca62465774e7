import type { BindingLanguage } from '@notebridge/bindings';
import { gatherInput } from '@notebridge/code-mode/bindings/input';
import { type BindingsArchive, ServedBindings } from '@notebridge/code-mode/bindings/served-bindings';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { MayList } from '@notebridge/protocol/core/may-list';
import { workWhileLive } from '@notebridge/protocol/core/while-live';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { HttpContext } from '../http/http-context.js';
import { sendTagged } from './entity-tag.js';
import type { ToolProxy } from './tool-proxy-context.js';

export interface BindingsDoorOptions {
  under: string;
  proxy: ToolProxy;
  logger: Logger;
}

/** How long an archive waits for servers that were never asked for their tools. Milliseconds. */
const timeoutMs = 10_000;

/** The current bindings as archives, for kernels that share no folder with the hub. They have the tools that the grant may call. */
export class BindingsDoor {
  readonly #options: BindingsDoorOptions;
  readonly #served = new ServedBindings();

  constructor(options: BindingsDoorOptions) {
    this.#options = options;
  }

  async answer(language: BindingLanguage, context: HttpContext): Promise<void> {
    const { principal } = context;
    const cancellation = new Cancellation();
    const make = (): Promise<BindingsArchive> => this.#make(language, context, cancellation.signal);
    const { contentHash, bytes } = await workWhileLive(this.#options.proxy.hub.whileLive, { principal, cancellation }, make);
    const name = `generated-${language}.tar.gz`;
    const headers = ['vary', 'authorization, host', 'content-disposition', `attachment; filename="${name}"`];
    sendTagged(context, { tag: contentHash, type: 'application/gzip', body: bytes, headers });
  }

  async #make(language: BindingLanguage, { request, principal }: HttpContext, signal: AbortSignal): Promise<BindingsArchive> {
    const { under, proxy, logger } = this.#options;
    // The name under which the caller has reached us is one that it can reach; which names are ours was checked before.
    const hubUrl = `http://${request.headers.host}${under}`;
    const mayShow: MayList = (server, tool) => proxy.listerOf(principal)(server, tool);
    const { input, warnings } = await gatherInput(proxy.servers, { hubUrl, timeoutMs, signal, mayShow });
    for (const warning of warnings) logger.warn(warning);
    return this.#served.archive(language, input);
  }
}
