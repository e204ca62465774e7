import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject } from '@notebridge/protocol/json';
import { envelopeOf } from '@notebridge/protocol/rpc/modern-envelope';
import { quote } from '@notebridge/protocol/util/quote';
import type { RecordedEntry, Recording } from './read-recording.js';

/** The connection that is replayed: the one of that name; else what the agent saw; else the only one. Throws `bad_usage`, which names all. */
export function chooseLink(
  { links }: Recording,
  wanted: string | undefined,
  file: string,
): { name: string; entries: readonly RecordedEntry[] } {
  const names = [...links.keys()];
  const name = wanted ?? (links.has('agent') ? 'agent' : names.length === 1 ? names[0] : undefined);
  const entries = name === undefined ? undefined : links.get(name);
  if (name !== undefined && entries !== undefined) return { name, entries };
  if (names.length === 0) throw new BridgeError('bad_usage', `${quote(file)} holds no message: nothing connected while it was recorded.`);
  const found = wanted === undefined ? 'several connections and none of an agent' : `no connection ${quote(wanted)}`;
  throw new BridgeError('bad_usage', `${quote(file)} holds ${found}. Choose one with --link: ${names.join(', ')}.`);
}

/** What a link of a recording holds, of which eras its requests are, and how long it lasted from its first to its last line. Milliseconds. */
export function describeLink(entries: readonly RecordedEntry[]) {
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
