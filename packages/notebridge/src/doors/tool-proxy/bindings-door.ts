import type { BindingLanguage } from '@notebridge/bindings';
import type { Logger } from '@notebridge/kit/logger';
import { gatherInput } from '../../bindings/input.js';
import { ServedBindings } from '../../bindings/served-bindings.js';
import type { Principal } from '../../core/principal.js';
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
    const { under, proxy, logger } = this.#options;
    const { request, principal } = context;
    // The name under which the caller has reached us is one that it can reach; which names are ours was checked before.
    const hubUrl = `http://${request.headers.host}${under}`;
    const { input, warnings } = await gatherInput(proxy.servers, { hubUrl, timeoutMs, mayShow: mayShowTo(proxy, principal) });
    for (const warning of warnings) logger.warn(warning);
    const { contentHash, bytes } = await this.#served.archive(language, input);
    const name = `generated-${language}.tar.gz`;
    const headers = ['vary', 'authorization, host', 'content-disposition', `attachment; filename="${name}"`];
    sendTagged(context, { tag: contentHash, type: 'application/gzip', body: bytes, headers });
  }
}

function mayShowTo(proxy: ToolProxy, principal: Principal): NonNullable<Parameters<typeof gatherInput>[1]['mayShow']> {
  return (server, tool) =>
    tool === undefined ? proxy.mayListWhole(principal, server) : proxy.mayList(principal, { server, tool: tool.name }, tool);
}
