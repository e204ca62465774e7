import type { Grant } from './grant.js';

/** Learns which grants there are, and what they are now. */
export interface GrantListener {
  /** These, and no others. */
  replaceAll(grants: readonly Grant[]): void;
  put(grant: Grant): void;
  drop(id: string): void;
}

/** Changes of `used` that certainly were not written, and why. */
export interface NotCounted {
  ids: ReadonlySet<string>;
  error: unknown;
}

/**
 * Where grants are kept: a file of this user, or a store that hubs share. A grant is changed only by what was in it in that moment, so
 * nobody loses what another wrote. What is there, and what becomes of it, the listener is told.
 */
export interface GrantRecords {
  /** True if all hubs of a cluster have them. */
  readonly isShared: boolean;
  /** How many may live at once. */
  readonly maxLive: number;
  /** False: what was told last may be so old that nothing is to be allowed by it. */
  isCurrent(): boolean;
  /** Looks whether others have changed something, where nobody tells. True if so. `now` looks even if it was looked at just before. */
  refresh(when: 'soon' | 'now'): boolean;
  /**
   * Resolves to true when a grant that others have just issued must have been told of, or is; to false if that takes too long. `isThere` is
   * asked whenever there is a new one. Undefined: there is nothing to wait for.
   */
  untilTold(isThere: () => boolean): Promise<boolean> | undefined;
  /** Adds a grant. False if there is one of that id. Rejects with what `assertRoom` throws; then nothing was added. */
  add(grant: Grant, assertRoom: () => void): Promise<boolean>;
  /**
   * Changes one grant; undefined if there is none. `change` may be called again, on what others have made of it since, and its last result
   * counts. Rejects with what it throws; then nothing was changed. Rejects with `write_failed` or `cluster_unavailable`, with `data.outcome`
   * `unknown` if it may have been changed.
   */
  change<Result>(id: string, change: (grant: Grant | undefined) => Result): Promise<Result>;
  /**
   * Adds to what was used of several grants, each by itself. Undefined: all are written, as far as anybody can tell. `isLast`: this process ends, and
   * waits no longer than a call would.
   */
  addUsed(changes: ReadonlyMap<string, number>, options?: { isLast?: boolean }): Promise<NotCounted | undefined>;
  /** Closing twice is harmless. */
  close(): void;
}
