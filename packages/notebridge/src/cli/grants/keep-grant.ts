import type { Logger } from '@notebridge/kit/logger';
import { stateDir } from '../../assembly/state-dir.js';
import type { GrantTerms, GrantView } from '../../grants/grant.js';
import { GrantStore } from '../../grants/grant-store.js';
import { RotatingToken } from '../../grants/rotating-token.js';
import { untilSignal } from '../process-life.js';

export interface KeepOptions {
  terms: GrantTerms;
  /** Where the token stands; its folder must exist. */
  file: string;
  /** Called once the token is there. */
  onKept: (grant: GrantView) => void;
}

/** From a signal to the end, whatever cannot be written. Milliseconds. */
const endMs = 3000;
/** Nothing else keeps the process: the token's own timer does not. */
const wakeMs = 2 ** 31 - 1;

/**
 * Issues a grant and renews its token in the file until a signal comes; then the file is removed and the grant revoked. No hub need run:
 * all of the user read the same grants. Rejects as `GrantStore.issue` does, or with `write_failed`.
 */
export async function keepGrant({ terms, file, onKept }: KeepOptions): Promise<void> {
  const ended = untilSignal(endMs);
  const awake = setInterval(() => {}, wakeMs);
  const store = await GrantStore.open({ dir: stateDir() });
  try {
    const rotating = await RotatingToken.open({ store, path: file, terms, logger: stderrLogger });
    try {
      const kept = store.get(rotating.grantId);
      if (typeof kept !== 'string') onKept(kept);
      await ended;
    } finally {
      await rotating.close();
    }
  } finally {
    clearInterval(awake);
    await store.close();
  }
}

const say = (message: string): void => void process.stderr.write(`notebridge: ${message}\n`);
const stderrLogger: Logger = { debug: () => {}, info: () => {}, warn: say, error: say };
