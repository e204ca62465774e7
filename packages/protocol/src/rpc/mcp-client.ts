import { BridgeError } from '../core/errors.js';
import type { ListPromptsResult, ListResourcesResult, ListToolsResult, ToolResult } from '../core/mcp.js';
import type { JsonObject } from '../json.js';
import { quote } from '../util/quote.js';
import type { PeerRequestOptions } from './waiting-calls.js';

/** The client side of an MCP session, live or not. Results are what the server sent, unknown keys included. */
export abstract class McpClient {
  /** Sends one request. Rejects as `Peer.request` does. */
  abstract request(method: string, params?: JsonObject, options?: PeerRequestOptions): Promise<JsonObject>;
  abstract notify(method: string, params?: JsonObject): void;

  /** True if the server has said that it has such a thing: `logging`, …. */
  can(_capability: string): boolean {
    return false;
  }

  listTools(params: JsonObject = {}): Promise<ListToolsResult> {
    return this.request('tools/list', params) as Promise<ListToolsResult>;
  }

  callTool(name: string, args: JsonObject = {}, options?: PeerRequestOptions): Promise<ToolResult> {
    return this.request('tools/call', { name, arguments: args }, options) as Promise<ToolResult>;
  }

  listResources(params: JsonObject = {}): Promise<ListResourcesResult> {
    return this.request('resources/list', params) as Promise<ListResourcesResult>;
  }

  listPrompts(params: JsonObject = {}): Promise<ListPromptsResult> {
    return this.request('prompts/list', params) as Promise<ListPromptsResult>;
  }
}

const emptyLists: Record<string, JsonObject> = {
  'tools/list': { tools: [] },
  'resources/list': { resources: [] },
  'resources/templates/list': { resourceTemplates: [] },
  'prompts/list': { prompts: [] },
};

/** A stub while nothing is connected: every list is empty, and there is nothing to call. */
export class StubClient extends McpClient {
  async request(method: string, params: JsonObject = {}): Promise<JsonObject> {
    const empty = Object.hasOwn(emptyLists, method) ? emptyLists[method] : undefined;
    if (empty !== undefined) return { ...empty };
    if (method === 'ping') return {};
    if (method === 'tools/call') throw new BridgeError('unknown_tool', `Unknown tool: ${quote(params.name)}.`);
    throw new BridgeError('not_connected', `No notebook page is connected, so "${method}" cannot be answered.`);
  }

  notify(): void {}
}
