import { byteLengthOf, type Printed } from '@notebridge/protocol/core/wire';
import { firstOfGreediest } from '@notebridge/protocol/util/first-of-greediest';
import { type Refusal, refuse } from '../http/refusal.js';

/** An answer that is ready to be sent. */
export interface Outcome {
  status: number;
  text: Printed;
  /** Names and values in turn. */
  headers: readonly string[];
  /** True if the tool may have run, so that a repetition must not run it again. */
  hasRun: boolean;
}

/** Whose answer it is, and by which key of theirs. */
export interface AnswerKey {
  holder: string;
  key: string;
}

/** Answers by `Idempotency-Key`. */
export interface AnswerStore {
  /**
   * Makes the call, or resolves to the answer of the same call under this key. `call` must not reject. `fingerprint` shows whether it is the
   * same call.
   */
  run(of: AnswerKey, fingerprint: string, call: () => Promise<Outcome>): Promise<Outcome | Refusal>;
}

export interface StoredAnswersOptions {
  maxAnswers: number;
  /** Of all answers together: bytes, or UTF-16 units of those that are text. */
  maxBytes: number;
  keepMs: number;
  now: () => number;
}

interface Entry {
  key: string;
  holder: string;
  fingerprint: string;
  outcome: Promise<Outcome>;
  /** Size and time of an answer that is there; undefined while the call runs. */
  stored: { size: number; at: number } | undefined;
}

/**
 * The answers of this process: the same call under the same key gets the answer of the first, and waits for it if need be.
 * When there are too many answers, the oldest of who has most goes first; calls that run are never forgotten.
 */
export class StoredAnswers implements AnswerStore {
  readonly #options: StoredAnswersOptions;
  /** In the order of storing. */
  readonly #entries = new Map<string, Entry>();
  /** Of the answers that are there: how many, and how large. */
  #count = 0;
  #size = 0;

  constructor(options: StoredAnswersOptions) {
    this.#options = options;
  }

  async run(of: AnswerKey, fingerprint: string, call: () => Promise<Outcome>): Promise<Outcome | Refusal> {
    this.#forgetOld();
    const key = `${of.holder} ${of.key}`;
    const entry = this.#entries.get(key);
    if (entry === undefined) return this.#runFirst({ key, holder: of.holder, fingerprint, outcome: call(), stored: undefined });
    if (entry.fingerprint !== fingerprint) return keyReused();
    const outcome = await entry.outcome;
    // The first was turned away before its tool could run: this one has its own try.
    if (!outcome.hasRun) return this.run(of, fingerprint, call);
    return replayed(outcome);
  }

  async #runFirst(entry: Entry): Promise<Outcome> {
    this.#entries.set(entry.key, entry);
    const outcome = await entry.outcome;
    this.#entries.delete(entry.key);
    const { text } = outcome;
    const size = typeof text === 'string' ? text.length : byteLengthOf(text);
    if (!outcome.hasRun || size > this.#options.maxBytes) return outcome;
    entry.stored = { size, at: this.#options.now() };
    this.#entries.set(entry.key, entry);
    this.#count++;
    this.#size += size;
    this.#forgetOld();
    return outcome;
  }

  #forgetOld(): void {
    const { maxAnswers, maxBytes, keepMs, now } = this.#options;
    const oldest = now() - keepMs;
    for (const entry of this.#entries.values()) {
      if (!isStored(entry)) continue;
      if (entry.stored.at > oldest) break;
      this.#forget(entry);
    }
    while (this.#count > maxAnswers || this.#size > maxBytes) {
      const weight = this.#count > maxAnswers ? () => 1 : ({ stored }: StoredEntry) => stored.size;
      const first = firstOfGreediest([...this.#entries.values()].filter(isStored), { of: ({ holder }) => holder, weight });
      if (first === undefined) return;
      this.#forget(first);
    }
  }

  #forget({ key, stored }: StoredEntry): void {
    this.#entries.delete(key);
    this.#count--;
    this.#size -= stored.size;
  }
}

type StoredEntry = Entry & { stored: NonNullable<Entry['stored']> };

function isStored(entry: Entry): entry is StoredEntry {
  return entry.stored !== undefined;
}

/** The answer as a repetition gets it. */
export function replayed(outcome: Outcome): Outcome {
  return { ...outcome, headers: [...outcome.headers, 'idempotency-replayed', 'true'] };
}

export function keyReused(): Refusal {
  const msg = 'This key came with another call before. Use a new key for each call, and the same one only to repeat it.';
  return refuse(422, [{ type: 'idempotency_key_reused', loc: ['header', 'idempotency-key'], msg }]);
}
