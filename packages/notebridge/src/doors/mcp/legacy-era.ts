import type { JsonObject } from '@notebridge/kit/json';
import { BridgeError } from '../../core/errors.js';
import { severities } from '../../core/log-levels.js';
import { owner, type Principal } from '../../core/principal.js';
import { isLegacyVersion, latestLegacyVersion } from '../../core/protocol-versions.js';
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
