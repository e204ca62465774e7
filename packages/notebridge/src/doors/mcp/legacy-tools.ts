import { printJson } from '@notebridge/kit/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';

/** With these a schema without a type may be of anything. */
const openKeywords = ['$ref', '$dynamicRef', 'anyOf', 'oneOf', 'allOf', 'if', 'not', 'enum', 'const', 'items', 'prefixItems'];

/**
 * A list of tools as clients of the legacy era take it: there the schema of a property is an object (`{}` for `true`), and an output schema
 * one of an object. What says the same in both eras stays as it is.
 */
export function toLegacyTools(result: JsonObject): JsonObject {
  const { tools } = result;
  if (!Array.isArray(tools)) return result;
  const changed = tools.map((tool: unknown) => (isJsonObject(tool) ? toLegacyTool(tool) : tool));
  return changed.every((tool, at) => tool === tools[at]) ? result : { ...result, tools: changed };
}

/**
 * The result of a tool as clients of the legacy era take it: there structured content is an object. Other content is its member `result`, as
 * servers by the official SDK tell it to such clients, and stands in a text too.
 */
export function toLegacyToolResult(result: JsonObject): JsonObject {
  const { structuredContent: value, ...rest } = result;
  if (value === undefined || isJsonObject(value)) return result;
  if (value === null) return rest;
  const content: unknown[] = Array.isArray(rest.content) ? rest.content : [];
  const hasText = content.some((block) => isJsonObject(block) && block.type === 'text');
  return {
    ...rest,
    content: hasText ? content : [...content, { type: 'text', text: printJson(value) }],
    structuredContent: { result: value },
  };
}

function toLegacyTool(tool: JsonObject): JsonObject {
  const inputSchema = toLegacySchema(tool.inputSchema);
  const outputSchema = toLegacyOutput(tool.outputSchema);
  if (inputSchema === tool.inputSchema && outputSchema === tool.outputSchema) return tool;
  const { outputSchema: _, ...rest } = { ...tool, inputSchema } as JsonObject;
  return outputSchema === undefined ? rest : { ...rest, outputSchema };
}

/** Undefined for a schema that is, or may be, of anything but objects: that era has no other structured content. */
function toLegacyOutput(schema: unknown): unknown {
  if (!isJsonObject(schema)) return undefined;
  if (schema.type === undefined) {
    const isOpen = !isJsonObject(schema.properties) && openKeywords.some((keyword) => schema[keyword] !== undefined);
    return isOpen ? undefined : toLegacySchema({ ...schema, type: 'object' });
  }
  return schema.type === 'object' ? toLegacySchema(schema) : undefined;
}

function toLegacySchema(schema: unknown): unknown {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return schema;
  const properties = Object.entries(schema.properties);
  if (!properties.some(([, property]) => typeof property === 'boolean')) return schema;
  const objects = properties.map(([key, property]) => [key, typeof property === 'boolean' ? (property ? {} : { not: {} }) : property]);
  return { ...schema, properties: Object.fromEntries(objects) };
}
