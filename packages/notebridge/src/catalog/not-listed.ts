import { BridgeError, type ErrorCode } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';

/** What they mean for a call is not so for a list: it may be asked for again whatever became of it. */
const ofCallsAlone: ReadonlySet<ErrorCode> = new Set(['hub_gone', 'page_gone', 'timeout', 'cancelled', 'limit_reached', 'internal']);

/**
 * An agent that is told that there is no such tool gives up: what merely could not be looked up, since `owner` was not listed, is said as that.
 * `data.ran` is `no`: nothing was called. A login that is asked for stays one.
 */
export function notListed(tool: unknown, owner: string, error: unknown): BridgeError {
  const { code, data } = error instanceof BridgeError ? error : { code: 'upstream_unavailable' as const, data: {} as JsonObject };
  // A server that went away meanwhile is said to have had a call.
  const isOfCall = ofCallsAlone.has(code) || data.ran === 'unknown';
  const why = isOfCall ? `They were asked for, and no answer came (${code}).` : messageOf(error);
  const next = code === 'login_required' ? '' : ' Call again later.';
  const text = `Whether there is a tool ${quote(tool)} is not known: those of "${owner}" could not be listed. ${why} Nothing was called.${next}`;
  return new BridgeError(isOfCall ? 'upstream_unavailable' : code, text, { data: { ...data, ran: 'no' }, cause: error });
}
