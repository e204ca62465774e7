import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../fixtures/swapper.py', import.meta.url));

/** Why there is no swapper here; undefined if there is one. */
export function whyNoSwapper(): string | undefined {
  if (platform() !== 'linux') return 'two names are exchanged by one system call on Linux only';
  return spawnSync('python3', ['-c', '']).status === 0 ? undefined : 'the swapper needs python3';
}

/** A process of its own that exchanges two names as fast as it can. */
export class Swapper implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Ready when it swaps. */
  static async start(one: string, other: string): Promise<Swapper> {
    const child = spawn('python3', [program, one, other], { stdio: ['ignore', 'pipe', 'inherit'] });
    const swapper = new Swapper(child);
    const [event] = (await Promise.race([once(child.stdout, 'data'), once(child, 'close')])) as [unknown];
    if (!String(event).includes('swapping')) throw new Error(`The swapper did not begin (${String(event)})`);
    return swapper;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** What may be swapped below the folder `top`: its `in/deep/a.txt` says "inside"; what stands at the other name leads to "secret". */
export const swaps = {
  'a folder for a link to one outside': { one: 'top/in/deep', other: 'link-to-folder', path: 'in/deep' },
  'a file for a link to one outside': { one: 'top/in/deep/a.txt', other: 'link-to-file', path: 'in/deep' },
  'a folder above for a link to one outside': { one: 'top/in', other: 'link-to-folder', path: 'in/deep' },
  'a link that stays inside for one that leads out': { one: 'top/in/way', other: 'link-to-folder', path: 'in/way' },
} as const;

export function furnishForSwaps(base: string): void {
  mkdirSync(join(base, 'top', 'in', 'deep'), { recursive: true });
  writeFileSync(join(base, 'top', 'in', 'deep', 'a.txt'), 'inside');
  symlinkSync('deep', join(base, 'top', 'in', 'way'));
  mkdirSync(join(base, 'evil', 'deep'), { recursive: true });
  for (const folder of ['evil', 'evil/deep']) {
    writeFileSync(join(base, folder, 'a.txt'), 'secret');
    writeFileSync(join(base, folder, 'secret-name'), '');
  }
  symlinkSync(join(base, 'evil'), join(base, 'link-to-folder'));
  symlinkSync(join(base, 'evil', 'a.txt'), join(base, 'link-to-file'));
}
