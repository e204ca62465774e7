import { hash } from 'node:crypto';
import { byteLengthOf } from '@notebridge/protocol/core/wire';
import { isJsonObject } from '@notebridge/protocol/json';
import { deriveKey } from '@notebridge/protocol/util/derive-key';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import { SealedTexts } from '@notebridge/protocol/util/sealed-text';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { type SharedStore, StoreConflict, StoreUnavailable } from '@notebridge/system/files/shared-store';
import { isRefusal, type Refusal, refuse } from '../http/refusal.js';
import { type AnswerKey, type AnswerStore, keyReused, type Outcome, replayed } from './stored-answers.js';

export interface SharedAnswersOptions {
  store: SharedStore;
  runtime: Runtime;
  /** What all hubs of the cluster have, and nobody else. */
  clusterKey: Uint8Array;
  /** The id of this hub's life, as the others see it. Asked for each call. */
  hubId: () => string;
  /** False for a hub that has certainly ended. */
  isHubAlive: (id: string) => boolean;
  /** Keeps what is too large for the store: the answers of a hub that is alone. */
  large: AnswerStore;
  /** How long answers are kept, milliseconds. */
  keepMs: number;
  logger?: Logger;
}

/** However long a call runs, its key is not forgotten before. Milliseconds. */
const runningMs = 24 * 60 * 60_000;
/** Without the store for so long, no call is begun. Milliseconds. */
const giveUpMs = 5000;
/** A hub that has just come may not be told of yet, and one that has just ended may have answered right before. Milliseconds. */
const goneForMs = 2000;
const shortestPauseMs = 50;
const longestPauseMs = 1000;

type Found = SharedAnswer & { revision: number };

/**
 * Answers by `Idempotency-Key` for all hubs of a cluster: the hub whose entry was created first makes the call; the others wait for its answer. If that
 * hub ends before it has answered, the outcome is unknown, and the call is not made again.
 */
export class SharedAnswers implements AnswerStore {
  readonly #options: SharedAnswersOptions;
  readonly #seals: SealedTexts;
  readonly #logger: Logger;
  /** Those whose outcome is not in the store yet. */
  readonly #running = new Map<string, { fingerprint: string; outcome: Promise<Outcome | Refusal> }>();
  readonly #writing = new Set<Promise<void>>();

  constructor(options: SharedAnswersOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#seals = new SealedTexts(deriveKey(options.clusterKey, 'answers'), options.runtime);
  }

  async run(of: AnswerKey, fingerprint: string, call: () => Promise<Outcome>): Promise<Outcome | Refusal> {
    const { holder } = of;
    // Keys are what callers made up, of any length and with any character.
    const key = `answer.${hash('sha256', `${holder} ${of.key}`, 'base64url')}`;
    const running = this.#running.get(key);
    if (running === undefined) return this.#runFirst({ holder, key }, fingerprint, call);
    if (running.fingerprint !== fingerprint) return keyReused();
    const outcome = await running.outcome;
    if (isRefusal(outcome)) return outcome;
    return outcome.hasRun ? asReplayed(outcome) : this.run(of, fingerprint, call);
  }

  /** Resolves when what calls have answered is in the store. For a hub that ends. */
  async settled(): Promise<void> {
    await Promise.all(this.#writing);
  }

  async #runFirst(of: AnswerKey, fingerprint: string, call: () => Promise<Outcome>): Promise<Outcome | Refusal> {
    const outcome = this.#perform(of, fingerprint, call);
    const running = { fingerprint, outcome };
    this.#running.set(of.key, running);
    try {
      return await outcome;
    } finally {
      this.#running.delete(of.key);
    }
  }

  async #perform(of: AnswerKey, fingerprint: string, call: () => Promise<Outcome>): Promise<Outcome | Refusal> {
    const mark = this.#options.runtime.bytes(9).toString('base64url');
    const mine: SharedAnswer = { fingerprint, hub: this.#options.hubId(), mark, state: 'running' };
    const since = this.#options.runtime.steady();
    for (;;) {
      const claimed = await this.#claim(of.key, mine);
      if (claimed === undefined) return notReached();
      if (claimed.mark === mark) return this.#make(of, claimed, call);
      const followed = await this.#follow(of, claimed, { fingerprint, since });
      // Its call was refused before it could run: this one has its own try.
      if (followed !== undefined) return followed;
    }
  }

