import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
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

/** A file that is part of this program, as it is. */
export function readOwnBytes(folder: URL, path: string): Promise<Buffer> {
  return readFile(new URL(path, folder));
}
