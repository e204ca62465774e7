import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildUi } from '../../../src/ui/build-ui.mjs';

let building: Promise<string> | undefined;

/** The window as it is bundled now, not as it was at the last build of the package. One bundle per test file. */
export function builtUi(): Promise<string> {
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
