import type { CodeModeLimits } from '../core/code-mode-limits.js';
import type { Tool } from '../core/mcp.js';
import { executeCodeTool } from './execution/execute-params.js';
import { describeToolsTool, searchToolsTool } from './search/definitions.js';

/** What the tools of code mode are called in patterns of grants: `code-mode:execute_code`. */
export const codeModeServer = 'code-mode';

/** All that an agent in code mode is shown of the servers. */
export function codeModeTools(limits: CodeModeLimits): readonly Tool[] {
  return [searchToolsTool, describeToolsTool, executeCodeTool(limits)];
}
