import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { ListToolsResult, Tool } from '../../core/mcp.js';
import { printMessage } from '../../core/wire.js';

/** The longest name that MCP allows. */
export const maxPageToolNameLength = 128;
/** Longest entry as JSON, in characters: agents pay for every one of them. */
const maxToolLength = 256 * 1024;
const maxTools = 1000;

/**
 * A page's list as agents may see it. Agents check a list as a whole, so one faulty entry would cost them all tools: entries that
 * cannot be called are left out, members that cannot be read are taken off, and the rest stays exactly as the page sent it.
 */
export function toShownTools(result: JsonObject): ListToolsResult {
  const { tools, nextCursor, ...rest } = result;
  const names = new Set<string>();
  const shown: Tool[] = [];
  for (const entry of Array.isArray(tools) ? tools.slice(0, maxTools) : []) {
    const tool = toShownTool(entry);
    // Of two with one name the first keeps it.
    if (tool === undefined || names.has(tool.name)) continue;
    names.add(tool.name);
    shown.push(tool);
  }
  return {
    ...(isPrintable(rest) ? rest : {}),
    tools: shown,
    ...(typeof nextCursor === 'string' ? { nextCursor } : {}),
  };
}

function toShownTool(listed: unknown): Tool | undefined {
  const entry = withSchemaType(listed);
  if (!isJsonObject(entry) || !isName(entry.name) || !isObjectSchema(entry.inputSchema) || !isPrintable(entry)) return undefined;
  const faulty = Object.keys(optionalMembers).filter((key) => entry[key] !== undefined && optionalMembers[key]?.(entry[key]) === false);
  if (faulty.length === 0) return entry as Tool;
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !faulty.includes(key))) as Tool;
}

/** A schema without `type` is one of an object all the same; left as it is, it would cost the page its tool. */
function withSchemaType(entry: unknown): unknown {
  if (!isJsonObject(entry)) return entry;
  const { inputSchema = {} } = entry;
  if (!isJsonObject(inputSchema) || inputSchema.type !== undefined) return entry;
  return { ...entry, inputSchema: { type: 'object', ...inputSchema } };
}

/** What agents check besides name and input schema, and what it must be to pass. */
const optionalMembers: Record<string, (value: unknown) => boolean> = {
  title: isString,
  description: isString,
  outputSchema: isObjectSchema,
  annotations: (value) => isJsonObject(value) && Object.entries(value).every(([key, hint]) => isAnnotation(key, hint)),
  icons: (value) => Array.isArray(value) && value.every((icon) => isJsonObject(icon) && isString(icon.src)),
  execution: isJsonObject,
  _meta: isJsonObject,
};

const knownHints: ReadonlySet<string> = new Set(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']);

/** Agents check the hints that they know and pass over any other, whatever its type. */
function isAnnotation(key: string, value: unknown): boolean {
  if (key === 'title') return isString(value);
  return !knownHints.has(key) || typeof value === 'boolean';
}

/** Control and invisible characters can make a name look like another. */
function isName(value: unknown): value is string {
  return isString(value) && value.length > 0 && value.length <= maxPageToolNameLength && !/\p{C}/u.test(value);
}

function isObjectSchema(value: unknown): boolean {
  if (!isJsonObject(value) || value.type !== 'object') return false;
  const { properties = {}, required = [] } = value;
  return isJsonObject(properties) && Object.values(properties).every(isJsonObject) && Array.isArray(required) && required.every(isString);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** False for what is too large, or nested too deeply to be sent on. */
function isPrintable(value: JsonObject): boolean {
  try {
    return printMessage(value).length <= maxToolLength;
  } catch {
    return false;
  }
}
