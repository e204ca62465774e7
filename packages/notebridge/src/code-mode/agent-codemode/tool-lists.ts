import type { JsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../../core/call-context.js';
import type { Tool } from '../../core/mcp.js';
import type { ToolSearch } from '../search/tool-search.js';
import type { SeenServer, ToolView } from '../search/tool-view.js';

interface FoundTool {
  server: string;
  tool: Tool;
}

/** Tools as `agent-codemode` lists them. None is deferred here, and none has examples. */
export class ToolLists {
  readonly #search: ToolSearch;

  constructor(search: ToolSearch) {
    this.#search = search;
  }

  async search(args: JsonObject, context: CallContext): Promise<JsonObject> {
    const limit = countOf(args.limit, 10);
    const server = textOrNone(args.server);
    const view = await this.#search.view(context);
    const found = await this.#search.find(view, { query: String(args.query ?? ''), server }, context);
    const isListed = new Set(serversOf(view).map(({ name }) => name));
    const tools = found.flatMap(({ entry }) => (entry.kind === 'tool' && isListed.has(entry.server) ? [toDetails(entry)] : []));
    return { tools: tools.slice(0, limit), total: tools.length, has_more: tools.length > limit };
  }

  async names(args: JsonObject, context: CallContext): Promise<JsonObject> {
    const server = textOrNone(args.server);
    const words = (Array.isArray(args.keywords) ? args.keywords : []).map((word) => String(word).toLowerCase());
    const all = toolsOf(await this.#search.view(context)).filter((one) => server === undefined || one.server === server);
    const wanted = all.filter(
      (one) => words.length === 0 || words.some((word) => `${nameOf(one)} ${one.tool.description ?? ''}`.toLowerCase().includes(word)),
    );
    const names = wanted.map(nameOf).slice(0, countOf(args.limit, 100));
    return { tool_names: names, returned: names.length, total: all.length, truncated: names.length < all.length };
  }

  async servers(context: CallContext): Promise<JsonObject> {
    const view = await this.#search.view(context);
    const servers = serversOf(view).map(({ name, description, tools }) => ({
      name,
      description: description ?? `MCP server: ${name}`,
      tool_count: tools.length,
    }));
    return { servers, total: servers.length };
  }

  async details(name: string, context: CallContext): Promise<JsonObject> {
    const found = await this.find(name, context);
    return found === undefined ? { error: `Tool not found: ${name}` } : toDetails(found);
  }

  /** The tool of a name `server__tool`, as lists give it. */
  async find(name: string, context: CallContext): Promise<FoundTool | undefined> {
    return toolsOf(await this.#search.view(context)).find((one) => nameOf(one) === name);
  }
}

function toolsOf(view: ToolView): FoundTool[] {
  return serversOf(view).flatMap(({ name, tools }) => tools.map((tool) => ({ server: name, tool })));
}

/** Skills have tools of their own here. */
function serversOf(view: ToolView): SeenServer[] {
  return view.servers.filter(({ isSkills }) => !isSkills);
}

function nameOf({ server, tool }: FoundTool): string {
  return `${server}__${tool.name}`;
}

function toDetails(found: FoundTool): JsonObject {
  const { server, tool } = found;
  return {
    name: nameOf(found),
    description: tool.description ?? '',
    server,
    input_schema: tool.inputSchema,
    output_schema: tool.outputSchema ?? null,
    input_examples: [],
    defer_loading: false,
  };
}

function countOf(value: unknown, byDefault: number): number {
  return typeof value === 'number' && value >= 0 ? Math.min(1000, Math.floor(value)) : byDefault;
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
