import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { isListMethod, type ListMethod } from '@notebridge/protocol/core/list-methods';
import { type ListToolsResult, type Tool, type ToolResult, toFailedResult } from '@notebridge/protocol/core/mcp';
import { type ParamHeader, paramHeadersOf } from '@notebridge/protocol/core/param-headers';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import { mayAskIn } from '@notebridge/protocol/core/questions';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { SerialCalls } from '@notebridge/protocol/questions/serial-calls';
import type { McpClient } from '@notebridge/protocol/rpc/mcp-client';
import { withoutEnvelope } from '@notebridge/protocol/rpc/modern-envelope';
import type { PeerRequestOptions } from '@notebridge/protocol/rpc/peer';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { Throttle } from '@notebridge/protocol/util/throttle';
import { toValidList } from '../../catalog/valid-entries.js';
import { ListedTools } from './listed-tools.js';
import type { PageClient } from './page-client.js';
import { toShownTools } from './page-tools.js';
import type { Slot } from './slot.js';

/** Resources that are watched over a reload. */
const maxWatched = 1000;
/** Entries of a list that are named in the log. */
const maxNamed = 5;
/** Pages that a call may see come and go before it is refused. */
const maxReturns = 100;

/** What a proxy does for an agent while no page is there. */
export interface DisconnectedPolicy {
  /** Answers a list without a page; undefined to leave it to the stub. */
  list(method: string): JsonObject | undefined;
  /** Waits for a page that is expected. Resolves to whether it came. */
  awaitReturn(context: CallContext): Promise<boolean>;
  /** The answer to a call of a tool, its name quoted, that no page can take. */
  refuseCall(toolName: string): ToolResult;
}

export interface ProxyServerOptions {
  name?: string;
  instructions?: string;
  /** Asked on every request: the live client, or a stub. */
  clientFactory: () => McpClient;
  /** True while `clientFactory` gives the live client. */
  isConnected?: () => boolean;
  /** The calls in which the page may ask. Left out: it may not. */
  questions?: SerialCalls | undefined;
  /** What is done while it gives the stub. Default: the stub answers. */
  policy?: DisconnectedPolicy | undefined;
  /** Receives the tools that a page lists, as they are shown to agents. */
  onToolsListed?: (tools: readonly Tool[]) => void;
  logger?: Logger;
}

/** How long a page may take to answer a list: agents ask for them as they start. Milliseconds. */
const listTimeoutMs = 5000;
/** Agents read a list again whenever they are notified of a change, so they are notified at most once in this time. Milliseconds. */
const changeIntervalMs = 100;

/** The provider in front of a page: every request goes to whatever client there is just now, unchanged. */
export class ProxyServer implements Provider {
  readonly name: string;
  readonly instructions: string | undefined;
  readonly #options: ProxyServerOptions;
  readonly #events = new Listeners<ProviderEvent>();
  readonly #changes = new Throttle(changeIntervalMs);
  readonly #listed = new ListedTools(listTimeoutMs);
  /** The tools that agents were shown, as far as the page has listed them since they last changed. */
  #shown: readonly Tool[] = [];
  /** Calls that the page has not answered. */
  readonly #running = new Set<string>();
  /** The lowest level that agents want. */
  #logLevel: unknown;
  /** Resources whose updates agents have asked for. */
  readonly #watched = new Set<string>();

  constructor(options: ProxyServerOptions) {
    this.name = options.name ?? 'proxy';
    this.instructions = options.instructions;
    this.#options = options;
  }

