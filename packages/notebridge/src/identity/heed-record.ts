import { ownUserId } from '../processes/own-user.js';
import { heedWritten } from '../processes/written-rule.js';
import { readWrittenFolders } from '../state/folder-record.js';

/** Has this process keep to what the user's state folder says of folders that code in a sandbox could write to. Twice is harmless. */
export function heedRecord(stateDir: string): void {
  heedWritten(stateDir, () => readWrittenFolders(stateDir, { uid: ownUserId() }));
}
