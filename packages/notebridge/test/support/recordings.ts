import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { onTestFinished } from 'vitest';
import { programFile } from './program.js';

/** A folder that is removed when the test ends. */
export function recordingFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-recording-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The whole lines of a recording. */
export function recordedLines(file: string): JsonObject[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JsonObject);
}

/** The methods of the requests on a link, in order. */
export function recordedMethods(file: string, link: string): string[] {
  return recordedLines(file).flatMap((line) => {
    const { message } = line;
    return line.link === link && line.from === 'client' && isJsonObject(message) && message.id !== undefined && message.method !== undefined
      ? [String(message.method)]
      : [];
  });
}

/** A recorded connection as a server of a config. */
export function replayedServer(file: string, link: string): JsonObject {
  return { command: process.execPath, args: [programFile, 'replay', file, '--link', link] };
}
