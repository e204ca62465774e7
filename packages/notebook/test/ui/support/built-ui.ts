import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildUi } from '../../../src/ui/build-ui.mjs';

let building: Promise<string> | undefined;

/**
 * The window as it is bundled now, not as it was at the last build of the package. `npm test` builds what has changed before anything else,
 * and says where; without it, one bundle per test file.
 */
export async function builtUi(): Promise<string> {
  const { NOTEBRIDGE_BUILT_UI } = process.env;
  if (NOTEBRIDGE_BUILT_UI !== undefined) return NOTEBRIDGE_BUILT_UI;
  building ??= mkdtemp(join(tmpdir(), 'notebook-ui-')).then(async (folder) => {
    await buildUi(folder);
    return folder;
  });
  return building;
}

export async function removeBuiltUi(): Promise<void> {
  if (building) await rm(await building, { recursive: true, force: true });
  building = undefined;
}
