import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { RunCall } from './call-runner.js';
import { complete, completes } from './completion.js';
import type { HandOverRequest } from './consent-dialog.js';
import {
  type Agent,
  type Listed,
  listOf,
  type PagePrompt,
  type PageResource,
  type PageResourceTemplate,
  type PageTool,
  toListedTool,
} from './definitions.js';
import { invalidParams, invalidRequest, PagePeer, RpcError, unknownMethod } from './peer.js';
import { toPromptResult, toResourceResult } from './results.js';
import { matchTemplate } from './uri-template.js';

/** What a page is, to agents. */
export interface PageDefinition {
  readonly name: string;
  readonly version: string;
  readonly title?: string | undefined;
  readonly instructions?: string | undefined;
  readonly tools: readonly PageTool[];
  readonly resources?: Listed<PageResource> | undefined;
  readonly resourceTemplates?: Listed<PageResourceTemplate> | undefined;
  readonly prompts?: Listed<PagePrompt> | undefined;
}

export interface McpServerOptions {
  /** Asked anew for each request. */
  definition: () => PageDefinition;
  runCall: RunCall;
  send: (frame: string) => void;
  /** Called on `initialize`, before it is answered: the answer promises that the token is kept. */
  onHandshake: (agent: Agent, resumeToken: string | undefined) => void;
  /** Called when the hub has received the answer. */
  onReady: (agent: Agent) => void;
  onFault: (fault: string) => void;
  /** Asks the person whether an agent may have what another one holds. Undefined: nobody can be asked here. */
  askToHandOver: ((question: HandOverQuestion, signal: AbortSignal) => boolean | Promise<boolean>) | undefined;
}

export type HandOverQuestion = Pick<HandOverRequest, 'agent' | 'reason' | 'holder'>;

/** RFC 5424 severities as MCP names them, least severe first. */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof levels)[number];

/** The key under which the hub gives a token for the next connections, and the page says that it has kept it. */
const resumeTokenKey = 'notebridge/resume_token';
/** The experimental capability of a page that can ask its person, and the request by which it is asked to. */
const handOverKey = 'notebridge/hand_over';

/** The versions that open with `initialize`, the only way to open a page's session: the hub never probes it for the modern era. */
const knownVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
const longestName = 80;
const longestReason = 200;

type Handler = (params: JsonObject, signal: AbortSignal) => unknown;

/** The MCP server of one connection. A page that reconnects is a new server with a new handshake. */
export class McpServer {
  readonly #options: McpServerOptions;
  readonly #peer: PagePeer;
  readonly #subscribed = new Set<unknown>();
  #logLevel: LogLevel = 'info';
  #agent: Agent | undefined;
  #isReady = false;

