import { isJsonObject } from '@notebridge/kit/json';
import { byteLengthOf } from '../../core/wire.js';
import type { SealedTexts } from '../../util/sealed-text.js';
import { tryJson } from '../../util/try-json.js';
import type { Outcome } from './stored-answers.js';

/** What the hubs of a cluster know of the calls under one key. */
export interface SharedAnswer {
  fingerprint: string;
  /** The id of the hub that makes or made the call. */
  hub: string;
  /** Of the request that made this entry, so that its hub knows it again. */
  mark: string;
  /** `kept`: the answer is too large for the store; its hub alone has it. */
  state: 'running' | 'kept' | Outcome;
}

/** Of the form of entries. */
const form = 1;
/** The largest entry of an answer, as it is sealed: a third more than JSON has of it. The store takes a little more. Bytes. */
const maxSealedBytes = 480 * 1024;

/** The entry of a call that was answered; undefined if it is too large for the store. */
export function printAnswered(
  key: string,
  running: SharedAnswer,
  { outcome, seals }: { outcome: Outcome; seals: SealedTexts },
): string | undefined {
  // What could not fit in any case is not printed to find that out.
  if (byteLengthOf(outcome.text) > maxSealedBytes) return undefined;
  const sealed = printSharedAnswer(key, { ...running, state: outcome }, seals);
  return sealed.length > maxSealedBytes ? undefined : sealed;
}

export function printSharedAnswer(key: string, { state, ...answer }: SharedAnswer, seals: SealedTexts): string {
  return seals.seal(key, JSON.stringify({ form, ...answer, state: typeof state === 'string' ? state : toText(state) }));
}

/** Undefined for what no hub of this cluster has written, or one of a newer version. */
export function readSharedAnswer(key: string, value: string, seals: SealedTexts): SharedAnswer | undefined {
  const read = tryJson(seals.open(key, value) ?? '');
  return isJsonObject(read) && read.form === form ? (read as unknown as SharedAnswer) : undefined;
}

function toText({ text, ...outcome }: Outcome): Outcome {
  return { ...outcome, text: typeof text === 'string' ? text : Buffer.concat(text).toString('utf8') };
}
