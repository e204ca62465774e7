import { codeOf } from '@notebridge/protocol/core/errors';
import type { ListToolsResult, ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
import { type RunnableTool, runTool, toTool } from '@notebridge/protocol/core/memory-provider';
import { type Answered, answer, type CallNext, type Middleware, type MiddlewareContext } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';

export interface ToolInjectionOptions {
  tools: RunnableTool<MiddlewareContext>[];
}

/**
 * Puts tools of the hub itself in front of whatever the providers list. An injected name belongs to the hub: a provider's
 * tool of the same name is left out, so a page cannot take the place of a tool that opens browsers.
 */
export class ToolInjectionMiddleware implements Middleware {
  readonly #tools: Map<string, RunnableTool<MiddlewareContext>>;

  constructor({ tools }: ToolInjectionOptions) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  async onListTools(context: MiddlewareContext, callNext: CallNext<JsonObject, ListToolsResult>): Promise<Answered<ListToolsResult>> {
    const listed = await callNext(context).catch((error: unknown) => {
      // Whatever is wrong further in, our own tools are there: one of them may fix it.
      if (codeOf(error) === 'cancelled' || context.message.cursor !== undefined) throw error;
      context.log('warning', `The notebook's own tools could not be listed: ${messageOf(error)}`, 'notebridge');
      return answer<ListToolsResult>({ tools: [] });
    });
    const others = listed.tools.filter(({ name }) => !this.#tools.has(name));
    // Later pages of a list must not repeat what the first has shown.
    const injected = context.message.cursor === undefined ? [...this.#tools.values()].map(toTool) : [];
    return { ...listed, tools: [...injected, ...others] };
  }

  /** Not async: nearly every call is somebody else's, and pays nothing here. */
  onCallTool(context: MiddlewareContext<ToolCall>, callNext: CallNext<ToolCall, ToolResult>): Promise<Answered<ToolResult>> {
    const tool = this.#tools.get(context.message.name);
    return tool === undefined ? callNext(context) : runTool(tool, context.message, context).then(answer);
  }
}
