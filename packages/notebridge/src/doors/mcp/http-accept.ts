import { mediaRangesOf } from '../http/event-stream.js';

/** Which forms of an answer an agent takes. */
export interface Accepted {
  json: boolean;
  eventStream: boolean;
}

/** Agents send the same one with every request. */
let last: { header: string | undefined; accepted: Readonly<Accepted> } | undefined;

/** What an `Accept` header takes; none at all takes everything, as HTTP has it. */
export function parseAccept(header: string | undefined): Readonly<Accepted> {
  if (last === undefined || last.header !== header) last = { header, accepted: read(header) };
  return last.accepted;
}

function read(header: string | undefined): Accepted {
  const ranges = mediaRangesOf(header) ?? ['*/*'];
  const takes = (...names: string[]): boolean => names.some((name) => ranges.includes(name));
  return { json: takes('application/json', 'application/*', '*/*'), eventStream: takes('text/event-stream', 'text/*', '*/*') };
}
