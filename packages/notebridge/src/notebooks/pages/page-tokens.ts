import { createToken, isSameToken } from '@notebridge/kit/token';
import type { Redactor } from '../../util/redactor.js';

/** Called with each token in the moment it is made, and in the moment it ends. */
export type Secrets = Pick<Redactor, 'add' | 'delete'>;

/** One page's way in: its token, and the one that it was offered for it, which it may have taken without our knowing. */
interface Pass {
  token: string;
  offered?: string | undefined;
}

/** Tokens that are valid at once. */
const maxTokens = 4;
/** Pages that may come back by a resume token. A page that was opened later makes the one that was seen longest ago give way. */
const maxReturning = 2;

/**
 * The tokens of a slot: one for the page that is opened next, and resume tokens for the pages that swapped it. A page's token ends when
 * the page is known to have the next one, and until then both let it in. A page never ends the token of another, except that of
 * the last but one, by being opened anew.
 */
export class PageTokens {
  readonly #secrets: Secrets | undefined;
  #entry: Pass;
  #isEntryKept = false;
  /** Seen last, last. */
  #returning: Pass[] = [];
  #isClosed = false;

  constructor(secrets?: Secrets) {
    this.#secrets = secrets;
    this.#entry = { token: this.#create() };
  }

  /** What a page that is opened now is given. */
  get entry(): string {
    return this.#entry.token;
  }

  /** True if the token lets a page in. Takes as long whichever it is. */
  admits(token: string): boolean {
    return this.#passOf(token) !== undefined;
  }

  /** Records that a page came by `token` that knows no other: the entry token then stays until `close`. */
  keep(token: string): void {
    if (isSameToken(token, this.#entry.token)) this.#isEntryKept = true;
  }

  /** A token that the page which came by `token` may have in its place; the same one until it is known to have it. */
  offer(token: string): string | undefined {
    let pass = this.#passOf(token);
    if (pass === undefined) return undefined;
    // Only a page that has kept it can come by it.
    if (pass.offered !== undefined && isSameToken(token, pass.offered)) pass = this.#swap(pass, pass.offered);
    if (pass === this.#entry) {
      if (this.#isEntryKept) return undefined;
      if (pass.offered === undefined && this.#tokens.length >= maxTokens) this.#endOldest();
    } else {
      this.#returning = [...this.#returning.filter((other) => other !== pass), pass];
    }
    // When the slot is full the page goes on with the token that it has.
    if (this.#tokens.length < maxTokens) pass.offered ??= this.#create();
    return pass.offered;
  }

  /** Ends the token that `offered` takes the place of. Accepting twice is harmless. */
  accept(offered: string): void {
    const pass = this.#passes.find((candidate) => candidate.offered === offered);
    if (pass !== undefined) this.#swap(pass, offered);
  }

  /** From now on no page is let in. */
  close(): void {
    this.#isClosed = true;
  }

  get #passes(): Pass[] {
    return [this.#entry, ...this.#returning];
  }

  get #tokens(): string[] {
    return this.#passes.flatMap(tokensOf);
  }

  #passOf(token: string): Pass | undefined {
    const fits = (pass: Pass): boolean => tokensOf(pass).filter((valid) => isSameToken(token, valid)).length > 0;
    return (this.#isClosed ? [] : this.#passes).filter(fits)[0];
  }

  #swap(pass: Pass, offered: string): Pass {
    const swapped: Pass = { token: offered };
    if (pass === this.#entry && this.#isEntryKept) {
      pass.offered = undefined;
    } else {
      this.#secrets?.delete(pass.token);
      if (pass === this.#entry) this.#entry = { token: this.#create() };
    }
    this.#returning = [...this.#returning.filter((other) => other !== pass), swapped];
    if (this.#returning.length > maxReturning) this.#endOldest();
    return swapped;
  }

  #endOldest(): void {
    const oldest = this.#returning.shift();
    for (const token of oldest === undefined ? [] : tokensOf(oldest)) this.#secrets?.delete(token);
  }

  #create(): string {
    const token = createToken();
    this.#secrets?.add(token);
    return token;
  }
}

function tokensOf({ token, offered }: Pass): string[] {
  return offered === undefined ? [token] : [token, offered];
}
