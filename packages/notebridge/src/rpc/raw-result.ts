import type { JsonObject } from '@notebridge/kit/json';
import { setUnread } from './unread-members.js';

/** More members than any result has; comparing them all must stay cheaper than printing. */
const maxMembers = 32;

/**
 * The JSON text that a result came in, kept beside the result so that passing it on costs no printing. The text stands for the result
 * only while nothing in it can have been changed. So reading a member that could be changed in place ends that, and whatever
 * prints the result compares what there is to see: layers between need not know that there is a text.
 */
interface RawResult {
  text: string | undefined;
  members: Members;
}

interface Holder {
  readonly [rawResult]?: RawResult;
}

/** Hidden, so that no copy of the result (a spread, a clone) takes it along. */
const rawResult = Symbol('raw result');

/** Keeps the text of a value that has just been parsed from it. Once per value. */
export function keepRawText(value: JsonObject, text: string): void {
  const entries = Object.entries(value);
  if (entries.length > maxMembers) return;
  const kept: RawResult = { text, members: [] };
  for (const [key, member] of entries) {
    if (typeof member !== 'object' || member === null) continue;
    const read = (): object => {
      kept.text = undefined;
      return member;
    };
    setUnread(value, key, { read });
  }
  Object.defineProperty(value, rawResult, { value: kept });
  kept.members = membersOf(value);
}

/** The text that stands for the value; undefined if none was kept, or it may be another value by now. */
export function rawTextOf(value: Holder & object): string | undefined {
  const kept = Object.hasOwn(value, rawResult) ? value[rawResult] : undefined;
  if (kept?.text === undefined) return undefined;
  // A prototype could have a `toJSON`.
  const isAsItCame = Object.getPrototypeOf(value) === Object.prototype && areSame(membersOf(value), kept.members);
  return isAsItCame ? kept.text : undefined;
}

type Members = readonly [string, PropertyDescriptor][];

/** What there is to see of an object without reading its members. */
function membersOf(value: object): Members {
  return Object.entries(Object.getOwnPropertyDescriptors(value));
}

function areSame(some: Members, others: Members): boolean {
  return (
    some.length === others.length &&
    some.every(([key, { get, value, enumerable }], at) => {
      const [otherKey, other] = others[at] as Members[number];
      return key === otherKey && get === other.get && Object.is(value, other.value) && enumerable === other.enumerable;
    })
  );
}
