import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';

/** What a tool returned, as an MCP result. */
export function toToolResult(value: unknown): JsonObject {
  if (isJsonObject(value) && Array.isArray(value.content) && value.content.every(isBlock)) return value;
  if (value === undefined) return { content: [] };
  if (typeof value === 'string') return toTextResult(value);
  // Functions and symbols have no JSON.
  const result = toTextResult(JSON.stringify(value) ?? String(value));
  return isJsonObject(value) ? { ...result, structuredContent: value } : result;
}

/** A tool that fails is a result, so that the agent reads why and goes on. */
export function failedResult(text: string): JsonObject {
  return { ...toTextResult(text), isError: true };
}

/** What a resource gave, as an MCP result. */
export function toResourceResult(uri: string, mimeType: string | undefined, value: unknown): JsonObject {
  if (isJsonObject(value) && Array.isArray(value.contents)) return value;
  const known = mimeType === undefined ? {} : { mimeType };
  if (value instanceof Uint8Array) return { contents: [{ uri, ...known, blob: toBase64(value) }] };
  if (typeof value === 'string') return { contents: [{ uri, ...known, text: value }] };
  return { contents: [{ uri, mimeType: 'application/json', ...known, text: JSON.stringify(value ?? null) }] };
}

/** What a prompt gave, as an MCP result. */
export function toPromptResult(value: unknown): JsonObject {
  if (isJsonObject(value) && Array.isArray(value.messages)) return value;
  return { messages: [{ role: 'user', content: { type: 'text', text: String(value) } }] };
}

function toTextResult(text: string): JsonObject {
  return { content: [{ type: 'text', text }] };
}

function isBlock(value: unknown): boolean {
  return isJsonObject(value) && typeof value.type === 'string';
}

function toBase64(bytes: Uint8Array): string {
  let text = '';
  // Spread over the arguments of one call, large data would overflow the stack.
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
