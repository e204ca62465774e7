import { readWrittenFolders } from '@notebridge/system/files/folder-record';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { heedWritten } from '@notebridge/system/processes/written-rule';

/** Has this process keep to what the user's state folder says of folders that code in a sandbox could write to. Twice is harmless. */
export function heedRecord(stateDir: string): void {
  heedWritten(stateDir, () => readWrittenFolders(stateDir, { uid: ownUserId() }));
}
