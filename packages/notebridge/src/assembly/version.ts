import { readFileSync } from 'node:fs';
import { ownPackageFolder } from '../state/own-files.js';

/** The version in the package's own package.json. */
export function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', ownPackageFolder()), 'utf8')) as { version: string };
  return version;
}
