import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { BridgeError, codeOf, RemoteError } from '../core/errors.js';
import { isLegacyVersion, isModernVersion, latestLegacyVersion, modernVersions } from '../core/protocol-versions.js';
import type { ServerConfig } from '../core/server-config.js';
import { serverInfoMetaKey } from '../rpc/modern-envelope.js';
import { quote } from '../util/quote.js';
import { fromFaultAnswer } from './link.js';
import type { Handshake, UpstreamSession } from './upstream-session.js';

export interface HandshakeOptions {
  era: ServerConfig['era'];
  clientInfo: JsonObject;
  timeoutMs: number;
}

/**
 * Agrees on an era and a version. `auto` asks in the way of the legacy era first: nearly every server answers it, and one of
 * the modern era refuses it without harm. Rejects with what the server answered, or `timeout`.
 */
export async function performHandshake(session: UpstreamSession, options: HandshakeOptions): Promise<void> {
  if (options.era === 'modern') return discover(session, options);
  try {
    await initialize(session, options);
  } catch (error) {
    if (options.era === 'legacy' || !mayBeModern(error)) throw error;
    await discover(session, options).catch((second: unknown) => {
      // Of two refusals the first says more, unless only the second way was understood.
      throw codeOf(second) === 'handshake_failed' ? second : error;
    });
  }
}

async function initialize(session: UpstreamSession, { clientInfo, timeoutMs }: HandshakeOptions): Promise<void> {
  const params = { protocolVersion: latestLegacyVersion, capabilities: {}, clientInfo };
  const answer = await session.requestPlain('initialize', params, { timeoutMs });
  const { protocolVersion } = answer;
  if (!isLegacyVersion(protocolVersion)) throw unknownVersion('initialize', protocolVersion);
  session.agree({ era: 'legacy', protocolVersion, ...toHandshake(answer, answer.serverInfo) });
  session.notify('notifications/initialized');
}

async function discover(session: UpstreamSession, { timeoutMs }: HandshakeOptions): Promise<void> {
  const offered = modernVersions[modernVersions.length - 1] ?? '';
  const answer = await session.requestPlain('server/discover', session.toModernParams({}, offered), { timeoutMs });
  const supported = Array.isArray(answer.supportedVersions) ? answer.supportedVersions : [];
  const protocolVersion: unknown = supported.findLast(isModernVersion);
  if (!isModernVersion(protocolVersion)) throw unknownVersion('server/discover', answer.supportedVersions);
  const meta = isJsonObject(answer._meta) ? answer._meta : {};
  session.agree({ era: 'modern', protocolVersion, ...toHandshake(answer, answer.serverInfo ?? meta[serverInfoMetaKey]) });
  listen(session);
}

/** In the modern era changes are sent only on a stream that was asked for. Over HTTP it may break while the rest goes on. */
function listen(session: UpstreamSession): void {
  const notifications = listenFilter(session);
  if (Object.keys(notifications).length === 0) return;
  const again = (): void => {
    if (session.isClosed) return;
    listen(session);
    // Notifications sent in between were missed.
    for (const event of listEvents(notifications)) session.suppose(event);
  };
  const soon = (): void => void setTimeout(again, listenPauseMs).unref();
  session.request('subscriptions/listen', { notifications }, {}).then(soon, (error: unknown) => {
    // A server that refuses it sends no changes; its calls go on.
    if (fromFaultAnswer(error) !== error) soon();
  });
}

const listenPauseMs = 1000;

const listKinds = [
  ['tools', 'toolsListChanged'],
  ['resources', 'resourcesListChanged'],
  ['prompts', 'promptsListChanged'],
] as const;

function listenFilter({ handshake: { capabilities } }: UpstreamSession): JsonObject {
  const isDeclared = (capability: string): boolean => {
    const declared = capabilities[capability];
    return isJsonObject(declared) && declared.listChanged === true;
  };
  return Object.fromEntries(listKinds.filter(([capability]) => isDeclared(capability)).map(([, filter]) => [filter, true]));
}

function listEvents(notifications: JsonObject): { method: string }[] {
  return listKinds
    .filter(([, filter]) => filter in notifications)
    .map(([capability]) => ({ method: `notifications/${capability}/list_changed` }));
}

function toHandshake(answer: JsonObject, serverInfo: unknown): Pick<Handshake, 'capabilities' | 'serverInfo' | 'instructions'> {
  return {
    capabilities: isJsonObject(answer.capabilities) ? answer.capabilities : {},
    serverInfo: isJsonObject(serverInfo) ? serverInfo : undefined,
    instructions: typeof answer.instructions === 'string' ? answer.instructions : undefined,
  };
}

/** Codes by which servers of the modern era refuse an `initialize`: no such method or version, no envelope, no such message. */
const refusalCodes = new Set([-32601, -32022, -32602, -32600]);

function mayBeModern(error: unknown): boolean {
  if (error instanceof RemoteError) return refusalCodes.has(Number(error.raw.code));
  return codeOf(error) === 'handshake_failed';
}

function unknownVersion(method: string, found: unknown): BridgeError {
  return new BridgeError('handshake_failed', `It answered "${method}" with protocol version ${quote(found)}, which we do not know.`);
}
