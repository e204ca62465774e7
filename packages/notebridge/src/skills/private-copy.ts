import { join } from 'node:path';
import { makeOwnScratch } from '../identity/own-scratch.js';
import { type CopyBounds, copyContained } from '../state/contained-copy.js';
import { SkillFault } from './skill-fault.js';
import type { Skill } from './skill-finder.js';

/** More than skills need that carry their dependencies with them, and what can be copied in a second or two. */
const bounds = { entries: 10_000, bytes: 268_435_456 };

/**
 * Does the work with a copy of the skill that only this user can change: what is run is what was proven to be inside. The copy is removed
 * afterwards; that of a hub that was killed, by the next one that runs a script. `assertEntry`: what it throws is thrown, and nothing is run.
 */
export async function withPrivateCopy<Result>(
  { name, folder }: Skill,
  { assertEntry }: Pick<CopyBounds, 'assertEntry'>,
  work: (copy: string) => Promise<Result>,
): Promise<Result> {
  const scratch = await makeOwnScratch();
  try {
    // Its own name stands in what scripts write of themselves.
    const copy = join(scratch.path, folder.name);
    const copied = await copyContained(folder, copy, { ...bounds, assertEntry });
    if (copied.kind === 'refused') {
      throw new SkillFault(
        'limit_reached',
        `The scripts of the skill "${name}" are not run: its folder "${folder.path}" ${copied.why}, and a script runs from a copy of it. ` +
          'Move what its scripts do not need elsewhere.',
      );
    }
    return await work(copy);
  } finally {
    await scratch.remove();
  }
}
