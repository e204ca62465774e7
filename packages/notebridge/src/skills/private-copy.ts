import { join } from 'node:path';
import { ownProcessId, ownUserId, processExists } from '../processes/own-user.js';
import { writtenBy } from '../processes/written-rule.js';
import { copyContained } from '../state/contained-copy.js';
import { makeScratchFolder } from '../state/scratch-folder.js';
import { SkillFault } from './skill-fault.js';
import type { Skill } from './skill-finder.js';

/** More than skills need that carry their dependencies with them, and what can be copied in a second or two. */
const bounds = { entries: 10_000, bytes: 268_435_456 };

/**
 * Does the work with a copy of the skill that only this user can change: what is run is what was proven to be inside. The copy is removed
 * afterwards; that of a hub that was killed, by the next one that runs a script.
 */
export async function withPrivateCopy<Result>({ name, folder }: Skill, work: (copy: string) => Promise<Result>): Promise<Result> {
  const scratch = await makeScratchFolder({ own: ownProcessId(), exists: processExists }, { uid: ownUserId() });
  try {
    const written = writtenBy(scratch.path);
    if (written !== undefined) {
      throw new SkillFault(
        'denied',
        `The scripts of the skill "${name}" are not run: code in a sandbox may write to "${written}", the folder for temporary files. ` +
          'Set TMPDIR to another one.',
      );
    }
    // Its own name stands in what scripts write of themselves.
    const copy = join(scratch.path, folder.name);
    const copied = await copyContained(folder, copy, bounds);
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
