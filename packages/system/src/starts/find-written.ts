import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, join, parse, sep } from 'node:path';
import { type MountPoint, parseMounts, unescapeOctal } from './mounts.js';
import { realPathOf, textIn } from './seen-files.js';

/** As many as Linux follows before it reports a loop. */
const mostLinks = 40;
/** PATH_MAX of Linux, the largest: nothing has a longer path without links. */
const mostLength = 4096;

/** A folder that code was given to write to. */
export interface KnownFolder {
  /** Its real path at that time. */
  readonly path: string;
  /** As `folderIdentityOf` says, so that it is known again by another name. */
  readonly identity?: string | undefined;
}

/**
 * The path of the one of `folders` whose writers decide what stands at `path`: the path, or a link on the way to it, lies in that folder, or in
 * the same folder under another name: by a mount, by a link that was left in its place, or since it was renamed. What is not there yet counts
 * by where it would be. A path alone is a folder of which nothing else is known.
 */
export function findWritten(path: string, folders: readonly (string | KnownFolder)[]): string | undefined {
  return createWrittenFinder(folders)(path);
}

/** As `findWritten`, for many paths of one moment: what they have in common is looked at once. */
export function createWrittenFinder(folders: readonly (string | KnownFolder)[]): (path: string) => string | undefined {
  if (folders.length === 0) return () => undefined;
  const origins = createOrigins();
  const known = folders.map((folder) => toKnown(folder, origins));
  const hasIdentities = known.some(({ identity }) => identity !== undefined);
  const seen = new Map<string, Step>();
  const lookAt = (place: string): Step => {
    const from = origins(place);
    const identity = hasIdentities ? folderIdentityOf(place) : undefined;
    const found = known.find(
      (each) =>
        each.paths.some((folder) => isWithin(place, folder)) ||
        from.some((one) => each.from.some((other) => isWithin(one, other))) ||
        (identity !== undefined && identity === each.identity),
    );
    return { written: found?.path, target: readLink(place) };
  };
  return (path) =>
    findOnTheWay(path, (place) => {
      const step = seen.get(place) ?? lookAt(place);
      seen.set(place, step);
      return step;
    });
}

interface Step {
  /** The folder that it is in. */
  readonly written: string | undefined;
  /** Its target, if it is a link. */
  readonly target: string | undefined;
}

/** The mark of a folder that stays when it is renamed or moved within its disk. Undefined: there is no folder. */
export function folderIdentityOf(folder: string): string | undefined {
  try {
    const found = lstatSync(folder, { bigint: true, throwIfNoEntry: false });
    if (found?.isDirectory() !== true) return undefined;
    // The number is used again after a removal, and that of the device may be another one after a restart: the time of birth tells.
    return found.birthtimeNs > 0n ? `${found.ino}:${found.birthtimeNs}` : `${found.ino}@${found.dev}`;
  } catch {
    return undefined;
  }
}

function toKnown(folder: string | KnownFolder, origins: (path: string) => string[]) {
  const { path, identity } = typeof folder === 'string' ? { path: folder } : folder;
  // A folder above it may have been moved to another disk since, with a link left in its place.
  const paths = [...new Set([path, realPathOf(path) ?? path])];
  return { path, identity, paths, from: paths.flatMap(origins) };
}

/** Which place of which file system a path is, as `DEVICE:PATH`; links are not followed. Undefined where the system does not say (Linux does). */
export function originOf(path: string): string | undefined {
  return createOrigins()(path)[0];
}

/** The path itself, or below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Looks at the entries that the system takes when it follows a path: each of its parts, and those of the links among them. */
function findOnTheWay(path: string, lookAt: (place: string) => Step): string | undefined {
  const whole = parse(path).root === '' ? join(process.cwd(), path) : path;
  let { root: here } = parse(whole);
  // The next step comes last.
  const steps = whole.slice(here.length).split(sep).reverse();
  for (let links = 0; steps.length > 0; ) {
    const step = steps.pop() ?? '';
    if (step === '' || step === '.') continue;
    // Links on the way are followed by now, so what is above is what the system takes.
    const place = step === '..' ? dirname(here) : join(here, step);
    if (place.length > mostLength) return undefined;
    const { written, target } = lookAt(place);
    if (written !== undefined) return written;
    if (target === undefined || ++links > mostLinks) {
      here = place;
      continue;
    }
    const { root } = parse(target);
    if (root !== '') here = root;
    steps.push(...target.slice(root.length).split(sep).reverse());
  }
  return undefined;
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // No link, not there, or not for us to see.
    return undefined;
  }
}

/** So that what is mounted twice is known by both names, the first one being its own; and what an overlay shows, by those of its layers. */
function createOrigins(): (path: string) => string[] {
  const mounts = readMounts();
  const mountOf = (path: string) => mounts.findLast((mount) => isWithin(path, mount.path));
  const toOrigin = ({ device, root }: MountPoint, below: string) => `${device}:${join(root, below)}`;
  return (path) => {
    const mount = mountOf(path);
    if (mount === undefined) return [];
    const below = path.slice(mount.path.length);
    const layers = mount.layers.map((layer) => join(layer, mount.root, below));
    return [
      toOrigin(mount, below),
      ...layers.flatMap((layer) => {
        const under = mountOf(layer);
        return under === undefined ? [] : [toOrigin(under, layer.slice(under.path.length))];
      }),
    ];
  };
}

interface LayeredMount extends MountPoint {
  /** The folders that an overlay shows as one. Empty for any other mount. */
  layers: readonly string[];
}

/** Shorter ones first; of those at one place, the last one is seen. */
function readMounts(): LayeredMount[] {
  if (process.platform !== 'linux') return [];
  const mounts = parseMounts(textIn('/proc/self/mountinfo') ?? '');
  const found = mounts.map((mount) => ({ ...mount, layers: layersOf(mount) }));
  return found.sort((one, other) => one.path.length - other.path.length);
}

function layersOf({ fileSystem, options }: MountPoint): string[] {
  if (fileSystem !== 'overlay') return [];
  const lists = options.map((option) => /^(?:lowerdir|upperdir)\+?=(.*)$/.exec(option)?.[1] ?? '');
  const layers = lists.flatMap((list) => list.split(/(?<!\\):/)).filter((layer) => layer.startsWith('/'));
  return layers.map(unescapeOctal).map((layer) => realPathOf(layer) ?? layer);
}
