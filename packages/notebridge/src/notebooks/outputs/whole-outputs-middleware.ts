import type { ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
import type { Answered, CallNext, Middleware, MiddlewareContext } from '@notebridge/protocol/core/middleware';

/** Marks each call of an agent that wants outputs as they are, for whichever process runs it. */
export class WholeOutputsMiddleware implements Middleware {
  onCallTool(context: MiddlewareContext<ToolCall>, callNext: CallNext<ToolCall, ToolResult>): Promise<Answered<ToolResult>> {
    return callNext(context.copy({ message: { ...context.message, outputs: 'whole' }, target: context.target }));
  }
}
