import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The folder of this package, from source, as built and as bundled alike: a package may name itself. */
export function ownPackageFolder(): URL {
  return new URL('./', pathToFileURL(createRequire(import.meta.url).resolve('notebridge/package.json')));
}

/** The version in the package's own package.json. */
export function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', ownPackageFolder()), 'utf8')) as { version: string };
  return version;
}

/** A folder that the program carries with it, by its path in the sources: the build copies it. */
export function ownFolder(path: string): URL {
  const folder = ownPackageFolder();
  const isBuilt = import.meta.url.startsWith(new URL('dist/', folder).href);
  return new URL(`${isBuilt ? 'dist' : 'src'}/${path}/`, folder);
}

/**
 * Texts of files that are part of this program, by path with `/`, relative to the folder, sorted. `wanted`: the paths, or which of all.
 * Rejects if one cannot be read: then the program is not whole.
 */
export async function readOwnFiles(folder: URL, wanted: readonly string[] | ((path: string) => boolean)): Promise<Map<string, string>> {
  const paths = typeof wanted === 'function' ? (await readdir(folder, { recursive: true })).map(withSlashes).filter(wanted) : [...wanted];
  return new Map(await Promise.all(paths.sort().map(async (path) => [path, await readFile(new URL(path, folder), 'utf8')] as const)));
}

/** A file that is part of this program, as it is. */
export function readOwnBytes(folder: URL, path: string): Promise<Buffer> {
  return readFile(new URL(path, folder));
}