  /** Not async while a page is there: a call then pays nothing for the disconnected policy. */
  request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (method === 'resources/subscribe' || method === 'resources/unsubscribe') return this.#watch(method, params, context);
    const { policy, isConnected } = this.#options;
    if (policy === undefined) return this.#forward(method, params, context);
    return isConnected?.() === false
      ? this.#requestWithoutPage(policy, method, params, context)
      : this.#forwardOrWait(policy, method, params, context);
  }

  notify(method: string, params: JsonObject | undefined): void {
    if (method === 'logging/setLevel') {
      this.#logLevel = params?.level;
      return this.#sendLogLevel(this.#options.clientFactory());
    }
    this.#options.clientFactory().notify(method, params === undefined ? undefined : withoutEnvelope(params));
  }

  /** Asks the page that has just come for the updates that agents asked an earlier one for. */
  watchAgain(): void {
    this.#shown = [];
    const client = this.#options.clientFactory();
    this.#sendLogLevel(client);
    for (const uri of this.#watched) {
      client.request('resources/subscribe', { uri }, { timeoutMs: listTimeoutMs }).catch((error: unknown) => {
        this.#options.logger?.warn('The page does not report changes of a resource.', { uri, error: messageOf(error) });
      });
    }
  }

  /** What the hub says that agents want; a page that comes later, or comes back, knows nothing of it. */
  #sendLogLevel(client: McpClient): void {
    const level = this.#logLevel;
    if (level === undefined || !client.can('logging')) return;
    client.request('logging/setLevel', { level }, { timeoutMs: listTimeoutMs }).catch((error: unknown) => {
      this.#options.logger?.debug('The page did not take a log level.', { error: messageOf(error) });
    });
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#events.add(listener);
  }

  paramHeadersOf(tool: unknown): readonly ParamHeader[] {
    return paramHeadersOf(this.#shown, tool);
  }

  /** Passes an event of the page on to agents. */
  emit(event: ProviderEvent): void {
    if (event.method === 'notifications/tools/list_changed') this.#forgetTools();
    if (event.method.endsWith('/list_changed')) this.#changes.run(event.method, () => this.#events.emit(event));
    else if (event.method === 'notifications/message') this.#events.emit({ ...event, callIds: [...this.#running] });
    else this.#events.emit(event);
  }

  #forgetTools(): void {
    this.#listed.forget();
    this.#shown = [];
  }

  async #requestWithoutPage(policy: DisconnectedPolicy, method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const listed = policy.list(method);
    if (listed !== undefined) return listed;
    if (method === 'tools/call') return this.#callWhenBack(policy, params, context);
    if (!method.endsWith('/list')) await policy.awaitReturn(context);
    return this.#forward(method, params, context);
  }

  /** A page that came back may leave before it has seen the call: then the next one may have it. */
  async #callWhenBack(policy: DisconnectedPolicy, params: JsonObject, context: CallContext): Promise<JsonObject> {
    for (let returns = 0; returns < maxReturns && (await policy.awaitReturn(context)); returns++) {
      try {
        return await this.#forward('tools/call', params, context);
      } catch (error) {
        if (codeOf(error) !== 'not_connected') throw error;
      }
    }
    return policy.refuseCall(quote(params.name));
  }

  /** A page that is just leaving has not seen the call, so it may wait for the page's return like any other. */
  #forwardOrWait(policy: DisconnectedPolicy, method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    return this.#forward(method, params, context).catch((error: unknown) => {
      if (codeOf(error) !== 'not_connected') throw error;
      return this.#requestWithoutPage(policy, method, params, context);
    });
  }

  /** Remembers what is watched: a page that comes later, or comes back, knows nothing of it. */
  async #watch(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const { uri } = params;
    // What is no text cannot be watched; the page reports that itself.
    if (typeof uri !== 'string') return this.#forward(method, params, context);
    if (method === 'resources/unsubscribe') this.#watched.delete(uri);
    else if (this.#watched.size < maxWatched) this.#watched.add(uri);
    return this.#options.isConnected?.() === false ? {} : this.#forward(method, params, context);
  }

  #forward(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const client = this.#options.clientFactory();
    if (method === 'tools/call' && !this.#listed.includes(client, params.name)) return this.#forwardIfListed(client, params, context);
    return this.#send(client, method, params, context);
  }

  async #forwardIfListed(client: McpClient, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const mayHave = await new Promise<boolean>((resolve, reject) => {
      // What is cancelled meanwhile is not sent any more: the client sees to that.
      const stop = context.cancellation.onCancel(() => resolve(true));
      this.#listed.ask(client, params.name).then(resolve, reject).finally(stop);
    });
    if (!mayHave) throw new BridgeError('unknown_tool', `Unknown tool: ${quote(params.name)}.`);
    // It has not seen the call, so the next page may have it.
    if (this.#options.clientFactory() !== client) throw new BridgeError('not_connected', 'The notebook page is leaving.');
    return this.#send(client, 'tools/call', params, context);
  }

  #send(client: McpClient, method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const options: PeerRequestOptions = { cancellation: context.cancellation };
    if (context.wantsProgress) options.onProgress = (progress) => context.forwardProgress(progress);
    if (method.endsWith('/list')) options.timeoutMs = listTimeoutMs;
    const sent = context.caller.era === 'modern' ? withoutEnvelope(params) : params;
    const { callId } = context;
    this.#running.add(callId);
    const answer = this.#exchange(client, method, { params: sent, context, options }).finally(() => void this.#running.delete(callId));
    if (method === 'tools/call') return answer.catch((error: unknown) => toFailedCall(error, params));
    if (!isListMethod(method)) return answer;
    if (method !== 'tools/list') return answer.then((result) => this.#toValid(method, result));
    const shown = answer.then(async (result) => {
      if (params.cursor === undefined && result.nextCursor === undefined) this.#listed.remember(client, result.tools);
      const valid = await this.#toValid(method, result);
      // Whatever was listed meanwhile is of another page.
      return this.#options.clientFactory() === client ? this.#showTools(valid, params) : toShownTools(valid);
    });
    return params.cursor === undefined ? shown.catch((error: unknown) => this.#listWithoutPage(error)) : shown;
  }

  #exchange(
    client: McpClient,
    method: string,
    { params, context, options }: { params: JsonObject; context: CallContext; options: PeerRequestOptions },
  ): Promise<JsonObject> {
    const { questions } = this.#options;
    if (questions === undefined || !mayAskIn.has(method)) return client.request(method, params, options);
    return questions.request({ method, params, context, send: (more) => client.request(method, params, { ...options, ...more }) });
  }

  async #toValid(method: ListMethod, listed: JsonObject): Promise<JsonObject> {
    const { result, leftOut } = await toValidList(method, listed);
    if (leftOut.length > 0) {
      const names = leftOut.slice(0, maxNamed).map(({ what, why }) => `${what}: ${why}`);
      this.#options.logger?.warn('The page lists what no agent could use; it is left out.', { method, leftOut: leftOut.length, names });
    }
    return result;
  }

  #showTools(result: JsonObject, params: JsonObject): ListToolsResult {
    const shown = toShownTools(result);
    const { isConnected, onToolsListed, logger = silentLogger } = this.#options;
    this.#shown = params.cursor === undefined ? shown.tools : [...this.#shown, ...shown.tools];
    const leftOut = (result.tools as readonly unknown[]).length - shown.tools.length;
    if (leftOut > 0) logger.warn('The page lists tools of names or sizes that no agent may be shown; they are left out.', { leftOut });
    if (params.cursor === undefined && shown.nextCursor === undefined && isConnected?.() !== false) onToolsListed?.(shown.tools);
    return shown;
  }

  /** A page that cannot list its tools must not cost an agent those of other providers. */
  #listWithoutPage(error: unknown): JsonObject {
    if (codeOf(error) === 'cancelled') throw error;
    const { policy, logger = silentLogger } = this.#options;
    logger.warn('The page did not list its tools.', { error: messageOf(error) });
    return policy?.list('tools/list') ?? { tools: [] };
  }
}

