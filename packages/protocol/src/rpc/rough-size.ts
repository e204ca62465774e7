import type { RoughSize } from '../core/call-observer.js';
import { hasUnread, longStringOf, rawTextOf } from './unread-members.js';

const maxNodes = 1000;

/**
 * The size of a value as JSON without printing it: texts by their UTF-16 units (long ones by their bytes), numbers and words as eight. It looks at the first
 * thousand members, so that measuring a result never costs more than the call did.
 */
export function roughSizeOf(value: unknown): RoughSize {
  const text = typeof value === 'object' && value !== null ? rawTextOf(value) : undefined;
  if (text !== undefined) return { bytes: text.length, isComplete: true };
  const walk = { bytes: 0, nodes: 0 };
  add(value, walk);
  return { bytes: walk.bytes, isComplete: walk.nodes <= maxNodes };
}

function add(value: unknown, walk: { bytes: number; nodes: number }): void {
  if (++walk.nodes > maxNodes || value === undefined) return;
  if (typeof value === 'string') walk.bytes += value.length + 2;
  else if (typeof value !== 'object' || value === null) walk.bytes += 8;
  else if (ArrayBuffer.isView(value)) walk.bytes += value.byteLength;
  else if (Array.isArray(value)) {
    walk.bytes += 2 + value.length;
    for (let index = 0; index < value.length && walk.nodes <= maxNodes; index++) add(value[index], walk);
  } else {
    walk.bytes += 2;
    const mayHold = hasUnread(value);
    for (const key in value) {
      if (walk.nodes > maxNodes) return;
      walk.bytes += key.length + 4;
      // One that nobody has read stays unread.
      const long = mayHold ? longStringOf(value, key) : undefined;
      if (long === undefined) add((value as Record<string, unknown>)[key], walk);
      else {
        walk.nodes++;
        walk.bytes += long.token.length;
      }
    }
  }
}
