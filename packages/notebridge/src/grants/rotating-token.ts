import { codeOf } from '@notebridge/protocol/core/errors';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Redactor } from '@notebridge/protocol/util/redactor';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { removePrivateFile } from '@notebridge/system/files/private-file';
import { assertKeptOutside } from '@notebridge/system/processes/written-rule';
import { type GrantTerms, parseTtl } from './grant.js';
import type { GrantStore } from './grant-store.js';

export interface RotatingTokenOptions {
  store: Pick<GrantStore, 'issue' | 'renew' | 'revoke'>;
  /** The file that the holder reads, again whenever it is refused. Its folder must exist. A link there is replaced, not followed. */
  path: string;
  terms?: GrantTerms;
  /** Called with each token when it is made, and when it has ended. */
  secrets?: Pick<Redactor, 'add' | 'delete'>;
  logger?: Logger;
}

/** When a renewal is due, by each of the two clocks. */
interface Due {
  steady: number;
  clock: number;
}

/** Milliseconds. */
const lookEveryMs = 5000;
/** A token that ends soon is tried again this often, milliseconds. */
const longestRetryMs = 10_000;

/**
 * A grant whose token is delivered by a private file and renewed there, after two thirds of its life, until it is closed. The grant
 * stays the same one, with its budget, rate and id; the token before opens for a minute longer.
 */
export class RotatingToken implements AsyncDisposable {
  readonly #options: RotatingTokenOptions;
  readonly #logger: Logger;
  readonly #ttlMs: number;
  readonly #tokens: string[] = [];
  #id = '';
  #undelivered: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(options: RotatingTokenOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    this.#ttlMs = parseTtl(options.terms?.ttlMs);
  }

  /** Issues the grant and writes its token. Rejects as `GrantStore.issue` does, or with `write_failed`; then no grant is left. */
  static async open(options: RotatingTokenOptions): Promise<RotatingToken> {
    const rotating = new RotatingToken(options);
    const { id, token } = await options.store.issue(options.terms);
    rotating.#id = id;
    try {
      await rotating.#deliver(token);
    } catch (error) {
      await rotating.close();
      throw error;
    }
    rotating.#renewIn(rotating.#ttlMs * (2 / 3));
    return rotating;
  }

  get grantId(): string {
    return this.#id;
  }

  /** Renews the token now. Rejects with `bad_grant` if the grant was revoked, `bad_usage` if code may write to the folder by now, or `write_failed`. */
  renew(): Promise<void> {
    const renewed = this.#renewing.then(async () => {
      if (this.#isClosed) return;
      // One that could not be written is tried again: renewed twice, the holder's own would open nothing any more.
      this.#undelivered ??= (await this.#options.store.renew(this.#id, this.#ttlMs)).token;
      await this.#deliver(this.#undelivered);
      this.#undelivered = undefined;
      this.#renewIn(this.#ttlMs * (2 / 3));
    });
    this.#renewing = renewed.catch(() => {});
    return renewed;
  }

  /** Revokes the grant and removes the file. Rejects with `bad_usage` where that is left; the grant is revoked all the same. Closing twice is harmless. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#renewing;
    try {
      this.#assertKept();
      removePrivateFile(this.#options.path);
    } finally {
      await this.#options.store.revoke(this.#id);
      for (const token of this.#tokens) this.#options.secrets?.delete(token);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #deliver(token: string): Promise<void> {
    this.#assertKept();
    this.#options.secrets?.add(token);
    if (this.#tokens.at(-1) !== token) this.#tokens.push(token);
    await writeFileAtomic(this.#options.path, `${token}\n`, { mode: 0o600, anew: true });
    // The last but one may still be in use; those before have ended.
    for (const ended of this.#tokens.splice(0, this.#tokens.length - 2)) this.#options.secrets?.delete(ended);
  }

  /** Code may have been given the folder meanwhile: a file that it has put there, or that its link leads to, is neither replaced nor removed. */
  #assertKept(): void {
    assertKeptOutside(this.#options.path, 'The file of the token');
  }

  /** A token ends by the clock, which may be set, and goes on while the machine sleeps and timers stand still: both are looked at. */
  #renewIn(delayMs: number, due: Due = { steady: performance.now() + delayMs, clock: Date.now() + delayMs }): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const look = (): void => {
      const leftMs = Math.min(due.steady - performance.now(), due.clock - Date.now());
      if (leftMs <= 0) void this.#renewOrRetry();
      // Set back, the clock alone would say that there is time.
      else this.#renewIn(leftMs, due);
    };
    this.#timer = setTimeout(look, Math.min(delayMs, lookEveryMs)).unref();
  }

  async #renewOrRetry(): Promise<void> {
    try {
      await this.renew();
    } catch (error) {
      this.#logger.warn(`The token in "${this.#options.path}" could not be renewed: ${messageOf(error)}`, { grantId: this.#id });
      // Who revoked it meant it; and one that slept for too long is not known any more.
      if (codeOf(error) !== 'bad_grant') this.#renewIn(Math.min(longestRetryMs, this.#ttlMs / 10));
    }
  }
}
