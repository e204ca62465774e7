import type { JsonObject } from '@notebridge/protocol/json';

/** The version of the format. A change that an older program would read wrongly takes the next one. */
export const recordingFormat = 1;

/** Largest recording: it is in memory as a whole, about seven times as large, when it is replayed. Bytes. */
export const maxRecordingBytes = 256 * 1024 ** 2;

/** Who sent a message, in the sense of MCP: the agent is the client of the hub, the hub is the client of its servers. */
export type RecordedSide = 'client' | 'server';

/** The first line of a recording. */
export interface RecordingHeader extends JsonObject {
  notebridge: 'recording';
  format: number;
  /** That of the program that wrote it. */
  version: string;
  /** When it began, as ISO 8601. */
  date: string;
  /** The process that writes it. */
  pid: number;
}

/**
 * Every other line. `t` is milliseconds since the beginning; `link` names the connection (`agent`, `page`, `server:NAME`), `session` counts
 * those of one name.
 */
export type RecordedLine =
  | { t: number; link: string; session: number; from: RecordedSide; message: unknown }
  | { t: number; link: string; session: number; from: RecordedSide; skipped: string }
  | { t: number; link: string; session: number; ended: RecordedSide; error?: string }
  | { t: number; stopped: string }
  /** Another process goes on with it. */
  | { t: number; continued: { pid: number } };
