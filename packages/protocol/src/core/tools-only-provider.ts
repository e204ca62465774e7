import type { JsonObject } from '../json.js';
import type { CallContext } from './call-context.js';
import { BridgeError } from './errors.js';
import type { ToolResult } from './mcp.js';
import type { Provider, ProviderEvent } from './provider.js';

/** A provider of tools that never change, and of nothing else. */
export abstract class ToolsOnlyProvider implements Provider {
  abstract readonly name: string;
  abstract readonly instructions: string;

  /** Resolves to the result of `tools/list`. */
  protected abstract listTools(params: JsonObject, context: CallContext): JsonObject | Promise<JsonObject>;
  protected abstract callTool(params: JsonObject, context: CallContext): Promise<ToolResult>;

  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    switch (method) {
      case 'tools/list':
        return this.listTools(params, context);
      case 'tools/call':
        return this.callTool(params, context);
      case 'resources/list':
        return { resources: [] };
      case 'resources/templates/list':
        return { resourceTemplates: [] };
      case 'prompts/list':
        return { prompts: [] };
      default:
        throw new BridgeError('unknown_method', `The ${this.name} does not answer "${method}".`);
    }
  }

  notify(): void {}

  subscribe(_listener: (event: ProviderEvent) => void): () => void {
    return () => {};
  }
}
