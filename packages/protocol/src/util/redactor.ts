import { hideEncoded } from './encoded-secrets.js';
import { canBeHidden, isPlainWord, type Secret } from './secrets.js';
import { hideInBytes, hideSpelled, type SoughtSecret, toSought } from './sought-secrets.js';

/** What takes secrets out of a text. */
export interface Redacting {
  /** The text without secrets, for a text that others wrote. */
  redact(text: string): string;
  /**
   * The text without secrets, for one that is partly ours, as a line of the log: a secret that is one plain word stays, since our sentences
   * may have the same.
   */
  redactOurs(text: string): string;
}

/** The mark in the place of a secret without a name. */
export const redactedMark = '[redacted]';
/** A pattern for all marks, of secrets with and without a name. */
export const redactedMarks = /\[redacted(?:: [^\]]{1,100})?\]/g;

/** The mark in the place of a secret: its name, and its last 4 characters if enough is left that is not shown. */
function markOf({ name, value }: Secret): string {
  const shown = name.replaceAll(/[^\w. -]+/g, '_').slice(0, 80);
  const end = value.slice(-4);
  return `[redacted: ${shown}${value.length >= 20 && /^\w{4}$/.test(end) ? ` …${end}` : ''}]`;
}

const mostForgotten = 1000;
/** Where none of these is, a text is spelled as it says. */
const signs = /[\\%+\t\r\n]| {2}/;

/** Takes secrets out of whatever text leaves for a log, a terminal or a file. `secrets.ts` says what one is. */
export class Redactor implements Redacting {
  /** Also of what was a secret when it was said: for what is kept as it came, and shown later. */
  readonly past: Redacting = {
    redact: (text) => this.#all.redact(text),
    redactOurs: (text) => this.#all.redactOurs(text),
  };
  /** Each with its mark. */
  readonly #own = new Map<string, string>();
  readonly #bySource = new Map<string, readonly Secret[]>();
  readonly #forgotten = new Map<string, string>();
  #current = new Hider(new Map());
  #all = this.#current;

  /** Hides this text from now on. Short texts are not secrets, and hiding them would garble everything. */
  add(secret: string): void {
    if (!canBeHidden(secret) || this.#own.has(secret)) return;
    this.#own.set(secret, redactedMark);
    this.#update();
  }

  /** Releases one that has ended and opens nothing any more. */
  delete(secret: string): void {
    if (this.#own.delete(secret)) this.#update();
  }

  /** Hides these, and forgets those that the same source had before. */
  replace(source: string, secrets: readonly Secret[]): void {
    for (const secret of this.#bySource.get(source) ?? []) {
      this.#forgotten.delete(secret.value);
      this.#forgotten.set(secret.value, markOf(secret));
    }
    for (const oldest of this.#forgotten.keys()) {
      if (this.#forgotten.size <= mostForgotten) break;
      this.#forgotten.delete(oldest);
    }
    if (secrets.length === 0) this.#bySource.delete(source);
    else this.#bySource.set(source, secrets);
    this.#update();
  }

  redact(text: string): string {
    return this.#current.redact(text);
  }

  /** Also where it is encoded, in Base64 or hex: for what others will read. */
  redactDeeply(text: string): string {
    return this.#current.redactDeeply(text);
  }

  /** Bytes of any kind without secrets, also in UTF-16. */
  redactBytes(bytes: Buffer): Buffer {
    return this.#current.redactBytes(bytes);
  }

  redactOurs(text: string): string {
    return this.#current.redactOurs(text);
  }

  #update(): void {
    const marks = new Map(this.#own);
    for (const secret of [...this.#bySource.values()].flat()) if (!marks.has(secret.value)) marks.set(secret.value, markOf(secret));
    this.#current = new Hider(marks);
    this.#all = this.#forgotten.size === 0 ? this.#current : new Hider(new Map([...this.#forgotten, ...marks]));
  }
}

/** Hides a fixed set of secrets. What it looks for is made when a text first needs it. */
class Hider {
  readonly #marks: ReadonlyMap<string, string>;
  #spellings: (readonly [spelling: string, mark: string, isPlain: boolean])[] | undefined;
  #sought: { all: SoughtSecret[]; ofNoPlainWord: SoughtSecret[] } | undefined;

  constructor(marks: ReadonlyMap<string, string>) {
    this.#marks = marks;
  }

  redact(text: string): string {
    return this.#hide(text, true);
  }

  redactOurs(text: string): string {
    return this.#hide(text, false);
  }

  redactDeeply(text: string): string {
    return hideEncoded(this.redact(text), this.#soughtOnes.all);
  }

  redactBytes(bytes: Buffer): Buffer {
    return hideInBytes(bytes, this.#soughtOnes.all);
  }

  #hide(text: string, withPlain: boolean): string {
    this.#spellings ??= this.#allSpellings();
    let redacted = text;
    for (const [spelling, mark, isPlain] of this.#spellings)
      if (withPlain || !isPlain) redacted = redacted.replaceAll(spelling, () => mark);
    // Spelled otherwise than by the printers of JSON and URLs that are usual.
    if (!signs.test(redacted)) return redacted;
    const { all, ofNoPlainWord } = this.#soughtOnes;
    return hideSpelled(redacted, withPlain ? all : ofNoPlainWord);
  }

  get #soughtOnes() {
    if (this.#sought !== undefined) return this.#sought;
    const all: SoughtSecret[] = [];
    const ofNoPlainWord: SoughtSecret[] = [];
    for (const [secret, mark] of this.#marks) {
      const one = toSought(secret, mark);
      all.push(one);
      if (!isPlainWord(secret)) ofNoPlainWord.push(one);
    }
    this.#sought = { all, ofNoPlainWord };
    return this.#sought;
  }

  /** Longest first: one that holds another would otherwise leave its tail behind. */
  #allSpellings() {
    const known = new Map(
      [...this.#marks].flatMap(([secret, mark]) => spellingsOf(secret).map((one) => [one, [mark, isPlainWord(secret)]] as const)),
    );
    return [...known].map(([spelling, [mark, isPlain]]) => [spelling, mark, isPlain] as const).sort(([a], [b]) => b.length - a.length);
  }
}

/** A text as it stands, inside JSON, inside JSON that is a string of JSON, and in a URL. */
function spellingsOf(secret: string): string[] {
  const inJson = inside(secret);
  // A lone half of a surrogate pair has no place in a URL.
  return [secret, inJson, inside(inJson), ...(loneSurrogate.test(secret) ? [] : [encodeURIComponent(secret)])];
}

const loneSurrogate = /\p{Surrogate}/u;

function inside(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
