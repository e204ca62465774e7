import { startOfProcess } from '@notebridge/system/processes/living-process';
import { ownProcessId, ownUserId } from '@notebridge/system/processes/own-user';
import { writtenBy } from '@notebridge/system/processes/written-rule';
import { heedRecord } from '../identity/heed-record.js';
import { createWrittenFolders } from './trusted-folders.js';

const heeded = new Set<string>();

/** The built-in notebook, which keeps to the user's record of folders that code may write to from its first moment. */
export async function loadNotebook(stateDir: string): Promise<typeof import('@notebridge/notebook/host')> {
  const notebook = await import('@notebridge/notebook/host');
  heedRecord(stateDir);
  if (!heeded.has(stateDir))
    notebook.heedWrittenFolders(createWrittenFolders(stateDir, { uid: ownUserId() }, { own: ownProcessId(), startOf: startOfProcess }));
  heeded.add(stateDir);
  return notebook;
}

/** What speaks to Jupyter servers, and believes no file of such a folder that says where one is. */
export async function loadLab(): Promise<typeof import('@notebridge/notebook/lab')> {
  const lab = await import('@notebridge/notebook/lab');
  lab.leaveOutServerFiles((file) => writtenBy(file) !== undefined);
  return lab;
}
