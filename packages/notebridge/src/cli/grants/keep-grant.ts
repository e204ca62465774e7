import type { Logger } from '@notebridge/kit/logger';
import { BridgeError } from '../../core/errors.js';
import type { GrantTerms, GrantView } from '../../grants/grant.js';
import type { IssuedGrant } from '../../grants/grant-store.js';
import { RotatingToken, type RotatingTokenOptions } from '../../grants/rotating-token.js';
import { untilSignal } from '../process-life.js';
import { findClusterDesk, type GrantDesk } from './grant-desk.js';
import { withGrantStore } from './own-grants.js';

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
 * all of the user read the same grants; but in a cluster, whose grants only a hub can reach. Rejects as `GrantStore.issue` does, or with
 * `write_failed`.
 */
export async function keepGrant({ terms, file, onKept }: KeepOptions): Promise<void> {
  const ended = untilSignal(endMs);
  const awake = setInterval(() => {}, wakeMs);
  try {
    await withKeptStore(async (store) => {
      let kept: GrantView | undefined;
      const issue = async (asked?: GrantTerms): Promise<IssuedGrant> => {
        const { token, ...grant } = await store.issue(asked);
        kept = grant;
        return { ...grant, token };
      };
      const issuing = { issue, renew: store.renew.bind(store), revoke: store.revoke.bind(store) };
      const rotating = await RotatingToken.open({ store: issuing, path: file, terms, logger: stderrLogger });
      try {
        if (kept !== undefined) onKept(kept);
        await ended;
      } finally {
        await rotating.close();
      }
    });
  } finally {
    clearInterval(awake);
  }
}

/** The grants of this user, or of the cluster of its hub, whichever hub of the user's that is from time to time: it may be started again meanwhile. */
async function withKeptStore(work: (store: RotatingTokenOptions['store']) => Promise<void>): Promise<void> {
  if ((await findClusterDesk()) !== undefined) {
    const desk = async (): Promise<GrantDesk> => {
      const found = await findClusterDesk();
      if (found !== undefined) return found;
      throw new BridgeError('closed', 'No hub of yours runs that is in the cluster of this grant. Start one: notebridge serve');
    };
    return work({
      issue: async (terms = {}) => (await desk()).issue(terms),
      renew: async (id, ttlMs) => (await desk()).renew(id, ttlMs),
      revoke: async (id) => (await desk()).revoke(id),
    });
  }
  await withGrantStore(work);
}

const say = (message: string): void => void process.stderr.write(`notebridge: ${message}\n`);
const stderrLogger: Logger = { debug: () => {}, info: () => {}, warn: say, error: say };
