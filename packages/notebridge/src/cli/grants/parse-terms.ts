import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import { maxTtlMs } from '../../grants/grant.js';

const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a time like `90s`, `15m`, `8h`, `7d`. @throws BridgeError `bad_usage`. */
export function parseTime(text: string, option = '--ttl'): number {
  const [, number = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text.trim()) ?? [];
  const ms = Number(number) * (units[unit] ?? 0);
  if (ms > 0 && ms <= maxTtlMs) return ms;
  throw bad(option, text, 'a time like 90s, 15m, 8h or 7d, at most 30d');
}

/** @throws BridgeError `bad_usage`. */
export function parseCount(option: string, text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count) && count > 0) return count;
  throw bad(option, text, 'a whole number from 1');
}

/** Calls per minute of `60/m`; a bare number is meant so too. @throws BridgeError `bad_usage`. */
export function parseRate(text: string): number {
  const [, number] = /^(\d+)(?:\/m(?:in)?)?$/.exec(text) ?? [];
  if (number === undefined) throw bad('--rate', text, 'calls per minute, as in 60/m');
  return parseCount('--rate', number);
}

function bad(option: string, found: string, wanted: string): BridgeError {
  return new BridgeError('bad_usage', `${option} ${quote(found)} cannot be used: it must be ${wanted}.`);
}
