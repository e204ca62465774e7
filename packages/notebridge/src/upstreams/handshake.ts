import { setImmediate as nextTurn } from 'node:timers/promises';
import { BridgeError, codeOf, errorTable, headerMismatchCode, RemoteError } from '@notebridge/protocol/core/errors';
import { type Era, isLegacyVersion, latestLegacyVersion, modernVersions } from '@notebridge/protocol/core/protocol-versions';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { serverInfoMetaKey } from '@notebridge/protocol/rpc/modern-envelope';
import { quote } from '@notebridge/protocol/util/quote';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import type { ServerConfig } from '../config/server-config.js';
import { fromFaultAnswer, startFaultOf } from './link.js';
import { listenForChanges } from './listen-for-changes.js';
import type { Handshake, UpstreamSession } from './upstream-session.js';

export interface HandshakeOptions {
  /** What the config says. */
  era: ServerConfig['era'];
  /** With `auto`: the era that this server has spoken before. It is asked for first, and the other one if it is refused. */
  known?: Era | undefined;
  clientInfo: JsonObject;
  /** For all of it. Milliseconds. */
  timeoutMs: number;
  /** What a server of the legacy era may ask back; one of the modern era is told in each call. */
  askable: JsonObject;
  /** How long a server may be silent to the question of the modern era before that of the legacy era is asked too. Milliseconds. */
  silenceMs: number;
}

/**
 * Agrees on an era and a version, and resolves to the era that the server has shown just now that it can speak: the modern one, or no more
 * than the legacy one. Undefined: the known one still holds, and nothing was asked. Rejects with what the server answered, or `timeout`.
 */