  /** This entry if it is the first, or the one that is there. Undefined: the store cannot be reached, and no call may be made. */
  async #claim(key: string, mine: SharedAnswer): Promise<Found | undefined> {
    const { store } = this.#options;
    const value = printSharedAnswer(key, mine, this.#seals);
    const pauses = new Pauses(this.#options.runtime);
    while (pauses.lastedMs < giveUpMs) {
      try {
        return { ...mine, revision: await store.create(key, value, { ttlMs: runningMs }) };
      } catch (error) {
        if (!(error instanceof StoreConflict || error instanceof StoreUnavailable)) throw error;
        // Nothing there: the read was old, or it has gone meanwhile.
        const found = error instanceof StoreConflict ? await this.#read(key) : undefined;
        if (found !== undefined) return found;
      }
      await pauses.next();
    }
    this.#write(this.#withdraw(key, mine, value));
    return undefined;
  }

  async #make(of: AnswerKey, mine: Found, call: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = await call();
    this.#write(this.#put(of.key, mine, outcome.hasRun ? await this.#toEntry(of, mine, outcome) : undefined));
    return outcome;
  }

  /** What other hubs find under the key. */
  async #toEntry({ holder, key }: AnswerKey, mine: Found, outcome: Outcome): Promise<string> {
    const seals = this.#seals;
    const answered = printAnswered(key, mine, { outcome, seals });
    if (answered !== undefined) return answered;
    await this.#options.large.run({ holder, key: mine.mark }, mine.fingerprint, () => Promise.resolve(outcome));
    return printSharedAnswer(key, { ...mine, state: 'kept' }, seals);
  }

  /** Waits for the answer of the hub that makes the call. Undefined: there is none, and the key is free. */
  async #follow(
    { holder, key }: AnswerKey,
    first: Found,
    { fingerprint, since }: { fingerprint: string; since: number },
  ): Promise<Outcome | Refusal | undefined> {
    const { runtime, keepMs, isHubAlive } = this.#options;
    const pauses = new Pauses(runtime);
    let goneSince: number | undefined;
    for (let found: Found | undefined = first; found !== undefined; found = await this.#readOr(key, found)) {
      if (found.fingerprint !== fingerprint) return keyReused();
      if (found.state === 'kept') return this.#takeLarge(holder, found);
      if (found.state !== 'running') return asReplayed(found.state);
      const now = runtime.steady();
      goneSince = isHubAlive(found.hub) ? undefined : (goneSince ?? now);
      if (goneSince !== undefined && now - goneSince >= goneForMs) return unknownOutcome();
      if (now - since > keepMs) return stillRuns();
      await pauses.next();
    }
    return undefined;
  }

  async #takeLarge(holder: string, { hub, mark, fingerprint }: Found): Promise<Outcome | Refusal> {
    if (hub !== this.#options.hubId()) return keptElsewhere();
    let isThere = true;
    const outcome = await this.#options.large.run({ holder, key: mark }, fingerprint, () => {
      isThere = false;
      return Promise.resolve({ status: 409, text: '', headers: [], hasRun: false });
    });
    return isThere ? outcome : keptElsewhere();
  }

  async #read(key: string): Promise<Found | undefined> {
    const entry = await this.#options.store.get(key).catch(() => undefined);
    const read = entry && readSharedAnswer(key, entry.value, this.#seals);
    return entry && read && { ...read, revision: entry.revision };
  }

  /** Without an answer of the store: as it was. */
  async #readOr(key: string, before: Found): Promise<Found | undefined> {
    try {
      const entry = await this.#options.store.get(key);
      const read = entry && readSharedAnswer(key, entry.value, this.#seals);
      return entry && read && { ...read, revision: entry.revision };
    } catch {
      return before;
    }
  }

  /** An entry that may have been made, of a call that is not. */
  async #withdraw(key: string, mine: SharedAnswer, value: string): Promise<void> {
    const pauses = new Pauses(this.#options.runtime);
    while (pauses.lastedMs < this.#options.keepMs) {
      try {
        const revision = await this.#options.store.create(key, value, { ttlMs: runningMs });
        return await this.#put(key, { ...mine, revision }, undefined);
      } catch (error) {
        const found = error instanceof StoreConflict ? await this.#read(key) : undefined;
        if (found !== undefined) return found.mark === mine.mark ? await this.#put(key, found, undefined) : undefined;
      }
      await pauses.next();
    }
  }

  /** Writes over the entry of a call that has ended, or removes it. */
  async #put(key: string, mine: Found, value: string | undefined): Promise<void> {
    const { store, runtime, keepMs } = this.#options;
    const pauses = new Pauses(runtime);
    while (pauses.lastedMs < keepMs) {
      try {
        if (value === undefined) await store.remove(key, mine.revision);
        else await store.update(key, value, mine.revision, { ttlMs: keepMs });
        return;
      } catch (error) {
        // It was written by the try before, whose answer was lost: nobody else writes over it.
        if (error instanceof StoreConflict) return;
        if (!(error instanceof StoreUnavailable)) throw error;
      }
      await pauses.next();
    }
    this.#logger.warn('The answer of a call with an Idempotency-Key could not be stored for the other hubs.');
  }

  /** Nobody waits for it: who repeats the call waits for the entry. */
  #write(work: Promise<void>): void {
    const written = work
      .catch((error: unknown) => this.#logger.warn(`The answer of a call could not be stored: ${messageOf(error)}`))
      .finally(() => this.#writing.delete(written));
    this.#writing.add(written);
  }
}

