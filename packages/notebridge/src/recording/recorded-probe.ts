import { isJsonObject } from '@notebridge/protocol/json';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { recordingFormat } from './recording-format.js';

/** A recording in which an agent did no more than ask for the era. */
export interface RecordedProbe {
  /** Of its whole lines. */
  bytes: number;
  /** The process that wrote it last. */
  pid: number;
  /** When it began: milliseconds since 1970. */
  beganAt: number;
  /** How many sessions of each link it has. */
  sessions: ReadonlyMap<string, number>;
}

/**
 * Some hosts start a server once to ask for its era, end it, and start it again to work with it. Both are one session for who reads the
 * recording, and a replay needs both. Undefined for any other text, and for a recording of another version.
 */
export function toProbe(text: string, version: string): RecordedProbe | undefined {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const [header, ...lines] = whole.split('\n').slice(0, -1).map(tryJson);
  if (!isJsonObject(header) || header.notebridge !== 'recording' || header.format !== recordingFormat || header.version !== version)
    return undefined;
  let pid = Number(header.pid);
  const sessions = new Map<string, number>();
  for (const line of lines) {
    if (!isJsonObject(line) || line.stopped !== undefined) return undefined;
    if (isJsonObject(line.continued)) pid = Number(line.continued.pid);
    const { link, session, from, message } = line;
    if (typeof link === 'string') sessions.set(link, Math.max(sessions.get(link) ?? 0, Number(session)));
    if (link === 'agent' && from === 'client' && !(isJsonObject(message) && message.method === 'server/discover')) return undefined;
  }
  const beganAt = Date.parse(String(header.date));
  // Without an agent it is one of `serve`.
  if (!sessions.has('agent') || !Number.isInteger(pid) || Number.isNaN(beganAt)) return undefined;
  return { bytes: Buffer.byteLength(whole), pid, beganAt, sessions };
}