export async function performHandshake(session: UpstreamSession, options: HandshakeOptions): Promise<Era | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const { timeoutMs } = options;
    timer = setTimeout(() => reject(new BridgeError('timeout', `No answer to the handshake within ${timeoutMs} ms.`)), timeoutMs);
  });
  try {
    // The requests themselves have no time-out: what comes too late for a decision is not to be cancelled, nor reported as unexpected.
    return await Promise.race([agree(session, options), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function agree(session: UpstreamSession, options: HandshakeOptions): Promise<Era | undefined> {
  const { era, known } = options;
  if (era === 'legacy') return accept(session, await initialize(session, options));
  if (era === 'modern') return accept(session, await discover(session));
  if (known !== 'legacy') return askModernFirst(session, options);
  try {
    accept(session, await initialize(session, options));
    return undefined;
  } catch (error) {
    if (session.isClosed || isRefusal(error)) throw error;
    return accept(session, await discover(session).catch((second: unknown) => Promise.reject(telling(second, error))));
  }
}

/** A refusal that says nothing of eras is followed by the other question at once, silence by it after a while. */
async function askModernFirst(session: UpstreamSession, options: HandshakeOptions): Promise<Era> {
  const { known, silenceMs } = options;
  const discovering = discover(session);
  // One that has answered it before is only slow: `initialize` would bind many servers to the legacy era.
  const isSettled = known === 'modern' || (await settlesWithin(discovering, silenceMs));
  if (isSettled) {
    try {
      return accept(session, await discovering);
    } catch (error) {
      if (session.isClosed || isRefusal(error) || isOnlyModern(error)) throw error;
      return accept(session, await initialize(session, options).catch((second: unknown) => Promise.reject(telling(error, second))));
    }
  }
  const initializing = initialize(session, options);
  const first = await firstOf(discovering, initializing);
  if (first.era === 'legacy' && !(await hasAnsweredToo(discovering))) return accept(session, first);
  // It was slow, and has been sent an `initialize` by now. Does it still speak the modern way after that?
  const again = await discover(session).catch(() => undefined);
  accept(session, again ?? (await initializing));
  return 'modern';
}

/** The first that is good; if none is, what says most about why. */
async function firstOf(discovering: Promise<Handshake>, initializing: Promise<Handshake>): Promise<Handshake> {
  try {
    return await Promise.any([discovering, initializing]);
  } catch (error) {
    const [first, second]: unknown[] = error instanceof AggregateError ? error.errors : [error, error];
    throw telling(first, second);
  }
}

/** Of answers that came together, in one piece, either may be read first. */
async function hasAnsweredToo(discovering: Promise<Handshake>): Promise<boolean> {
  const answered = discovering.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, nextTurn(false)]);
}

async function initialize(session: UpstreamSession, { clientInfo, askable }: HandshakeOptions): Promise<Handshake> {
  const params = { protocolVersion: latestLegacyVersion, capabilities: askable, clientInfo };
  const answer = await session.requestPlain('initialize', params, {});
  const { protocolVersion } = answer;
  if (!isLegacyVersion(protocolVersion)) throw unknownVersion('initialize', protocolVersion);
  return { era: 'legacy', protocolVersion, ...toHandshake(answer, answer.serverInfo) };
}

/** A server that refuses the version is asked once more with the newest one of its list that we speak too. */
async function discover(session: UpstreamSession): Promise<Handshake> {
  try {
    return await discoverAs(session, modernVersions[modernVersions.length - 1] ?? '');
  } catch (error) {
    const supported = supportedVersionsOf(error);
    if (supported === undefined) throw error;
    const offered = newestModern(supported);
    if (offered !== undefined) return discoverAs(session, offered);
    throw unknownVersion('server/discover', supported);
  }
}

async function discoverAs(session: UpstreamSession, offered: string): Promise<Handshake> {
  const answer = await session.requestPlain('server/discover', session.toModernParams({}, offered), {});
  const { supportedVersions } = answer;
  const protocolVersion = Array.isArray(supportedVersions) ? newestModern(supportedVersions) : undefined;
  if (protocolVersion === undefined) throw unknownVersion('server/discover', supportedVersions);
  const meta = isJsonObject(answer._meta) ? answer._meta : {};
  return { era: 'modern', protocolVersion, ...toHandshake(answer, answer.serverInfo ?? meta[serverInfoMetaKey]) };
}

/** The newest of the list, which may stand in any order, that we speak. */
function newestModern(versions: readonly unknown[]): string | undefined {
  return modernVersions.findLast((version) => versions.includes(version));
}

function accept(session: UpstreamSession, handshake: Handshake): Era {
  session.agree(handshake);
  if (handshake.era === 'legacy') session.notify('notifications/initialized');
  else listenForChanges(session);
  return handshake.era;
}

function toHandshake(answer: JsonObject, serverInfo: unknown): Pick<Handshake, 'capabilities' | 'serverInfo' | 'instructions'> {
  return {
    capabilities: isJsonObject(answer.capabilities) ? answer.capabilities : {},
    serverInfo: isJsonObject(serverInfo) ? serverInfo : undefined,
    instructions: typeof answer.instructions === 'string' ? answer.instructions : undefined,
  };
}

/** Its `data.supported` lists what is served. */
const unsupportedVersionCode: number = errorTable.unsupported_version.rpcCode;

/** Errors that only a server of the modern era gives: header and body differ, a capability is missing, no such version. */
const modernCodes = new Set<number>([headerMismatchCode, errorTable.missing_capability.rpcCode, unsupportedVersionCode]);

/** The list of a server that does not serve the version it was asked in. */
function supportedVersionsOf(error: unknown): unknown[] | undefined {
  if (!(error instanceof RemoteError) || Number(error.raw.code) !== unsupportedVersionCode || !isJsonObject(error.raw.data))
    return undefined;
  const { supported } = error.raw.data;
  return Array.isArray(supported) && supported.length > 0 ? supported : undefined;
}

/**
 * It has understood the question of the modern era, and does not want the other one: some count an `initialize` as a fault, others are bound
 * by it to the legacy era. A list with a version of the legacy era says that it may be asked; an error of that code without a list, nothing.
 */
function isOnlyModern(error: unknown): boolean {
  const supported = supportedVersionsOf(error) ?? (error instanceof BridgeError ? error.data.supported : undefined);
  if (Array.isArray(supported)) return !supported.some(isLegacyVersion);
  return isModernError(error) && Number(error.raw.code) !== unsupportedVersionCode;
}

function isModernError(error: unknown): error is RemoteError {
  return error instanceof RemoteError && modernCodes.has(Number(error.raw.code));
}

/** Of two refusals that of `initialize` says more, unless the question of the modern era was understood. */
function telling(discovering: unknown, initializing: unknown): unknown {
  // What can be done about it says most.
  if (codeOf(fromFaultAnswer(discovering)) === 'login_required') return discovering;
  return codeOf(discovering) === 'handshake_failed' || isModernError(discovering) ? discovering : initializing;
}

/** Our key is refused: in no era is it a better one, and some servers lock out who sends it again. */
function isRefusal(error: unknown): boolean {
  return startFaultOf(error)?.status === 401 || codeOf(fromFaultAnswer(error)) === 'login_required';
}

function unknownVersion(method: string, found: unknown): BridgeError {
  const data = Array.isArray(found) && found.length > 0 ? { supported: found } : {};
  return new BridgeError('handshake_failed', `It answered "${method}" with protocol version ${quote(found)}, which we do not know.`, {
    data,
  });
}
