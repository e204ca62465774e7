import { BridgeError } from '@notebridge/protocol/core/errors';
import { printMessage } from '@notebridge/protocol/core/wire';
import type { Redacting } from '@notebridge/protocol/util/redactor';
import { isLogLevel, type LogFilter, type LogLine, type RecentLog } from '../../recent/recent-log.js';
import type { HttpContext } from '../http/http-context.js';
import { awaitNews } from './await-news.js';
import { logQuery } from './owner-routes.js';
import type { OwnerBody } from './owner-schemas.js';
import { readQuery } from './read-query.js';

/**
 * The last lines of the log, as text without secrets. With `after`, the id that an answer gave as `last`, only those behind it: it waits
 * for the first. Rejects with `bad_params`.
 */
export async function answerLog(log: RecentLog, { request, query }: HttpContext, redactor: Redacting): Promise<string> {
  const { filter, after, limit } = parseQuery(query);
  const lines = await awaitNews(request.socket, {
    subscribe: (listener) => log.added.add(listener),
    look: () => log.list(filter, { ...(after === undefined ? {} : { after }), limit }),
    isNews: (found) => found.length > 0 || after === undefined || after > log.lastId,
  });
  const body: OwnerBody<'Log'> = { lines: lines.map(describeLine), last: log.lastId };
  return redactor.redactOurs(printMessage(body));
}

function describeLine({ id, time, level, message, fields }: LogLine): OwnerBody<'Log'>['lines'][number] {
  return { id, time: new Date(time).toISOString(), level, msg: message, fields };
}

function parseQuery(query: URLSearchParams): { filter: LogFilter; after: number | undefined; limit: number } {
  const { after, limit = 200, level, ...filter } = readQuery(query, logQuery);
  if (level === undefined) return { filter, after, limit };
  if (isLogLevel(level)) return { filter: { ...filter, level }, after, limit };
  throw new BridgeError('bad_params', `"level" is ${JSON.stringify(level)}; it must be info, warn or error.`);
}
