/** What takes secrets out of a text. */
export type Redacting = Pick<Redactor, 'redact'>;

/** Takes secrets out of whatever text leaves for a log, a terminal or a file. The one place that knows what to hide. */
export class Redactor {
  /** Longest first: one that holds another would otherwise leave its tail behind. */
  #secrets: string[] = [];

  /** Hides this text from now on. Short texts are not secrets, and hiding them would garble everything. */
  add(secret: string): void {
    if (secret.length < 8 || this.#secrets.includes(secret)) return;
    this.#secrets = [...this.#secrets, secret].sort((a, b) => b.length - a.length);
  }

  /** Releases one that has ended and opens nothing any more. */
  delete(secret: string): void {
    this.#secrets = this.#secrets.filter((known) => known !== secret);
  }

  redact(text: string): string {
    let redacted = text;
    for (const secret of this.#secrets) redacted = redacted.replaceAll(secret, '[redacted]');
    return redacted;
  }
}
