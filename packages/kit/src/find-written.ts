import { readFileSync, readlinkSync } from 'node:fs';
import { dirname, join, parse, sep } from 'node:path';

/** As many as Linux follows before it reports a loop. */
const mostLinks = 40;

/**
 * The one of `folders` whose writers decide what stands at `path`: the path, or a link on the way to it, lies in that folder, or in the same
 * folder under another name by a mount. `folders` are real paths. What is not there yet counts by where it would be.
 */
export function findWritten(path: string, folders: readonly string[]): string | undefined {
  if (folders.length === 0) return undefined;
  const origin = createOrigins();
  const origins = folders.map((folder) => ({ folder, from: origin(folder) }));
  for (const place of placesOnTheWay(path)) {
    const from = origin(place);
    const found = origins.find((each) => isWithin(place, each.folder) || (from !== undefined && isWithin(from, each.from ?? '\0')));
    if (found) return found.folder;
  }
  return undefined;
}

/** Which place of which file system a path is, as `DEVICE:PATH`; links are not followed. Undefined where the system does not say (Linux does). */
export function originOf(path: string): string | undefined {
  return createOrigins()(path);
}

/** The path itself, or below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The entries that are looked at when the system follows a path: each of its parts, and those of the links among them. */
function* placesOnTheWay(path: string): Generator<string> {
  const whole = parse(path).root === '' ? join(process.cwd(), path) : path;
  let { root: here } = parse(whole);
  let steps = whole.slice(here.length).split(sep);
  for (let links = 0; steps.length > 0; ) {
    const [step = '', ...rest] = steps;
    steps = rest;
    if (step === '' || step === '.') continue;
    // Links on the way are followed by now, so what is above is what the system takes.
    const place = step === '..' ? dirname(here) : join(here, step);
    yield place;
    const target = readLink(place);
    if (target === undefined || ++links > mostLinks) {
      here = place;
      continue;
    }
    const { root } = parse(target);
    if (root !== '') here = root;
    steps = [...target.slice(root.length).split(sep), ...steps];
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // No link, not there, or not for us to see.
    return undefined;
  }
}

/** So that what is mounted twice is known by both names. */
function createOrigins(): (path: string) => string | undefined {
  const mounts = readMounts();
  return (path) => {
    const mount = mounts.findLast(({ point }) => isWithin(path, point));
    return mount && `${mount.device}:${join(mount.root, path.slice(mount.point.length))}`;
  };
}

interface MountPoint {
  device: string;
  root: string;
  point: string;
}

/** Shorter ones first; of those at one place, the last one is seen. */
function readMounts(): MountPoint[] {
  if (process.platform !== 'linux') return [];
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(Boolean);
    const found = lines.map((line) => {
      const [, , device = '', root = '', point = ''] = line.split(' ');
      return { device, root: unescapeOctal(root), point: unescapeOctal(point) };
    });
    return found.sort((one, other) => one.point.length - other.point.length);
  } catch {
    return [];
  }
}

function unescapeOctal(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
