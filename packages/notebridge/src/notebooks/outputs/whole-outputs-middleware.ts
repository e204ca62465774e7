import type { ToolCall, ToolResult } from '../../core/mcp.js';
import type { Answered, CallNext, Middleware, MiddlewareContext } from '../../core/middleware.js';

/** Marks each call of an agent that wants outputs as they are, for whichever process runs it. */
export class WholeOutputsMiddleware implements Middleware {
  onCallTool(context: MiddlewareContext<ToolCall>, callNext: CallNext<ToolCall, ToolResult>): Promise<Answered<ToolResult>> {
    return callNext(context.copy({ message: { ...context.message, outputs: 'whole' }, target: context.target }));
  }
}
