import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { ensurePrivateDir, removePrivateFile } from '@notebridge/system/files/private-file';
import { processExists } from '@notebridge/system/processes/living-process';
import { ownUserId } from '@notebridge/system/processes/own-user';

let written = 0;
/** The first notebook of a process has its number alone; a process that holds many counts them. */
const nameOf = (pid: number, count: number): string => (count === 1 ? `window-${pid}.url` : `window-${pid}-${count}.url`);

/**
 * Where a person finds the address of the notebook's window if no terminal shows it: a file that only the user can read. The address
 * holds the token, and its holder acts as the person; so neither agents nor log collectors get it.
 */
export class WindowFile {
  readonly path: string;
  readonly #dir: string;

  /** `dir`: the state folder. Nothing is written yet. */
  constructor(dir: string) {
    this.#dir = dir;
    this.path = join(dir, nameOf(process.pid, ++written));
  }

  /** Writes the address, and removes what processes have left that were killed. Returns the path. Rejects with `write_failed`. */
  async write(url: string): Promise<string> {
    ensurePrivateDir(this.#dir, { uid: ownUserId() });
    for (const name of readdirSync(this.#dir)) {
      const pid = Number(/^window-(\d+)(?:-\d+)?\.url$/.exec(name)?.[1]);
      if (pid > 0 && !processExists(pid)) removePrivateFile(join(this.#dir, name));
    }
    await writeFileAtomic(this.path, `${url}\n`, { mode: 0o600, anew: true });
    return this.path;
  }

  /** Removing twice is harmless. */
  remove(): void {
    removePrivateFile(this.path);
  }
}
