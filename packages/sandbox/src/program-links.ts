import { lstatSync, readlinkSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

/**
 * A program of an environment is often a link to a link, and folders on its path may be links as well: each path that is looked through on
 * the way, or its environment. Never the folder that is the link, which may hold more than the person has named.
 */
export function findLinks(program: string): string[] {
  const found: string[] = [];
  for (let path = program, count = 0; count < 40; count++) {
    const folder = dirname(path);
    found.push(basename(folder) === 'bin' ? dirname(folder) : path);
    const link = firstLinkOn(path);
    if (link === undefined) return found;
    path = resolve(dirname(link), readlinkSync(link)) + path.slice(link.length);
  }
  return found;
}

function firstLinkOn(path: string): string | undefined {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/')).find((above) => above !== '' && lstatSync(above).isSymbolicLink());
}
