import { tmpdir } from 'node:os';
import { BridgeError } from '../core/errors.js';
import { ownProcessId, ownUserId, processExists } from '../processes/own-user.js';
import { writtenBy } from '../processes/written-rule.js';
import { makeScratchFolder, type ScratchFolder } from '../state/scratch-folder.js';

/** A scratch folder of this process, for what is run from it. Rejects with `write_failed`, also where code in a sandbox may write to the folder for temporary files. */
export async function makeOwnScratch(): Promise<ScratchFolder> {
  const parent = tmpdir();
  const written = writtenBy(parent);
  if (written === undefined) return makeScratchFolder({ own: ownProcessId(), exists: processExists }, { uid: ownUserId() });
  throw new BridgeError(
    'write_failed',
    `Nothing is run from "${parent}", the folder for temporary files: code in a sandbox may write to "${written}". Set TMPDIR to another folder.`,
    { data: { path: parent, reason: 'written_by_code' } },
  );
}
