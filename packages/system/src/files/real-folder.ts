import { constants } from 'node:fs';
import { open, readlink, realpath } from 'node:fs/promises';

/** Holds a folder without opening it for reading. Linux; Node does not name it. */
const O_PATH = 0x200000;

/**
 * Does something in a folder that is named by its real path. Rejects, and does nothing, where a part of that path has become a link since:
 * whoever may write to the folder above could lead us anywhere. On Linux `place` is the folder itself, whatever takes its name meanwhile;
 * elsewhere its path, which was looked at just before.
 */
export async function inRealFolder<Result>(folder: string, work: (place: string) => Promise<Result>): Promise<Result> {
  if (process.platform !== 'linux') {
    assertIs(await realpath(folder), folder);
    return work(folder);
  }
  const held = await open(folder, O_PATH | constants.O_DIRECTORY);
  try {
    const place = `/proc/self/fd/${held.fd}`;
    const found = await readlink(place).catch(() => undefined);
    assertIs(found ?? (await realpath(folder)), folder);
    // Without /proc there is no such way.
    return await work(found === undefined ? folder : place);
  } finally {
    await held.close();
  }
}

function assertIs(found: string, folder: string): void {
  if (found !== folder) throw new Error(`a part of its path is a link now, which it was not when it was opened`);
}
