// @module-tag P-031

// Compiled by `tsc --noEmit`, never run: which middlewares compile, and which must not.

import type { InitializeResult, ListToolsResult, ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
import { type Answered, answer, type CallNext, type Middleware, type MiddlewareContext } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';

/** The right ones: what comes from `callNext`, changed or not, and what `answer` makes. */
export const right: Middleware[] = [
  {},
  { onMessage: (context, callNext) => callNext(context) },
  { onMessage: async (context, callNext) => await callNext(context) },
  { onRequest: (context, callNext) => callNext(context.copy({ message: { ...context.message, added: true } })) },
  { onNotification: async () => answer({}) },
  { onInitialize: async (context, callNext) => ({ ...(await callNext(context)), instructions: 'changed' }) },
  {
    onListTools: async (context, callNext) => {
      const listed = await callNext(context);
      return { ...listed, tools: listed.tools.filter(({ name }) => name !== 'hidden') };
    },
  },
  {
    onCallTool: async (context, callNext) => {
      if (context.message.name === 'mine') return answer({ content: [{ type: 'text', text: 'mine' }], isError: false });
      return callNext(context);
    },
  },
  { onListTools: async (context, callNext) => callNext(context).catch(() => answer<ListToolsResult>({ tools: [] })) },
  { onListResources: (context, callNext) => callNext(context), onReadResource: (context, callNext) => callNext(context) },
  { onListPrompts: (context, callNext) => callNext(context), onGetPrompt: (context, callNext) => callNext(context) },
  {
    onAdded: (host) => {
      host.sendToolListChanged();
      return () => {};
    },
  },
];

/** A class with methods is a middleware too. */
export class RightClass implements Middleware {
  readonly name = 'right';
  async onMessage(context: MiddlewareContext, callNext: CallNext<JsonObject, JsonObject>): Promise<Answered<JsonObject>> {
    return callNext(context);
  }
  async onCallTool(context: MiddlewareContext<ToolCall>, callNext: CallNext<ToolCall, ToolResult>): Promise<Answered<ToolResult>> {
    return callNext(context);
  }
}

export const forgetsCallNext: Middleware[] = [
  // @ts-expect-error returns nothing
  { onMessage: async () => {} },
  {
    // @ts-expect-error calls the next and forgets to return its result
    onRequest: async (context, callNext) => {
      await callNext(context);
    },
  },
  // @ts-expect-error returns nothing for a notification
  { onNotification: async () => undefined },
  // @ts-expect-error returns a raw object: `answer` says that this is meant
  { onMessage: async () => ({}) },
  // @ts-expect-error returns a raw result
  { onCallTool: async () => ({ content: [] }) },
  // @ts-expect-error returns a raw list
  { onListTools: async () => ({ tools: [] }) },
  // @ts-expect-error builds a new object from the result and loses the rest of it
  { onListTools: async (context, callNext) => ({ tools: (await callNext(context)).tools }) },
  // @ts-expect-error returns a raw object on one of two ways
  { onCallTool: async (context, callNext) => (context.message.name === 'mine' ? { content: [] } : callNext(context)) },
];

export const answersWrongly: Middleware[] = [
  // @ts-expect-error an answer to a list must have tools
  { onListTools: async () => answer({ items: [] }) },
  // @ts-expect-error an answer to `initialize` must have a version
  { onInitialize: async () => answer({ capabilities: {}, serverInfo: {} }) },
  // @ts-expect-error no promise
  { onMessage: () => answer({}) },
  // @ts-expect-error the next needs the context
  { onMessage: (_context, callNext) => callNext() },
  // @ts-expect-error a context of other params
  { onCallTool: (context, callNext) => callNext(context.copy({ message: { arguments: {} } })) },
];

// @ts-expect-error the mark cannot be written by hand
export const forged: Answered<InitializeResult> = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: {} };
