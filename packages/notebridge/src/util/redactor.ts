import { hideMeanings, mayHoldOddSpellings, meaningsOf } from './odd-spellings.js';

/** What takes secrets out of a text. */
export type Redacting = Pick<Redactor, 'redact'>;

/** What stands in the place of a secret. */
export const redactedMark = '[redacted]';

/** Takes secrets out of whatever text leaves for a log, a terminal or a file. The one place that knows what to hide. */
export class Redactor {
  readonly #secrets = new Set<string>();
  /** All spellings. Longest first: one that holds another would otherwise leave its tail behind. */
  #spellings: string[] = [];
  /** Of each secret. Made when a text first needs them. */
  #meanings: readonly Buffer[] | undefined;

  /** Hides this text from now on. Short texts are not secrets, and hiding them would garble everything. */
  add(secret: string): void {
    if (secret.length < 8 || this.#secrets.has(secret)) return;
    this.#secrets.add(secret);
    this.#update();
  }

  /** Releases one that has ended and opens nothing any more. */
  delete(secret: string): void {
    if (this.#secrets.delete(secret)) this.#update();
  }

  redact(text: string): string {
    let redacted = text;
    for (const spelling of this.#spellings) redacted = redacted.replaceAll(spelling, redactedMark);
    // Spelled otherwise than by the printers of JSON and URLs that are usual.
    return mayHoldOddSpellings(redacted) ? hideMeanings(redacted, this.#allMeanings(), redactedMark) : redacted;
  }

  #allMeanings(): readonly Buffer[] {
    this.#meanings ??= [...this.#secrets].flatMap((secret) => meaningsOf(secret));
    return this.#meanings;
  }

  #update(): void {
    this.#meanings = undefined;
    this.#spellings = [...new Set([...this.#secrets].flatMap(spellingsOf))].sort((a, b) => b.length - a.length);
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
