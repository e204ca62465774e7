import { randomBytes } from 'node:crypto';
import { lstat, lutimes, mkdir, readdir, readlink, realpath, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { errnoOf, reasonOf, remedyOf } from '@notebridge/protocol/util/errno';
import { isWithin } from '../starts/find-written.js';
import type { ContainedFolder } from './contained-folder.js';
import { type FileTree, isCache, isSameTree, readText, writeTree } from './file-tree.js';
import { failOutside, makeFolderInside, openInside, type WrittenBy } from './folder-inside.js';
import { type Processes, putBack, sweep } from './published-leftovers.js';
import { PublishedNames } from './published-names.js';
import { removeTree } from './remove-tree.js';

export interface PublishOptions {
  /** A hash of the files, in hex: it names the folder behind a link. */
  contentHash: string;
  /** A file that every folder of this kind has, and a check of its text. What has no such file is never replaced. */
  marker: { file: string; isOurs: (text: string) => boolean };
  /**
   * Where nothing stands yet. True: the path becomes a link to a folder beside it, so that readers see the old or the new at any moment,
   * and readers that have the old one open keep it. False: a plain folder. What stands there stays of its kind.
   */
  asLink: boolean;
  /** In such a folder no link says where we write: one in the place of ours, or that leads out on the way, is refused. */
  writtenBy: WrittenBy;
  /** The number of this process, and whether one of a number runs: what others write just now is left alone. */
  processes: Processes;
}

/**
 * Makes the folder hold exactly these files, or says that it does. The new folder is complete before it is seen; if writing it fails, or
 * we are killed, the old one stands. Rejects with `bad_usage` for what is not ours, and `write_failed`.
 */
export async function publishFolder(path: string, files: FileTree, options: PublishOptions): Promise<'written' | 'unchanged'> {
  const whole = resolve(path);
  try {
    const folder = options.writtenBy(whole);
    if (folder === undefined) return await publishAt(whole, files, { ...options, shown: whole, followsLinks: !options.asLink });
    const { parent, name } = await enterParent(whole, folder);
    const publishing = { ...options, shown: whole, followsLinks: false };
    if (parent === undefined) return await publishAt(folder, files, publishing);
    return await parent.holdLocation((location) => publishAt(join(location, name), files, publishing));
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    throw new BridgeError(
      'write_failed',
      `Cannot write the folder "${path}": ${reasonOf(error)}. ${remedyOf(error)} What was there is unchanged.`,
      {
        data: { path, reason: errnoOf(error) ?? 'unknown' },
        cause: error,
      },
    );
  }
}

interface Publishing extends PublishOptions {
  /** The path as the person knows it. */
  shown: string;
  followsLinks: boolean;
}

async function publishAt(path: string, files: FileTree, options: Publishing): Promise<'written' | 'unchanged'> {
  const place = await lookAt(path, options);
  await assertOurs(place, options);
  if (place.folder !== undefined && (await isSameTree(place.folder, files))) {
    await sweep(place.names, options.processes);
    return 'unchanged';
  }
  await mkdir(place.names.parent, { recursive: true });
  if (place.kind === 'link' || (place.kind === 'nothing' && options.asLink)) await publishAsLink(place, files, options);
  else await publishPlainly(place, await writeNew(place, files));
  await sweep(place.names, options.processes);
  return 'written';
}

/** Where `path` stands in such a folder, its parent held. The folder itself has its parent where no code writes: undefined. */
async function enterParent(path: string, folder: string): Promise<{ parent: ContainedFolder | undefined; name: string }> {
  const [above, name] = [await realpath(dirname(path)).catch(orNothing), basename(path)];
  if (above !== undefined && join(above, name) === folder) return { parent: undefined, name };
  if (above === undefined || isWithin(above, folder)) return { parent: await makeFolderInside(dirname(path), folder), name };
  // A link of the person's, outside.
  const real = (await realpath(path).catch(orNothing)) ?? failOutside(folder);
  if (real === folder) return { parent: undefined, name };
  return { parent: await openInside(dirname(real), folder), name: basename(real) };
}

/** A manifest of thousands of tools has some hundred thousand. */
const maxMarkerBytes = 16_777_216;

interface Place {
  names: PublishedNames;
  /** `link`: one of ours, to a folder beside it. */
  kind: 'nothing' | 'link' | 'folder';
  /** Where the files are now. */
  folder: string | undefined;
}

async function lookAt(path: string, options: Publishing): Promise<Place> {
  const { processes, shown, followsLinks } = options;
  const names = new PublishedNames(dirname(path), basename(path), processes.own);
  const look = () => lstat(path).catch(orNothing);
  const found = (await look()) ?? ((await putBack(names, processes)) ? await look() : undefined);
  if (found === undefined) return { names, kind: 'nothing', folder: undefined };
  if (found.isDirectory()) return { names, kind: 'folder', folder: path };
  if (!found.isSymbolicLink()) throw notOurs(shown, 'it is no folder');
  const aim = await readlink(path);
  if (names.isVersion(aim)) return { names, kind: 'link', folder: join(names.parent, aim) };
  // Where kernels read, they may write as well: no link of theirs says where we do.
  if (!followsLinks) throw notOurs(shown, 'it is a link to elsewhere');
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) throw notOurs(shown, 'it is a link to nothing');
  return lookAt(real, { ...options, shown: real });
}

