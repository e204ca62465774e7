import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { entriesIn, textIn } from '@notebridge/kit/seen-files';

/** More than that is not looked through; what listens is found anyway. */
const maxEntries = 20_000;

/**
 * Sockets and pipes below folders: whoever opens one talks to a process outside, also in a folder that can only be read, and whatever the
 * network's namespace. Those that are there at this moment.
 */
export function findFileDoors(folders: readonly string[]): string[] {
  if (folders.length === 0) return [];
  const listening = listListening().filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)) && existsSync(path));
  return [...new Set([...listening, ...folders.flatMap(search)])];
}

/** Of this machine's sockets those with a path, as they were bound. */
function listListening(): string[] {
  return [...(textIn('/proc/net/unix') ?? '').matchAll(/ (\/.*)$/gm)].map(([, path = '']) => path);
}

/** Nearest first. */
function search(folder: string): string[] {
  const found: string[] = [];
  const queue = [folder];
  for (let seen = 0, next = queue.shift(); next !== undefined && seen < maxEntries; next = queue.shift())
    for (const entry of entriesIn(next)) {
      seen++;
      const path = join(next, entry.name);
      if (entry.isDirectory()) queue.push(path);
      else if (entry.isSocket() || entry.isFIFO()) found.push(path);
    }
  return found;
}
