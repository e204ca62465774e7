import type { LoggerLevel } from '@notebridge/kit/logger';
import { printMessage } from '../../core/wire.js';
import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import { askOwner } from '../client/hub-request.js';
import { abortOnSignal } from '../process-life.js';
import { paintFor } from '../terminal.js';
import { toTextLine } from '../terminal-logger.js';
import { ownHub } from './own-hub.js';

export interface LogsOptions {
  follow?: boolean;
  server?: string;
  call?: string;
  level?: LoggerLevel;
  lines: number;
  json?: boolean;
}

/** The hub answers at once, or within 25 s if there is nothing new. Milliseconds. */
const askMs = 40_000;

/** Prints the last lines; with `follow` also those that come, until a signal. Rejects with `closed` without a hub, or when it ends. */
export async function showLogs({ follow = false, server, call, level, lines, json = false }: LogsOptions): Promise<void> {
  const hub = await ownHub();
  const { stdout } = process;
  const paint = paintFor(stdout);
  const stopped = follow ? abortOnSignal() : new AbortController().signal;
  const query = new URLSearchParams({ limit: String(lines) });
  for (const [name, value] of Object.entries({ server, call, level })) if (value !== undefined) query.set(name, value);
  const ask = () => askOwner<'Log'>(hub, `/logs?${query}`, { timeoutMs: askMs, signal: stopped });
  const print = ({ lines: found, last }: OwnerBody<'Log'>): void => {
    for (const { time, level: own, msg: message, fields, ...rest } of found) {
      const line = json
        ? printMessage({ ...rest, level: own, time, ...fields, msg: message })
        : toTextLine({ level: own, message, fields, time: new Date(time) }, paint);
      stdout.write(`${line}\n`);
    }
    query.set('after', String(last));
  };
  if (!follow) return print(await ask());
  while (!stopped.aborted) {
    const answer = await ask().catch((error: unknown) => {
      if (stopped.aborted) return undefined;
      throw error;
    });
    if (answer !== undefined) print(answer);
  }
}
