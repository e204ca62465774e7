import type { Tool } from '@notebridge/protocol/core/mcp';
import type { CodeModeLimits } from './execution/code-mode-limits.js';
import { executeCodeTool } from './execution/execute-params.js';
import { describeToolsTool, searchToolsTool } from './search/search-params.js';

/** All that an agent in code mode is shown of the servers. */
export function codeModeTools(limits: CodeModeLimits): readonly Tool[] {
  return [searchToolsTool, describeToolsTool, executeCodeTool(limits)];
}

/** Every agent pays for these words before its first one. */
export const codeModeInstructions = `Most tools here are called from Python that you write, so that results go from one call to the next without passing through you.
1. search_tools finds tools. 2. describe_tools gives import lines and signatures. 3. execute_code runs the code, with top-level await:

    import asyncio
    from generated.mcp.shop import get_order, list_orders
    ids = await list_orders(status="open")
    orders = await asyncio.gather(*(get_order(id=id) for id in ids))
    sum(order["total"] for order in orders)

The last expression and what is printed are answered: print little. A call that fails raises an error with the reason. Variables stay for the next call; do not run code again that has done something.`;