/** A call that the page could not finish is a failed tool, with what to do next; a protocol error of the page passes. */
function toFailedCall(error: unknown, { name, arguments: args }: JsonObject): ToolResult {
  const code = codeOf(error);
  if (!(error instanceof BridgeError) || (code !== 'page_gone' && code !== 'timeout' && code !== 'closed')) throw error;
  const { cellId } = isJsonObject(args) ? args : {};
  const where = typeof cellId === 'string' ? `Look at the cell ${quote(cellId)}` : 'Read the cells';
  const text = `${error.message} ${quote(name)} was running; its outcome is unknown and it was not repeated. ${where} (get_cells) before you call it again.`;
  return toFailedResult(code, text);
}

export interface PageProxyOptions {
  slot: Slot;
  client: PageClient;
  instructions: string;
  /** True: tools are listed, and calls wait for a page that is expected, while none is there. */
  isStatic: boolean;
  /** What keeps the page away, and what the caller is to do next. */
  nextStep: () => string;
  logger: Logger;
}

/** The provider in front of the pages of a slot: what they announce is passed on until `stop` is called, and what they list is remembered. */
export function createPageProxy({ slot, client, instructions, isStatic, nextStep, logger }: PageProxyOptions): {
  provider: ProxyServer;
  stop: () => void;
} {
  const provider = new ProxyServer({
    name: slot.profile.name,
    instructions,
    clientFactory: client.clientFactory,
    isConnected: client.isConnected,
    questions: client.questions,
    policy: isStatic ? createStaticListPolicy(slot, client, nextStep) : undefined,
    onToolsListed: (tools) => {
      slot.rememberedTools = tools;
    },
    logger,
  });
  const ends = [
    client.notified.add(({ method, params }) => provider.emit(params === undefined ? { method } : { method, params })),
    client.connectionChanged.add((isConnected) => isConnected && provider.watchAgain()),
  ];
  const stop = (): void => {
    for (const end of ends) end();
  };
  return { provider, stop };
}

/**
 * Tools are listed whether or not a page is there, since many agents read the list once: the last page's own, else those of
 * its profile. A call waits while a page is expected back, and else gets an error that says how to get one.
 */
function createStaticListPolicy(slot: Slot, client: PageClient, nextStep: () => string): DisconnectedPolicy {
  return {
    list(method) {
      return method === 'tools/list' ? { tools: [...(slot.rememberedTools ?? slot.profile.tools)] satisfies Tool[] } : undefined;
    },
    async awaitReturn(context) {
      const expectedForMs = client.expectedForMs();
      return expectedForMs > 0 && client.waitUntilConnected(expectedForMs, context.signal);
    },
    refuseCall(toolName) {
      return toFailedResult('not_connected', `No ${slot.profile.title} page is connected, so ${toolName} was not run. ${nextStep()}`);
    },
  };
}
