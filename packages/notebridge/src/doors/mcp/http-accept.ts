/** Which forms of an answer an agent takes. */
export interface Accepted {
  json: boolean;
  eventStream: boolean;
}

/** Reads an `Accept` header; none at all takes everything, as HTTP has it. */
export function parseAccept(header: string | undefined): Accepted {
  if (header === undefined) return { json: true, eventStream: true };
  const ranges = header.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase());
  const takes = (...names: string[]): boolean => names.some((name) => ranges.includes(name));
  return { json: takes('application/json', 'application/*', '*/*'), eventStream: takes('text/event-stream', 'text/*', '*/*') };
}
