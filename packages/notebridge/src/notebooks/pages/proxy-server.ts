import type { CallContext } from '../../core/call-context.js';
import { BridgeError, codeOf } from '../../core/errors.js';
import { errorCodeMetaKey, type Tool, type ToolResult, toTextResult } from '../../core/mcp.js';
import type { McpClient } from '../../core/mcp-client.js';
import { withoutEnvelope } from '../../core/modern-envelope.js';
import type { PeerRequestOptions } from '../../core/peer.js';
import type { Provider, ProviderEvent } from '../../core/provider.js';
import { isJsonObject, type JsonObject } from '../../util/json.js';
import { Listeners } from '../../util/listeners.js';
import type { Absence } from './absence.js';

export interface ProxyServerOptions {
  name?: string;
  instructions?: string;
  /** Asked on every request: the live client, or a stub. */
  clientFactory: () => McpClient;
  /** True while `clientFactory` gives the live client. */
  isConnected?: () => boolean;
  /** What is done while it gives the stub. Default: the stub answers. */
  absence?: Absence | undefined;
  /** Told the tools that a page lists, as they are shown to agents. */
  onToolsListed?: (tools: readonly Tool[]) => void;
}

/** The provider in front of a page: every request goes to whatever client there is just now, unchanged. */
export class ProxyServer implements Provider {
  readonly name: string;
  readonly instructions: string | undefined;
  readonly #options: ProxyServerOptions;
  readonly #events = new Listeners<ProviderEvent>();

  constructor(options: ProxyServerOptions) {
    this.name = options.name ?? 'proxy';
    this.instructions = options.instructions;
    this.#options = options;
  }

  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const { absence, isConnected, clientFactory } = this.#options;
    if (absence !== undefined && isConnected?.() === false) {
      const listed = absence.list(method);
      if (listed !== undefined) return listed;
      const isList = method.endsWith('/list');
      if (!isList && !(await absence.awaitReturn(context)) && method === 'tools/call') return absence.refuseCall(String(params.name));
    }
    return this.#forward(clientFactory(), method, params, context);
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.#options.clientFactory().notify(method, params);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#events.add(listener);
  }

  /** Passes an event of the page on to agents. */
  emit(event: ProviderEvent): void {
    this.#events.emit(event);
  }

  #forward(client: McpClient, method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const options: PeerRequestOptions = { cancellation: context.cancellation };
    if (context.wantsProgress) options.onProgress = (progress) => context.forwardProgress(progress);
    const sent = context.caller.era === 'modern' ? withoutEnvelope(params) : params;
    const answer = client.request(method, sent, options);
    if (method === 'tools/call') return answer.catch((error: unknown) => toFailedResult(error, String(params.name)));
    return method === 'tools/list' ? answer.then((result) => this.#checkToolList(result, params)) : answer;
  }

  /** A page's list is outside data: entries that are no tools would break agents that read them. */
  #checkToolList(result: JsonObject, params: JsonObject): JsonObject {
    const listed = Array.isArray(result.tools) ? result.tools : [];
    const tools = listed.filter(isTool);
    if (params.cursor === undefined && result.nextCursor === undefined) this.#options.onToolsListed?.(tools);
    return tools.length === listed.length && listed === result.tools ? result : { ...result, tools };
  }
}

/** The longest name that MCP allows. */
const maxNameLength = 128;

function isTool(value: unknown): value is Tool {
  return (
    isJsonObject(value) &&
    typeof value.name === 'string' &&
    value.name.length > 0 &&
    value.name.length <= maxNameLength &&
    !/\p{Cc}/u.test(value.name)
  );
}

/** A call that the page could not finish is a failed tool, told with what to do; a protocol error of the page passes. */
function toFailedResult(error: unknown, toolName: string): ToolResult {
  const code = codeOf(error);
  if (!(error instanceof BridgeError) || (code !== 'page_gone' && code !== 'timeout')) throw error;
  const text = `${error.message} "${toolName}" was running; its outcome is unknown and it was not repeated. Read the cells (get_cells) before you call it again.`;
  return { ...toTextResult(text), isError: true, _meta: { [errorCodeMetaKey]: code } };
}
