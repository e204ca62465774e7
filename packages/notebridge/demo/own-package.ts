import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const manifest = pathToFileURL(createRequire(import.meta.url).resolve('notebridge/package.json'));

/** The package that is shown, and that this is part of. */
export const packageFolder = new URL('./', manifest);

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return version;
}
