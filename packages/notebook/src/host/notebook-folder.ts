import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ignore } from '@notebridge/protocol/util/errno';
import { HostError } from '../session/host-error.js';
import type { NearbyNotebook } from '../viewer/protocol.js';

const maxFound = 500;
const maxDepth = 4;
const maxFolders = 2000;
const isLeftOut = (name: string) => name.startsWith('.') || name === 'node_modules' || name === '__pycache__';

/** The notebooks in and below the folder of one. Nothing outside of it is listed or opened. */
export type NotebookFolder = ReturnType<typeof notebookFolder>;

/**
 * `file`: the notebook that is open, as an absolute path without links. `openBeside` opens the notebook of a path on a host of its own, and
 * gives the address of a window.
 */
export function notebookFolder(file: string, openBeside: (path: string) => Promise<{ url: string }>) {
  const root = dirname(file);
  return {
    list: () => listBelow(root, file),
    /** Rejects with `bad_path`, or as opening does. */
    open: async (path: string, { isNew }: { isNew: boolean }) => openBeside(await resolve(root, path, isNew)),
  };
}

/** The nearest first, by name; links are not followed. At most 500, four folders deep. */
async function listBelow(root: string, file: string): Promise<NearbyNotebook[]> {
  const found: NearbyNotebook[] = [];
  let level = [root];
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
          found.push({ path: relative(root, path).split(sep).join('/'), isOpen: path === file });
      }
    }
    left -= level.length;
    level = next;
  }
  return found.slice(0, maxFound);
}

/** Only what is a file in this folder, wherever its links lead. */
async function resolve(root: string, path: string, isNew: boolean): Promise<string> {
  const refuse = (why: string) => new HostError('bad_path', `${JSON.stringify(path)} cannot be opened: ${why}.`);
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..' || /[\\\0:]/.test(part)))
    throw refuse('write a path below the folder of this notebook, like "analysis/rain.ipynb"');
  if (!path.endsWith('.ipynb')) throw refuse('the name of a notebook ends in ".ipynb"');
  const whole = join(root, ...parts);
  const folder = await realpath(dirname(whole)).catch(ignore);
  if (folder === undefined) throw refuse('its folder is not there');
  const own = await realpath(root);
  if (folder !== own && !folder.startsWith(own + sep)) throw refuse('it is outside of the folder of this notebook');
  const target = join(folder, basename(whole));
  const found = await lstat(target).catch(ignore);
  if (found && !found.isFile()) throw refuse('it is no file of its own');
  if (found && isNew) throw refuse('there is such a file already; choose another name, or open it');
  if (!found && !isNew) throw refuse('it is not there any more');
  return target;
}