/** An empty folder may be taken: it was made for us. */
async function assertOurs({ folder }: Place, { marker, shown }: Publishing): Promise<void> {
  if (folder === undefined) return;
  const text = await readText(join(folder, marker.file), maxMarkerBytes);
  if (text !== undefined && marker.isOurs(text)) return;
  const inside = await readdir(folder).catch(orNothing);
  if (inside?.some((name) => !isCache(name)) === true)
    throw notOurs(shown, `it holds files that were not generated (no ${marker.file} of ours)`);
}

function notOurs(path: string, why: string): BridgeError {
  return new BridgeError('bad_usage', `"${path}" is not overwritten: ${why}. Name another folder, or remove that one yourself.`, {
    data: { path },
  });
}

async function writeNew({ names }: Place, files: FileTree): Promise<string> {
  const folder = names.temporary('new');
  try {
    await writeTree(folder, files);
    return folder;
  } catch (error) {
    await removeTree(folder).catch(() => {});
    throw error;
  }
}

/** One rename swaps the link: at no moment is there none. */
async function publishAsLink(place: Place, files: FileTree, { contentHash }: PublishOptions): Promise<void> {
  const { names, folder: old } = place;
  const version = await writeVersion(place, files, contentHash);
  const link = names.temporary('link');
  try {
    await symlink(version, link, 'dir');
  } catch (error) {
    // Not every system or volume has links.
    if (old !== undefined || !['EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL'].includes(errnoOf(error) ?? '')) throw error;
    return publishPlainly(place, join(names.parent, version));
  }
  try {
    await rename(link, names.path);
  } catch (error) {
    await rm(link, { force: true }).catch(() => {});
    throw error;
  }
  // From now on it is an old one: its age says when it may go.
  if (old !== undefined) await touch(old);
}

/** The name of the folder that holds these files: an old one if it does, else a new one. */
async function writeVersion(place: Place, files: FileTree, contentHash: string): Promise<string> {
  const { names } = place;
  const version = names.version(contentHash);
  if (await isSameTree(join(names.parent, version), files)) {
    await touch(join(names.parent, version));
    return version;
  }
  const folder = await writeNew(place, files);
  try {
    await rename(folder, join(names.parent, version));
    return version;
  } catch (error) {
    // The content of the folder of that name was changed.
    if (!['EEXIST', 'ENOTEMPTY'].includes(errnoOf(error) ?? '')) throw error;
    const other = names.version(contentHash, randomBytes(2).toString('hex'));
    await rename(folder, join(names.parent, other));
    return other;
  }
}

async function publishPlainly({ names, folder: old }: Place, folder: string): Promise<void> {
  const aside = names.temporary('old');
  if (old !== undefined) await rename(old, aside);
  try {
    await rename(folder, names.path);
  } catch (error) {
    if (old !== undefined) await rename(aside, names.path).catch(() => {});
    await removeTree(folder).catch(() => {});
    throw error;
  }
  await removeTree(aside).catch(() => {});
}

async function touch(folder: string): Promise<void> {
  const now = new Date();
  await lutimes(folder, now, now).catch(() => {});
}

function orNothing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
