import { readdir, readFile } from 'node:fs/promises';

/**
 * Texts of files that are part of this program, by path with `/`, relative to the folder, sorted. `wanted`: the paths, or which of all.
 * Rejects if one cannot be read: then the program is not whole.
 */
export async function readOwnFiles(folder: URL, wanted: readonly string[] | ((path: string) => boolean)): Promise<Map<string, string>> {
  const paths = typeof wanted === 'function' ? (await readdir(folder, { recursive: true })).map(withSlashes).filter(wanted) : [...wanted];
  return new Map(await Promise.all(paths.sort().map(async (path) => [path, await readFile(new URL(path, folder), 'utf8')] as const)));
}

function withSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}
