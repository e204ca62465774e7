import type { Logger } from '@notebridge/protocol/util/logger';
import { readMountedSecrets } from '@notebridge/system/processes/mounted-secret';
import { hashSecret } from '../identity/secret.js';
import { tokenOf } from './authority.js';

export interface MountedTokensOptions {
  /** Each file in it is a token, as each key of a Secret that Kubernetes mounts. */
  folder: string;
  logger: Logger;
  /** Told each token before it opens anything: it is kept out of logs. */
  addSecret: (secret: string) => void;
  /** Milliseconds of a clock that is never set back. Default: that of the process. */
  steady?: (() => number) | undefined;
}

/** A change of the folder holds after so long at most. Milliseconds. */
const rereadMs = 1000;
/** A token that is rotated needs two at a time. */
const mostTokens = 16;
/** As `openssl rand -base64 32` prints. */
const form = /^[\w.~+/-]{32,512}={0,2}$/;
/** What is drawn by chance has these practically always, also 32 hexadecimal digits; what a person makes up in its place does not. */
const leastDifferent = 10;
const runLength = 8;
const wanted = `a token has 32 to 512 letters, digits or any of "-._~+/=", ${leastDifferent} different ones at least and no ${runLength} in a row twice, such as \`openssl rand -hex 32\` prints`;

/**
 * Tokens of a folder that others fill: whoever shows one may scrape the metrics, and nothing else. They are in no store, so they hold also
 * where a cluster has lost its own and accepts no grant: just then somebody wants to look. A file that is new opens within a second, one that
 * is gone no longer.
 */
export class MountedTokens {
  readonly #options: MountedTokensOptions;
  readonly #steady: () => number;
  #hashes: ReadonlySet<string> = new Set();
  #readAt = Number.NEGATIVE_INFINITY;
  /** The faults that were named last: a scrape each few seconds must not repeat them. */
  #told = '';

  constructor(options: MountedTokensOptions) {
    this.#options = options;
    this.#steady = options.steady ?? (() => performance.now());
  }

  /** True if the header `Authorization` has one of the tokens. */
  has(authorization: string | undefined): boolean {
    const token = tokenOf(authorization);
    if (token === undefined || !form.test(token)) return false;
    if (this.#steady() - this.#readAt >= rereadMs) this.#read();
    return this.#hashes.has(hashSecret(token));
  }

  #read(): void {
    this.#readAt = this.#steady();
    const { folder, addSecret, logger } = this.#options;
    const { secrets, faults } = readMountedSecrets(folder, mostTokens);
    const tokens: string[] = [];
    for (const { file, text } of secrets) {
      if (form.test(text) && !isGuessable(text)) tokens.push(text);
      else faults.push(`"${file}" opens nothing: ${wanted}.`);
    }
    for (const token of tokens) addSecret(token);
    this.#hashes = new Set(tokens.map(hashSecret));
    const told = faults.join(' ');
    if (told !== this.#told && told !== '') logger.warn(`"notebridge.telemetry.scrapeTokens": ${told}`);
    this.#told = told;
  }
}

function isGuessable(token: string): boolean {
  if (new Set(token).size < leastDifferent) return true;
  const runs = new Set<string>();
  for (let at = 0; at + runLength <= token.length; at++) runs.add(token.slice(at, at + runLength));
  return runs.size <= token.length - runLength;
}
