import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/** A folder that nothing leads out of. */
export interface ContainedPlace {
  /** The real path of a folder whose own place only trusted people can change. */
  root: string;
  /** Names from there, one below the other. None of them may be a link. */
  inner: readonly string[];
}

/** Something inside, held open: what was opened is the proof, whatever stands at its path by now. */
export interface ContainedFind {
  kind: 'file' | 'folder' | 'other';
  /** Names from the place, links resolved. */
  inner: readonly string[];
  stats: BigIntStats;
  /** A path to what is held, as long as it is held. */
  location: string;
  /** Opens it for reading while the work runs. */
  withReader<Result>(work: (file: FileHandle) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/**
 * Goes from a place to a path below it. Links are followed as long as they stay inside. Rejects with the system's error where neither
 * can be said.
 */
export type ContainedWalk = (place: ContainedPlace, path: string) => Promise<ContainedFind | 'absent' | 'outside'>;

export function kindOf(found: { isFile(): boolean; isDirectory(): boolean }): ContainedFind['kind'] {
  if (found.isFile()) return 'file';
  return found.isDirectory() ? 'folder' : 'other';
}
