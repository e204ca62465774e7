import { tmpdir } from 'node:os';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { processExists } from '../processes/living-process.js';
import { ownProcessId, ownUserId } from '../processes/own-user.js';
import { writtenBy } from '../processes/written-rule.js';
import { makeScratchFolder, type ScratchFolder } from './scratch-folder.js';
import { ownTemporaryFolder } from './temporary-folder.js';

/** A scratch folder of this process. Rejects with `write_failed`, also where code in a sandbox may write to the folder for temporary files. */
export async function makeOwnScratch(): Promise<ScratchFolder> {
  try {
    ownTemporaryFolder(writtenBy);
  } catch (error) {
    throw new BridgeError('write_failed', `${messageOf(error)}.`, { data: { path: tmpdir() } });
  }
  return makeScratchFolder({ own: ownProcessId(), exists: processExists }, { uid: ownUserId() });
}
