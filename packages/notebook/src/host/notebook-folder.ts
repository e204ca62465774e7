import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ignore } from '@notebridge/kit/errno';
import { HostError } from '../session/host-error.js';
import type { NearbyNotebook } from '../viewer/protocol.js';

/** Opens the notebook of a path on a host of its own, and gives the address of a window. */
export type OpenBeside = (path: string) => Promise<{ url: string }>;

const maxFound = 500;
const maxDepth = 4;
const maxFolders = 2000;
const isLeftOut = (name: string) => name.startsWith('.') || name === 'node_modules' || name === '__pycache__';

/** The notebooks in and below the folder of one. Nothing outside of it is listed or opened. */
export class NotebookFolder {
  readonly #file: string;
  readonly #folder: string;
  readonly #openBeside: OpenBeside;

  /** `file`: the notebook that is open, as an absolute path without links. */
  constructor(file: string, openBeside: OpenBeside) {
    this.#file = file;
    this.#folder = dirname(file);
    this.#openBeside = openBeside;
  }

  /** The nearest first, by name; links are not followed. At most 500, four folders deep. */
  async list(): Promise<NearbyNotebook[]> {
    const found: NearbyNotebook[] = [];
    let level = [this.#folder];
    let left = maxFolders;
    for (let depth = 0; depth <= maxDepth && level.length > 0 && found.length < maxFound; depth++) {
      const next: string[] = [];
      for (const folder of level.slice(0, left)) {
        const entries = (await readdir(folder, { withFileTypes: true }).catch(ignore)) ?? [];
        for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
          if (isLeftOut(entry.name)) continue;
          const path = join(folder, entry.name);
          if (entry.isDirectory()) next.push(path);
          else if (entry.isFile() && entry.name.endsWith('.ipynb'))
            found.push({ path: relative(this.#folder, path).split(sep).join('/'), isOpen: path === this.#file });
        }
      }
      left -= level.length;
      level = next;
    }
    return found.slice(0, maxFound);
  }

  /** Rejects with `bad_path`, or as opening does. */
  async open(path: string, { isNew }: { isNew: boolean }): Promise<{ url: string }> {
    return this.#openBeside(await this.#resolve(path, isNew));
  }

  /** Only what is a file in this folder, wherever its links lead. */
  async #resolve(path: string, isNew: boolean): Promise<string> {
    const refuse = (why: string) => new HostError('bad_path', `${JSON.stringify(path)} cannot be opened: ${why}.`);
    const parts = path.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..' || /[\\\0:]/.test(part)))
      throw refuse('write a path below the folder of this notebook, like "analysis/rain.ipynb"');
    if (!path.endsWith('.ipynb')) throw refuse('the name of a notebook ends in ".ipynb"');
    const whole = join(this.#folder, ...parts);
    const folder = await realpath(dirname(whole)).catch(ignore);
    if (folder === undefined) throw refuse('its folder is not there');
    const own = await realpath(this.#folder);
    if (folder !== own && !folder.startsWith(own + sep)) throw refuse('it is outside of the folder of this notebook');
    const target = join(folder, basename(whole));
    const found = await lstat(target).catch(ignore);
    if (found && !found.isFile()) throw refuse('it is no file of its own');
    if (found && isNew) throw refuse('there is such a file already; choose another name, or open it');
    if (!found && !isNew) throw refuse('it is not there any more');
    return target;
  }
}
