import { keepLatest } from '@notebridge/kit/keep-latest';
import type { SharedStore } from '../state/shared-store.js';
import { endIfGone } from './lease-entries.js';

/** Ids that are remembered. */
const maxIds = 1000;

/**
 * Makes `endIfGone` remember. An id never comes back, so each is asked about until it has ended, and then no more: its hub may have had
 * thousands of things.
 */
export function rememberEnded(store: SharedStore): (id: string) => Promise<boolean> {
  const asked = new Map<string, Promise<boolean>>();
  return (id) => {
    const known = asked.get(id);
    if (known !== undefined) return known;
    const answer = endIfGone(store, id);
    keepLatest(asked, [id, answer], maxIds);
    const forget = (): void => {
      if (asked.get(id) === answer) asked.delete(id);
    };
    answer.then((isEnded) => isEnded || forget(), forget);
    return answer;
  };
}
