import { BridgeError } from '@notebridge/protocol/core/errors';
import { severities } from '@notebridge/protocol/core/log-levels';
import { owner, type Principal } from '@notebridge/protocol/core/principal';
import { isLegacyVersion, latestLegacyVersion } from '@notebridge/protocol/core/protocol-versions';
import { type Asker, toAskable } from '@notebridge/protocol/core/questions';
import { printJson } from '@notebridge/protocol/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { RpcId } from '@notebridge/protocol/rpc/messages';
import type { Peer } from '@notebridge/protocol/rpc/peer';
import type { Hub } from '../../hub.js';

/** Declared at once and permanently: capabilities cannot grow after `initialize`, and a page may come later. */
export const serverCapabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
} as const;

export interface ServerIdentity {
  serverInfo: JsonObject;
  instructions: string | undefined;
}

/** What an agent of this principal is told of us. */
export function identityOf(hub: Hub, principal: Principal = owner): ServerIdentity {
  return { serverInfo: hub.serverInfo, instructions: hub.instructionsFor(principal) };
}

/** Answers `initialize`: the version asked for if we know it, else our newest, as the spec wants. */
export function toInitializeResult(params: JsonObject, { serverInfo, instructions }: ServerIdentity): JsonObject {
  return {
    protocolVersion: isLegacyVersion(params.protocolVersion) ? params.protocolVersion : latestLegacyVersion,
    capabilities: serverCapabilities,
    serverInfo,
    ...(instructions === undefined ? {} : { instructions }),
  };
}

/** True if a log line of `level` is wanted by who set `wanted`; an unknown level is always wanted. */
export function isLevelWanted(level: unknown, wanted: string): boolean {
  const severity = severities.indexOf(String(level));
  return severity < 0 || severity >= severities.indexOf(wanted);
}

/** Checks a log level that an agent has set; `key` says where. Throws `bad_params`. */
export function parseLogLevel(level: unknown, key: string): string {
  if (typeof level === 'string' && severities.includes(level)) return level;
  throw new BridgeError('bad_params', `"${key}" must be one of ${severities.join(', ')}; found ${JSON.stringify(level) ?? 'nothing'}.`);
}

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

/** How a question reaches an agent. */
export interface QuestionRoute {
  /**
   * Takes a message that belongs to a request that runs (its progress, a log line, a question of its server). False to have it sent
   * like any other. Throws if it is a request that can't be sent. Left out: there is one way for all.
   */
  sendDuring?: ((request: RpcId, message: JsonObject) => boolean) | undefined;
  /** Resolves when a question can be sent, or is not to wait any longer for that: its way may open a moment later. Left out: it is open. */
  untilAskable?: ((request: RpcId) => Promise<unknown> | undefined) | undefined;
}

/**
 * How an agent of the legacy era is asked: by a request on its connection, next to the call that the question belongs to.
 * Undefined if it did not declare that it can be asked anything.
 */
export function createLegacyAsker(peer: Peer, capabilities: unknown, { sendDuring, untilAskable }: QuestionRoute): Asker | undefined {
  const clientCapabilities = toAskable(capabilities);
  if (clientCapabilities === undefined) return undefined;
  return {
    clientCapabilities,
    ask: async (during, { method, params }, options) => {
      await untilAskable?.(during);
      return peer.request(method, params, { ...options, via: sendDuring && ((message) => sendDuring(during, message)) });
    },
  };
}
