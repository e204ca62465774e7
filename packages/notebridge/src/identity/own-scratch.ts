import { tmpdir } from 'node:os';
import { processExists } from '@notebridge/kit/living-process';
import { messageOf } from '@notebridge/kit/message-of';
import { ownTemporaryFolder } from '@notebridge/kit/temporary-folder';
import { BridgeError } from '../core/errors.js';
import { ownProcessId, ownUserId } from '../processes/own-user.js';
import { writtenBy } from '../processes/written-rule.js';
import { makeScratchFolder, type ScratchFolder } from '../state/scratch-folder.js';

/** A scratch folder of this process. Rejects with `write_failed`, also where code in a sandbox may write to the folder for temporary files. */
export async function makeOwnScratch(): Promise<ScratchFolder> {
  try {
    ownTemporaryFolder(writtenBy);
  } catch (error) {
    throw new BridgeError('write_failed', `${messageOf(error)}.`, { data: { path: tmpdir() } });
  }
  return makeScratchFolder({ own: ownProcessId(), exists: processExists }, { uid: ownUserId() });
}
