import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { writtenBy } from '@notebridge/system/processes/written-rule';
import { isWithin } from '@notebridge/system/starts/find-written';

/**
 * The path of a notebook's file with links resolved, by which two processes know that they mean the same one. It need not be there yet. A link
 * that code may have put is not followed out of the folder that was given to it: whoever opens the file refuses it then.
 */
export function realFileOf(file: string): string {
  const named = resolve(file);
  const real = resolveLinks(named, maxLinks);
  const written = real === named ? undefined : writtenBy(named);
  return written === undefined || isWithin(real, written) ? real : named;
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