  readonly #handlers: Record<string, Handler> = {
    initialize: (params) => this.#initialize(params),
    ping: () => ({}),
    'logging/setLevel': ({ level }) => this.#setLogLevel(level),
    'tools/list': () => ({ tools: this.#definition.tools.map(toListedTool) }),
    'tools/call': (params, signal) => this.#callTool(params, signal),
    'resources/list': () => ({ resources: listOf(this.#definition.resources).map(({ read: _, ...listed }) => listed) }),
    'resources/templates/list': () => ({
      resourceTemplates: listOf(this.#definition.resourceTemplates).map(({ read: _, complete: __, ...listed }) => listed),
    }),
    'resources/read': (params) => this.#readResource(params.uri),
    'resources/subscribe': ({ uri }) => this.#setSubscribed(uri, true),
    'resources/unsubscribe': ({ uri }) => this.#setSubscribed(uri, false),
    'prompts/list': () => ({ prompts: listOf(this.#definition.prompts).map(({ get: _, complete: __, ...listed }) => listed) }),
    'prompts/get': (params) => this.#getPrompt(params),
    'completion/complete': (params) => complete(this.#definition, params),
    [handOverKey]: (params, signal) => this.#askToHandOver(params, signal),
  };

  constructor(options: McpServerOptions) {
    this.#options = options;
    const { send, onFault } = options;
    this.#peer = new PagePeer({
      send,
      onFault,
      onRequest: (method, params, signal) => this.#answer(method, params, signal),
      onNotification: (method) => {
        if (method === 'notifications/initialized') this.#becomeReady();
      },
    });
  }

  receive(frame: unknown): void {
    this.#peer.receive(frame);
  }

  /** Notifies the hub, once it has opened the session: before, it knows nothing that could have changed. */
  notify(method: string, params?: JsonObject): void {
    if (this.#isReady) this.#peer.notify(method, params);
  }

  resourceUpdated(uri: string): void {
    if (this.#subscribed.has(uri)) this.notify('notifications/resources/updated', { uri });
  }

  log(level: LogLevel, data: unknown): void {
    if (levels.indexOf(level) < levels.indexOf(this.#logLevel)) return;
    this.notify('notifications/message', { level, logger: this.#definition.name, data });
  }

  /** Asks the hub for a sign of life. */
  ping(): void {
    this.#peer.ping();
  }

  close(): void {
    this.#peer.close();
  }

  get #definition(): PageDefinition {
    return this.#options.definition();
  }

  #answer(method: string, params: JsonObject, signal: AbortSignal): unknown {
    const handler = Object.hasOwn(this.#handlers, method) ? this.#handlers[method] : undefined;
    const { resources, resourceTemplates, prompts } = this.#definition;
    const isOffered = method.startsWith('resources/') ? (resources ?? resourceTemplates) : method.startsWith('prompts/') ? prompts : true;
    if (handler === undefined || isOffered === undefined) throw new RpcError(unknownMethod, `The page does not know "${method}".`);
    if (this.#agent === undefined && method !== 'initialize' && method !== 'ping') {
      throw new RpcError(invalidRequest, `"initialize" has to come before "${method}".`);
    }
    return handler(params, signal);
  }

  #initialize({ protocolVersion, clientInfo, _meta }: JsonObject): JsonObject {
    const { name, version, title, instructions, resources, resourceTemplates, prompts } = this.#definition;
    const given = isJsonObject(_meta) ? _meta[resumeTokenKey] : undefined;
    const resumeToken = typeof given === 'string' && given !== '' ? given : undefined;
    this.#agent = toAgent(clientInfo);
    this.#options.onHandshake(this.#agent, resumeToken);
    return {
      protocolVersion: knownVersions.includes(String(protocolVersion)) ? protocolVersion : knownVersions[0],
      capabilities: {
        logging: {},
        tools: { listChanged: true },
        ...((resources ?? resourceTemplates) && { resources: { listChanged: true, subscribe: true } }),
        ...(prompts && { prompts: { listChanged: true } }),
        ...(completes(this.#definition) && { completions: {} }),
        ...(this.#options.askToHandOver && { experimental: { [handOverKey]: {} } }),
      },
      serverInfo: { name, version, ...(title && { title }) },
      ...(instructions && { instructions }),
      // Only now may the hub end the first token: this page will not dial with it again.
      ...(resumeToken && { _meta: { [resumeTokenKey]: true } }),
    };
  }

  #becomeReady(): void {
    if (this.#agent === undefined) return;
    this.#isReady = true;
    this.#options.onReady(this.#agent);
  }

  #setLogLevel(level: unknown): JsonObject {
    if (!levels.includes(level as LogLevel)) throw new RpcError(invalidParams, `"level" must be one of ${levels.join(', ')}.`);
    this.#logLevel = level as LogLevel;
    return {};
  }

  #callTool({ name, arguments: given, _meta }: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const tool = find(this.#definition.tools, 'name', name, 'tool');
    const progressToken = isJsonObject(_meta) ? _meta.progressToken : undefined;
    return this.#options.runCall({
      tool,
      // Whatever it is, the tool's schema checks it.
      args: (given ?? {}) as JsonObject,
      agent: this.#agent ?? toAgent(undefined),
      signal,
      sendProgress: (progress) => {
        if (progressToken !== undefined) this.notify('notifications/progress', { progressToken, ...progress });
      },
    });
  }

  async #askToHandOver({ agent, reason, holder }: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { askToHandOver } = this.#options;
    if (askToHandOver === undefined) throw new RpcError(unknownMethod, 'This page can ask nobody.');
    const question = {
      agent: clean(agent, longestName) || 'An unnamed agent',
      reason: clean(reason, longestReason) || undefined,
      holder: clean(holder, longestName) || undefined,
    };
    return { yes: (await askToHandOver(question, signal)) === true };
  }

  #setSubscribed(uri: unknown, isWanted: boolean): JsonObject {
    if (isWanted) this.#subscribed.add(find(listOf(this.#definition.resources), 'uri', uri, 'resource').uri);
    else this.#subscribed.delete(uri);
    return {};
  }

  async #readResource(uri: unknown): Promise<JsonObject> {
    const { resources, resourceTemplates } = this.#definition;
    const listed = listOf(resources);
    if (typeof uri === 'string' && !listed.some((resource) => resource.uri === uri)) {
      for (const { uriTemplate, mimeType, read } of listOf(resourceTemplates)) {
        const values = matchTemplate(uriTemplate, uri);
        if (values !== undefined) return toResourceResult(uri, mimeType, await read(uri, values));
      }
    }
    const resource = find(listed, 'uri', uri, 'resource');
    return toResourceResult(resource.uri, resource.mimeType, await resource.read());
  }

  async #getPrompt({ name, arguments: given }: JsonObject): Promise<JsonObject> {
    const prompt = find(listOf(this.#definition.prompts), 'name', name, 'prompt');
    const args = (isJsonObject(given) ? given : {}) as Record<string, string>;
    const missing = prompt.arguments?.find((argument) => argument.required && !Object.hasOwn(args, argument.name));
    if (missing !== undefined) throw new RpcError(invalidParams, `The prompt "${prompt.name}" needs "${missing.name}".`);
    return toPromptResult(await prompt.get(args));
  }
}

function find<Key extends string, Item extends Record<Key, string>>(items: readonly Item[], key: Key, wanted: unknown, kind: string): Item {
  const found = items.find((item) => item[key] === wanted);
  if (found === undefined) throw new RpcError(invalidParams, `The page has no ${kind} "${wanted}".`);
  return found;
}

function toAgent(clientInfo: unknown): Agent {
  const { name, version } = isJsonObject(clientInfo) ? clientInfo : {};
  const cleanVersion = clean(version, longestName);
  return { name: clean(name, longestName) || 'an unnamed program', ...(cleanVersion && { version: cleanVersion }) };
}

/** What a person decides by: without line breaks, marks that turn the writing round, or great length. */
function clean(text: unknown, longest: number): string {
  return typeof text === 'string' ? text.replace(/\p{C}/gu, '').trim().slice(0, longest) : '';
}
