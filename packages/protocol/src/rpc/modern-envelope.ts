import { isJsonObject, type JsonObject } from '../json.js';

/** The keys of `_meta` that make a request of the modern era self-contained (MCP 2026-07-28). */
export const envelopeKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
} as const;

export const serverInfoMetaKey = 'io.modelcontextprotocol/serverInfo';
export const subscriptionIdMetaKey = 'io.modelcontextprotocol/subscriptionId';

/** The `_meta` of params if it names a protocol version, which only requests of the modern era do. */
export function envelopeOf(params: JsonObject | undefined): JsonObject | undefined {
  const meta = params?._meta;
  return isJsonObject(meta) && envelopeKeys.protocolVersion in meta ? meta : undefined;
}

/** The params without the envelope, for a peer of the legacy era. The same object if there was none. */
export function withoutEnvelope(params: JsonObject): JsonObject {
  const meta = envelopeOf(params);
  if (meta === undefined) return params;
  const {
    [envelopeKeys.protocolVersion]: _1,
    [envelopeKeys.clientCapabilities]: _2,
    [envelopeKeys.clientInfo]: _3,
    [envelopeKeys.logLevel]: _4,
    ...kept
  } = meta;
  const { _meta, ...rest } = params;
  return Object.keys(kept).length === 0 ? rest : { ...rest, _meta: kept };
}
