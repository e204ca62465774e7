import type { JsonObject } from '../json.js';
import { BridgeError, type ErrorCode } from './errors.js';

/** A tool as `tools/list` shows it. Unknown keys pass. */
export type Tool = JsonObject & {
  name: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: JsonObject;
};

/** What a caller asks for: the params of `tools/call`. */
export type ToolCall = JsonObject & { name: string; arguments?: JsonObject; _meta?: JsonObject };

/** A block of content: text, image, audio, resource, link, or a type of the future. */
export type ContentBlock = JsonObject & { type: string };

/** What a tool answers. A tool that failed is a result with `isError`, not a protocol error. */
export type ToolResult = JsonObject & { content?: ContentBlock[]; structuredContent?: JsonObject; isError?: boolean; _meta?: JsonObject };

export type ListToolsResult = JsonObject & { tools: Tool[]; nextCursor?: string };
export type ListResourcesResult = JsonObject & { resources: JsonObject[]; nextCursor?: string };
export type ReadResourceResult = JsonObject & { contents: JsonObject[] };
export type ListPromptsResult = JsonObject & { prompts: JsonObject[]; nextCursor?: string };
export type GetPromptResult = JsonObject & { messages: JsonObject[] };
export type InitializeResult = JsonObject & {
  protocolVersion: string;
  capabilities: JsonObject;
  serverInfo: JsonObject;
  instructions?: string;
};

/** A tool result of text blocks. */
export function toTextResult(...texts: string[]): ToolResult {
  return { content: texts.map((text) => ({ type: 'text', text })) };
}

/** The result of a tool that failed, for an agent to read. */
export function toFailedResult(code: ErrorCode, text: string): ToolResult {
  return { ...toTextResult(text), isError: true, _meta: { [errorCodeMetaKey]: code } };
}

/** A failure of one of these codes becomes a result, for an agent to read; any other stays an error of the protocol. */
export async function withFailedResults(codes: { has(code: ErrorCode): boolean }, work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BridgeError && codes.has(error.code)) return toFailedResult(error.code, error.message);
    throw error;
  }
}

/** The key of a result's `_meta` under which a failed result of ours carries its error code. */
export const errorCodeMetaKey = 'notebridge/error_code';
