import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import { isModernVersion, modernVersions } from '@notebridge/protocol/core/protocol-versions';
import { isInputRequired, toAskable } from '@notebridge/protocol/core/questions';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { envelopeKeys, serverInfoMetaKey } from '@notebridge/protocol/rpc/modern-envelope';
import { parseLogLevel, type ServerIdentity, serverCapabilities } from './legacy-era.js';

/** What each request of the modern era says of itself. */
export interface Envelope {
  clientInfo: JsonObject | undefined;
  /** Log lines are sent only to a request that asks for them. */
  logLevel: string | undefined;
  /** What its client can be asked: see `toAskable`. */
  askable: JsonObject | undefined;
}

/** Methods of the legacy era that the modern one has taken away. */
const removedMethods = new Set(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']);

/** Results that must say how long they may be kept. */
const cacheableMethods = new Set([
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
  'resources/read',
  'server/discover',
]);

/** Reads the envelope of a request. Throws `unsupported_version`, `bad_params` or `unknown_method`. */
export function parseEnvelope(method: string, meta: JsonObject): Envelope {
  const version = meta[envelopeKeys.protocolVersion];
  if (!isModernVersion(version)) throw unsupportedVersion(version);
  const capabilities = meta[envelopeKeys.clientCapabilities];
  if (!isJsonObject(capabilities)) {
    throw new BridgeError('bad_params', `Invalid _meta envelope: "${envelopeKeys.clientCapabilities}" must be an object.`);
  }
  if (removedMethods.has(method)) throw new BridgeError('unknown_method', `"${method}" does not exist in protocol version ${version}.`);
  const clientInfo = meta[envelopeKeys.clientInfo];
  const logLevel = meta[envelopeKeys.logLevel];
  return {
    clientInfo: isJsonObject(clientInfo) ? clientInfo : undefined,
    logLevel: logLevel === undefined ? undefined : parseLogLevel(logLevel, envelopeKeys.logLevel),
    askable: toAskable(capabilities),
  };
}

/** The error that names the versions served, also for an `initialize` after the modern era was settled. */
export function unsupportedVersion(requested: unknown): BridgeError {
  return new BridgeError('unsupported_version', 'Unsupported protocol version', {
    data: { supported: [...modernVersions], requested: requested ?? 'unknown' },
  });
}

/** Answers `server/discover`. Resource subscriptions and logging go by other ways in this era. */
export function toDiscoverResult({ instructions }: ServerIdentity): JsonObject {
  return {
    supportedVersions: [...modernVersions],
    capabilities: serverCapabilities,
    ...(instructions === undefined ? {} : { instructions }),
  };
}

/**
 * Adds what the modern era requires of a result and a legacy provider does not give: its type, and for lists and reads how long
 * they hold. Ours hold for no time: a page can come or go at any moment.
 */
export function toModernResult(method: string, result: JsonObject, { serverInfo }: Pick<ServerIdentity, 'serverInfo'>): JsonObject {
  const meta = isJsonObject(result._meta) ? result._meta : {};
  return {
    resultType: 'complete',
    ...(cacheableMethods.has(method) && !isInputRequired(result) ? { ttlMs: 0, cacheScope: 'private' } : {}),
    ...result,
    _meta: { [serverInfoMetaKey]: serverInfo, ...meta },
  };
}

/** A missing resource has another code in this era: -32602 in place of -32002, which in answers to other requests means what its server will. */
export function toModernError(method: string, error: unknown): unknown {
  return method === 'resources/read' && error instanceof RemoteError && error.raw.code === -32002
    ? new RemoteError({ ...error.raw, code: -32602 })
    : error;
}
