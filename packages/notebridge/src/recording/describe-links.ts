import { isJsonObject } from '@notebridge/kit/json';
import { envelopeOf } from '../rpc/modern-envelope.js';
import type { RecordedEntry } from './read-recording.js';

export interface LinkSummary {
  sessions: number;
  requests: number;
  messages: number;
  /** Which eras its requests are of. */
  eras: readonly ('legacy' | 'modern')[];
  /** From its first to its last line, milliseconds. */
  lastedMs: number;
}

/** What a link of a recording holds. */
export function describeLink(entries: readonly RecordedEntry[]): LinkSummary {
  const eras = new Set<'legacy' | 'modern'>();
  let requests = 0;
  let messages = 0;
  for (const entry of entries) {
    if (entry.kind !== 'message') continue;
    messages++;
    const { method, id, params } = entry.message;
    if (entry.from !== 'client' || typeof method !== 'string' || id === undefined) continue;
    requests++;
    if (method === 'initialize') eras.add('legacy');
    else if (isJsonObject(params) && envelopeOf(params) !== undefined && method !== 'server/discover') eras.add('modern');
  }
  return {
    sessions: new Set(entries.map(({ session }) => session)).size,
    requests,
    messages,
    eras: [...eras],
    lastedMs: (entries.at(-1)?.t ?? 0) - (entries[0]?.t ?? 0),
  };
}
