import { isJsonObject, type JsonObject } from '../json.js';
import { Listeners } from '../util/listeners.js';
import { quote } from '../util/quote.js';
import type { CallContext } from './call-context.js';
import { BridgeError } from './errors.js';
import { fitArguments } from './fit-arguments.js';
import type { Tool, ToolResult } from './mcp.js';
import { type ParamHeader, paramHeadersOf } from './param-headers.js';
import type { Provider, ProviderEvent } from './provider.js';
import { toPlainValue } from './wire.js';

/** A tool with the function that runs it. */
export type RunnableTool<Context extends CallContext = CallContext> = Tool & {
  run: (args: JsonObject, context: Context) => Promise<ToolResult>;
};

/** A resource with the function that reads it. */
export type ReadableResource = JsonObject & { uri: string; name: string; read: () => Promise<JsonObject[]> };

/** A prompt with the function that fills it in. */
export type FillablePrompt = JsonObject & { name: string; fill: (args: JsonObject) => Promise<JsonObject[]> };

export interface MemoryProviderOptions {
  name?: string;
  instructions?: string;
  tools?: RunnableTool[];
  resources?: ReadableResource[];
  prompts?: FillablePrompt[];
}

/** A provider whose tools, resources and prompts are functions in this process. */
export class MemoryProvider implements Provider {
  readonly name: string;
  readonly instructions: string | undefined;
  #tools: RunnableTool[];
  readonly #resources: ReadableResource[];
  readonly #prompts: FillablePrompt[];
  readonly #events = new Listeners<ProviderEvent>();

  constructor(options: MemoryProviderOptions = {}) {
    this.name = options.name ?? 'memory';
    this.instructions = options.instructions;
    this.#tools = options.tools ?? [];
    this.#resources = options.resources ?? [];
    this.#prompts = options.prompts ?? [];
  }

  /** Replaces the tools and notifies listeners. */
  setTools(tools: RunnableTool[]): void {
    this.#tools = tools;
    this.#events.emit({ method: 'notifications/tools/list_changed' });
  }

  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    switch (method) {
      case 'tools/list':
        return { tools: this.#tools.map(toTool) };
      case 'tools/call':
        return this.#callTool(params, context);
      case 'resources/list':
        return { resources: this.#resources.map(({ read: _, ...resource }) => resource) };
      case 'resources/templates/list':
        return { resourceTemplates: [] };
      case 'resources/read':
        return { contents: await find(this.#resources, 'uri', params.uri, 'resource').read() };
      case 'prompts/list':
        return { prompts: this.#prompts.map(({ fill: _, ...prompt }) => prompt) };
      case 'prompts/get':
        return { messages: await find(this.#prompts, 'name', params.name, 'prompt').fill(toArguments(params)) };
      default:
        throw new BridgeError('unknown_method', `"${this.name}" does not answer "${method}".`);
    }
  }

  paramHeadersOf(tool: unknown): readonly ParamHeader[] {
    return paramHeadersOf(this.#tools, tool);
  }

  notify(): void {}

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#events.add(listener);
  }

  #callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    const tool = this.#findTool(params);
    return runTool(tool, { ...params, arguments: fitArguments(tool.inputSchema, toArguments(params)) }, context);
  }

  #findTool(params: JsonObject): RunnableTool {
    const tool = this.#tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new BridgeError('unknown_tool', `"${this.name}" has no tool ${quote(params.name)}.`);
    return tool;
  }
}

/** The listed form of a runnable tool. */
export function toTool({ run: _, ...tool }: RunnableTool<never>): Tool {
  return tool as Tool;
}

/**
 * Runs a tool of this process. Rejects with `bad_params` for arguments that are no object, and with `cancelled` at once when the
 * call is cancelled, whatever the tool still does.
 */
export async function runTool<Context extends CallContext>(
  tool: RunnableTool<Context>,
  params: JsonObject,
  context: Context,
): Promise<ToolResult> {
  const args = toArguments(params);
  const toError = (reason: string): BridgeError => new BridgeError('cancelled', `"${tool.name}" was cancelled: ${reason}`);
  const { cancellation } = context;
  if (cancellation.reason !== undefined) throw toError(cancellation.reason);
  let stopListening = (): void => {};
  const cancelled = new Promise<never>((_, reject) => {
    stopListening = cancellation.onCancel((reason) => reject(toError(reason)));
  });
  try {
    return await Promise.race([tool.run(args, context), cancelled]);
  } finally {
    stopListening();
  }
}

/** The arguments of a call, as a function of this process expects them. Throws `bad_params` or `message_too_deep`. */
function toArguments(params: JsonObject): JsonObject {
  const args = params.arguments ?? {};
  if (!isJsonObject(args)) throw new BridgeError('bad_params', `"arguments" must be an object, found ${quote(args)}.`);
  return toPlainValue(args) as JsonObject;
}

function find<Item extends JsonObject>(items: Item[], key: string, wanted: unknown, kind: string): Item {
  const item = items.find((candidate) => candidate[key] === wanted);
  if (item === undefined) throw new BridgeError('bad_params', `There is no ${kind} ${quote(wanted)}.`);
  return item;
}
