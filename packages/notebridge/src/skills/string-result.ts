import type { ToolResult } from '../core/mcp.js';

/**
 * A text that stays a text on its way through the tool proxy, which would parse one that looks like JSON: the proxy unwraps a
 * lone `result` of the structured content.
 */
export function toStringResult(text: string): ToolResult {
  return { content: [{ type: 'text', text }], structuredContent: { result: text } };
}

/** What goes with it, in the list of tools. */
export const stringOutputSchema = { type: 'object', properties: { result: { type: 'string' } }, required: ['result'] };