/** Pauses that grow. */
class Pauses {
  readonly #runtime: Runtime;
  readonly #since: number;
  #ms = shortestPauseMs;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#since = runtime.steady();
  }

  get lastedMs(): number {
    return this.#runtime.steady() - this.#since;
  }

  async next(): Promise<void> {
    const ms = this.#ms;
    this.#ms = Math.min(longestPauseMs, ms * 2);
    await new Promise<void>((resolve) => this.#runtime.after(ms, resolve));
  }
}

function asReplayed(outcome: Outcome): Outcome {
  return outcome.headers.includes('idempotency-replayed') ? outcome : replayed(outcome);
}

function notReached(): Refusal {
  const detail =
    'The store of the cluster does not answer, so nobody can tell whether this call was made before. It was not made. Try again.';
  return { ...refuse(503, detail, ['retry-after', '5']), more: { error_code: 'cluster_unavailable' } };
}

function unknownOutcome(): Refusal {
  const detail =
    'The hub that made the call of this Idempotency-Key has ended before it answered. Whether the call had an effect is unknown; it was not repeated. Look at what it was to do, then use a new key.';
  return { ...refuse(409, detail), more: { error_code: 'hub_gone' } };
}

function keptElsewhere(): Refusal {
  const detail =
    'The call of this Idempotency-Key has run, and its answer is too large for the store of the cluster: only the hub that made the call has it, as long as it keeps it. It was not run again.';
  return { ...refuse(409, detail), more: { error_code: 'answer_gone' } };
}

function stillRuns(): Refusal {
  return refuse(409, 'The call of this Idempotency-Key still runs at another hub. It was not made again. Repeat it later.', [
    'retry-after',
    '60',
  ]);
}

/** What the hubs of a cluster know of the calls under one key. */
interface SharedAnswer {
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
function printAnswered(
  key: string,
  running: SharedAnswer,
  { outcome, seals }: { outcome: Outcome; seals: SealedTexts },
): string | undefined {
  // What could not fit in any case is not printed to find that out.
  if (byteLengthOf(outcome.text) > maxSealedBytes) return undefined;
  const sealed = printSharedAnswer(key, { ...running, state: outcome }, seals);
  return sealed.length > maxSealedBytes ? undefined : sealed;
}

function printSharedAnswer(key: string, { state, ...answer }: SharedAnswer, seals: SealedTexts): string {
  return seals.seal(key, JSON.stringify({ form, ...answer, state: typeof state === 'string' ? state : toText(state) }));
}

/** Undefined for what no hub of this cluster has written, or one of a newer version. */
function readSharedAnswer(key: string, value: string, seals: SealedTexts): SharedAnswer | undefined {
  const read = tryJson(seals.open(key, value) ?? '');
  return isJsonObject(read) && read.form === form ? (read as unknown as SharedAnswer) : undefined;
}

function toText({ text, ...outcome }: Outcome): Outcome {
  return { ...outcome, text: typeof text === 'string' ? text : Buffer.concat(text).toString('utf8') };
}
