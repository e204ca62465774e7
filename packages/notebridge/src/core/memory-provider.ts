import type { JsonObject } from '../util/json.js';
import type { CallContext } from './call-context.js';
import { BridgeError } from './errors.js';
import type { Tool, ToolResult } from './mcp.js';
import type { Provider, ProviderEvent } from './provider.js';

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
  readonly #listeners = new Set<(event: ProviderEvent) => void>();

  constructor(options: MemoryProviderOptions = {}) {
    this.name = options.name ?? 'memory';
    this.instructions = options.instructions;
    this.#tools = options.tools ?? [];
    this.#resources = options.resources ?? [];
    this.#prompts = options.prompts ?? [];
  }

  /** Replaces the tools and says so. */
  setTools(tools: RunnableTool[]): void {
    this.#tools = tools;
    for (const listener of this.#listeners) listener({ method: 'notifications/tools/list_changed' });
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
        return { messages: await find(this.#prompts, 'name', params.name, 'prompt').fill((params.arguments ?? {}) as JsonObject) };
      default:
        throw new BridgeError('unknown_method', `"${this.name}" does not answer "${method}".`);
    }
  }

  notify(): void {}

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    const tool = this.#tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new BridgeError('unknown_tool', `"${this.name}" has no tool "${String(params.name)}".`);
    return runUntilCancelled(tool, params, context);
  }
}

/** The listed form of a runnable tool. */
export function toTool({ run: _, ...tool }: RunnableTool<never>): Tool {
  return tool as Tool;
}

/** Runs the tool; a cancelled call is over at once, whatever the tool still does. */
function runUntilCancelled(tool: RunnableTool, params: JsonObject, context: CallContext): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    const stop = context.cancellation.onCancel((reason) => reject(new BridgeError('cancelled', `"${tool.name}" was cancelled: ${reason}`)));
    tool
      .run((params.arguments ?? {}) as JsonObject, context)
      .then(resolve, reject)
      .finally(stop);
  });
}

function find<Item extends JsonObject>(items: Item[], key: string, wanted: unknown, kind: string): Item {
  const item = items.find((candidate) => candidate[key] === wanted);
  if (item === undefined) throw new BridgeError('bad_params', `There is no ${kind} "${String(wanted)}".`);
  return item;
}
