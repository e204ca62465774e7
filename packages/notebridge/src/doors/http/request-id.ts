import type { IncomingMessage } from 'node:http';

const usable = /^[\w.:+/=@-]{1,128}$/;

/** The id that the caller gave its request, if it can stand in a log and a header; else undefined. */
export function requestIdOf({ headers }: IncomingMessage): string | undefined {
  const id = headers['x-request-id'];
  return typeof id === 'string' && usable.test(id) ? id : undefined;
}
