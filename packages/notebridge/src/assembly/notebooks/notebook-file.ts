import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The path of a notebook's file with links resolved, by which two processes know that they mean the same one. It need not be there yet. */
export function realFileOf(file: string): string {
  return resolveLinks(resolve(file), maxLinks);
}

/** As Linux: links that lead in a circle end somewhere. */
const maxLinks = 40;

function resolveLinks(path: string, linksLeft: number): string {
  const inFolder = (): string => join(realpathSync(dirname(path)), basename(path));
  /** A link to what is not there yet: whoever writes it makes that file. */
  const behindLink = (): string => resolveLinks(resolve(dirname(inFolder()), readlinkSync(path)), linksLeft - 1);
  for (const toReal of [() => realpathSync(path), ...(linksLeft > 0 ? [behindLink] : []), inFolder]) {
    try {
      return toReal();
    } catch {
      // Not there yet, or its folder is not: whoever opens it says so.
    }
  }
  return path;
}
