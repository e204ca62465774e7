import type { ListToolsResult, Tool } from '@notebridge/protocol/core/mcp';
import { printMessage } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import { toValidEntries } from '../../catalog/valid-entries.js';

/** The longest name that MCP allows. */
export const maxPageToolNameLength = 128;
/** Longest entry as JSON, in characters: agents pay for every one of them. */
const maxToolLength = 256 * 1024;
const maxTools = 1000;

/** A page's list of tools as agents may see it: made valid, and without what no name, or no size, can be allowed for. */
export function toShownTools(listed: JsonObject): ListToolsResult {
  const { tools = [], ...more } = listed;
  const { result } = toValidEntries('tools/list', {
    ...more,
    tools: Array.isArray(tools) ? tools.slice(0, maxTools).filter(isPrintable) : [],
  });
  const { tools: valid, nextCursor, ...rest } = result;
  const names = new Set<string>();
  const shown: Tool[] = [];
  for (const tool of valid as Tool[]) {
    // Of two with one name the first keeps it.
    if (!isName(tool.name) || names.has(tool.name)) continue;
    names.add(tool.name);
    shown.push(tool);
  }
  return {
    ...(isPrintable(rest) ? rest : {}),
    tools: shown,
    ...(typeof nextCursor === 'string' ? { nextCursor } : {}),
  };
}

/** Control and invisible characters can make a name look like another. */
function isName(value: string): boolean {
  return value.length <= maxPageToolNameLength && !/\p{C}/u.test(value);
}

/** False for what is too large, or nested too deeply to be sent on. */
function isPrintable(value: unknown): boolean {
  try {
    return printMessage(value).length <= maxToolLength;
  } catch {
    return false;
  }
}
