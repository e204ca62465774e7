import { BridgeError } from '../core/errors.js';
import { quote } from '../util/quote.js';
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
