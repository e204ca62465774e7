import type { Redactor } from '@notebridge/protocol/util/redactor';
import { createToken, digestOf, isSameDigest } from '@notebridge/protocol/util/token';

/** Called with each token in the moment it is made, and in the moment it ends. */
export type Secrets = Pick<Redactor, 'add' | 'delete'>;

/** The tokens of a slot as they stand on disk: digests alone (base64url of SHA-256), so that who reads the file gets in nowhere. */
export interface KeptTokens {
  /** Of each page that may come: its token's, and that of the one which it was offered. The page that was seen last, last. */
  passes: readonly { token: string; offered?: string }[];
  /** Tokens of pages that know no other, which are valid until the slot is closed. */
  lasting: readonly string[];
}

/** One that was read from disk has no text until a page shows it. */
interface Token {
  digest: Buffer;
  text?: string;
}

/** One page's way in: its token, and the one that it was offered for it, which it may have taken without our knowing. */
interface Pass {
  token: Token;
  offered?: Token | undefined;
}

/** Tokens that are valid at once, besides those of an earlier process. */
const maxTokens = 4;
/** Pages that may come back by a resume token. A page that was opened later makes the one that was seen longest ago give way. */
const maxReturning = 2;
/** Pages of earlier processes that may come back, of each kind. */
export const maxRestored = 4;

/**
 * The tokens of a slot: one for the page that is opened next, and resume tokens for the pages that swapped it. A page's token ends when
 * the page is known to have the next one, and until then both let it in. A page never ends the token of another, except that of
 * the last but one, by being opened anew. With `kept`, pages of an earlier process may come back.
 */
export class PageTokens {
  readonly #secrets: Secrets | undefined;
  #entry: Pass;
  #isEntryKept = false;
  /** Seen last, last. */
  #returning: Pass[] = [];
  /** Of an earlier process; not seen since. */
  #restored: Pass[];
  #lasting: Token[];
  #isClosed = false;

  constructor(secrets?: Secrets, kept: KeptTokens = { passes: [], lasting: [] }) {
    this.#secrets = secrets;
    this.#entry = { token: this.#create() };
    this.#restored = kept.passes
      .slice(-maxRestored)
      .map(({ token, offered }) => ({ token: fromDisk(token), offered: offered === undefined ? undefined : fromDisk(offered) }));
    this.#lasting = kept.lasting.slice(-maxRestored).map(fromDisk);
  }

  /** What a page that is opened now is given. */
  get entry(): string {
    return this.#entry.token.text as string;
  }

  /** What lets pages in after a restart. */
  get kept(): KeptTokens {
    const toDisk = ({ digest }: Token): string => digest.toString('base64url');
    const passes = [...this.#restored, ...(this.#isEntryKept ? [] : [this.#entry]), ...this.#returning].slice(-maxRestored);
    return {
      passes: passes.map(({ token, offered }) => ({ token: toDisk(token), ...(offered && { offered: toDisk(offered) }) })),
      lasting: [...this.#lasting, ...(this.#isEntryKept ? [this.#entry.token] : [])].slice(-maxRestored).map(toDisk),
    };
  }

  /** True if the token lets a page in. Compares in constant time, and takes as long whichever it is. */
  admits(token: string): boolean {
    return this.admitsDigest(digestOf(token));
  }

  /** As `admits`, for the digest of a token: who asks many slots makes it once. */
  admitsDigest(digest: Buffer): boolean {
    const lasting = this.#lasting.filter((token) => isSameDigest(digest, token.digest));
    const pass = this.#passOf(digest);
    return !this.#isClosed && (pass !== undefined || lasting.length > 0);
  }

  /** Records that a page came by `token` that knows no other: it then stays until `close`. */
  keep(token: string): void {
    const pass = this.#passOf(digestOf(token));
    if (pass === this.#entry) this.#isEntryKept = true;
    if (pass === undefined || !this.#restored.includes(pass)) return;
    this.#restored = this.#restored.filter((other) => other !== pass);
    this.#lasting = [...this.#lasting, pass.token].slice(-maxRestored);
  }

  /** A token that the page which came by `token` may have in its place; the same one until it is known to have it. */
  offer(token: string): string | undefined {
    const digest = digestOf(token);
    let pass = this.#passOf(digest);
    if (pass === undefined) return undefined;
    this.#restored = this.#restored.filter((other) => other !== pass);
    // Only a page that has kept it can come by it.
    if (pass.offered !== undefined && isSameDigest(digest, pass.offered.digest)) pass = this.#swap(pass, pass.offered);
    if (pass === this.#entry) {
      if (this.#isEntryKept) return undefined;
      if (pass.offered === undefined && this.#tokens.length >= maxTokens) this.#endOldest();
    } else {
      this.#returning = [...this.#returning.filter((other) => other !== pass), pass];
      if (this.#returning.length > maxReturning) this.#endOldest();
    }
    // One that an earlier process has offered cannot be shown again; the page did not come by it, so it has not kept it.
    if (pass.offered?.text === undefined) pass.offered = undefined;
    // When the slot is full the page goes on with the token that it has.
    if (this.#tokens.length < maxTokens) pass.offered ??= this.#create();
    return pass.offered?.text;
  }

  /** Takes back an offer that no page was told of. */
  withdraw(offered: string): void {
    const pass = this.#passes.find((candidate) => candidate.offered?.text === offered);
    if (pass === undefined) return;
    this.#secrets?.delete(offered);
    pass.offered = undefined;
  }

  /** Ends the token that `offered` takes the place of. Accepting twice is harmless. */
  accept(offered: string): void {
    const pass = this.#passes.find((candidate) => candidate.offered?.text === offered);
    if (pass?.offered !== undefined) this.#swap(pass, pass.offered);
  }

  /** From now on no page is let in. */
  close(): void {
    this.#isClosed = true;
  }

  get #passes(): Pass[] {
    return [this.#entry, ...this.#returning];
  }

  get #tokens(): Token[] {
    return this.#passes.flatMap(tokensOf);
  }

  #passOf(digest: Buffer): Pass | undefined {
    const fits = (pass: Pass): boolean => tokensOf(pass).filter((valid) => isSameDigest(digest, valid.digest)).length > 0;
    return (this.#isClosed ? [] : [...this.#passes, ...this.#restored]).filter(fits)[0];
  }

  #swap(pass: Pass, offered: Token): Pass {
    const swapped: Pass = { token: offered };
    if (pass === this.#entry && this.#isEntryKept) {
      pass.offered = undefined;
    } else {
      this.#end(pass.token);
      if (pass === this.#entry) this.#entry = { token: this.#create() };
    }
    this.#returning = [...this.#returning.filter((other) => other !== pass), swapped];
    if (this.#returning.length > maxReturning) this.#endOldest();
    return swapped;
  }

  #endOldest(): void {
    const oldest = this.#returning.shift();
    for (const token of oldest === undefined ? [] : tokensOf(oldest)) this.#end(token);
  }

  #end({ text }: Token): void {
    if (text !== undefined) this.#secrets?.delete(text);
  }

  #create(): Token {
    const text = createToken();
    this.#secrets?.add(text);
    return { text, digest: digestOf(text) };
  }
}

function tokensOf({ token, offered }: Pass): Token[] {
  return offered === undefined ? [token] : [token, offered];
}

function fromDisk(digest: string): Token {
  return { digest: Buffer.from(digest, 'base64url') };
}
