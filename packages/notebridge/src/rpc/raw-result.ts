import type { JsonObject } from '@notebridge/kit/json';
import { setUnread, unreadOf } from './unread-members.js';

/** More members than any result has; comparing them all must stay cheaper than printing. */
const maxMembers = 32;

/**
 * The JSON text that a result came in, kept beside the result so that passing it on costs no printing. The text stands for the result
 * only while nobody can have changed anything in it. So whoever reads a member that could be changed in place ends that, and who
 * prints compares the others: layers between need not know that there is a text.
 */
interface RawResult {
  text: string | undefined;
  readonly members: readonly [string, unknown][];
}

interface Holder {
  readonly [rawResult]?: RawResult;
}

/** Hidden, so that no copy of the result (a spread, a clone) takes it along. */
const rawResult = Symbol('raw result');

/** Keeps the text of a value that has just been parsed from it. Once per value. */
export function keepRawText(value: JsonObject, text: string): void {
  const members = Object.entries(value);
  if (members.length > maxMembers) return;
  const kept: RawResult = { text, members };
  for (const [key, member] of members) {
    if (!isChangeable(member)) continue;
    const read = (): object => {
      kept.text = undefined;
      return member;
    };
    setUnread(value, key, { read });
  }
  Object.defineProperty(value, rawResult, { value: kept });
}

/** The text that stands for the value; undefined if none was kept, or it may be another value by now. */
export function rawTextOf(value: Holder & object): string | undefined {
  const kept = Object.hasOwn(value, rawResult) ? value[rawResult] : undefined;
  return kept?.text !== undefined && hasMembers(value as JsonObject, kept.members) ? kept.text : undefined;
}

/** True if it prints these members, and nothing else; those that could be changed in place are not read. */
function hasMembers(value: JsonObject, members: RawResult['members']): boolean {
  const keys = Object.keys(value);
  if (keys.length !== members.length || 'toJSON' in value) return false;
  return members.every(
    ([key, member], at) => key === keys[at] && (isChangeable(member) ? unreadOf(value, key) !== undefined : value[key] === member),
  );
}

function isChangeable(member: unknown): member is object {
  return typeof member === 'object' && member !== null;
}
