import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '@notebridge/kit/json';
import { BridgeError } from '../../core/errors.js';
import { printMessage } from '../../core/wire.js';
import { isLogLevel, type LogFilter, type LogLine, type RecentLog } from '../../recent/recent-log.js';
import { AsyncEvent } from '../../util/async-event.js';
import type { Redacting } from '../../util/redactor.js';
import type { HttpContext } from '../http/http-context.js';
import { anyId, type NumberRange, toNumber } from './call-routes.js';

/** How long a question for lines behind the last one waits for them. Milliseconds. */
const newsMs = 25_000;
/** Lines often come together. Milliseconds. */
const settleMs = 50;
const usualLimit = 200;
export const logLimit: NumberRange = { least: 1, most: 2000 };

/**
 * The last lines of the log, as text without secrets. With `after`, the id that an answer gave as `last`, only those behind it: it waits up to 25 s
 * for the first, so that one who follows the log asks seldom. Rejects with `bad_params`.
 */
export async function answerLog(log: RecentLog, { request, query }: HttpContext, redactor: Redacting): Promise<string> {
  const { filter, after, limit } = parseQuery(query);
  const added = new AsyncEvent();
  const unsubscribe = log.added.add(() => added.set());
  const left = new AbortController();
  const leave = (): void => left.abort();
  request.socket.once('close', leave);
  try {
    const found = (): LogLine[] => log.list(filter, { ...(after === undefined ? {} : { after }), limit });
    let lines = found();
    if (lines.length === 0 && after !== undefined && after <= log.lastId && (await added.wait(newsMs, left.signal))) {
      await delay(settleMs);
      lines = found();
    }
    return redactor.redactOurs(printMessage({ lines: lines.map(describeLine), last: log.lastId }));
  } finally {
    unsubscribe();
    // The connection is kept for further requests.
    request.socket.removeListener('close', leave);
  }
}

function describeLine({ id, time, level, message, fields }: LogLine): JsonObject {
  return { id, time: new Date(time).toISOString(), level, msg: message, fields };
}

function parseQuery(query: URLSearchParams): { filter: LogFilter; after: number | undefined; limit: number } {
  const filter: LogFilter = {};
  let [after, limit]: [number | undefined, number] = [undefined, usualLimit];
  for (const [name, value] of query) {
    if (name === 'server' || name === 'call') filter[name] = value;
    else if (name === 'level' && isLogLevel(value)) filter.level = value;
    else if (name === 'level') throw new BridgeError('bad_params', `"level" is ${JSON.stringify(value)}; it must be info, warn or error.`);
    else if (name === 'limit') limit = toNumber(name, value, logLimit);
    else if (name === 'after') after = toNumber(name, value, anyId);
    else throw new BridgeError('bad_params', `There is no ${JSON.stringify(name)}; there are server, call, level, limit, after.`);
  }
  return { filter, after, limit };
}
