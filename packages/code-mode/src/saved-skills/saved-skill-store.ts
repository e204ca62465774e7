import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Principal } from '@notebridge/protocol/core/principal';
import { principalKey } from '@notebridge/protocol/core/principal';
import { isJsonObject } from '@notebridge/protocol/json';
import { foldSkillName } from '@notebridge/protocol/util/fold-skill-name';
import { quote } from '@notebridge/protocol/util/quote';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { ContainedFolder } from '@notebridge/system/files/contained-folder';
import { withFileLock } from '@notebridge/system/files/file-lock';
import { ensurePrivateDir, fileStamp, readPrivateFile, replacePrivateFile } from '@notebridge/system/files/private-file';
import { createPrivateFolder, keepPrivateFolders } from '@notebridge/system/files/private-folder';
import { removeTree } from '@notebridge/system/files/remove-tree';
import { ownUserId } from '@notebridge/system/processes/own-user';
import type { SavedSkill, SavedSkillFiles } from '../skills/saved-skills.js';

/** One part of a path on every system, and nothing that a shell or a pattern reads as more. */
export const skillName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Skills of one saver. */
const mostOfOne = 100;
/** Of all savers together: who is one only for an hour must not fill the disk. */
const mostOfAll = 1000;
const maxFileBytes = 4 * 1024 * 1024;

const paths = { document: 'SKILL.md', code: 'scripts/run.py', tests: 'tests/test.py' } as const;

/** A saved skill, as the index of all of them has it. */
export interface SkillRecord extends SavedSkill {
  /** Whose it is: `principalKey` of who saved it. */
  saver: string;
  /** Of its files; it is also the name of its folder. */
  hash: string;
  /** ISO 8601. */
  savedAt: string;
  hasTests: boolean;
  /** True: the owner lets everyone see and run it, as its files are. */
  trusted: boolean;
}

export interface SkillToSave extends SavedSkill {
  saver: string;
  files: SavedSkillFiles;
  /** Whether one of the same name and saver is replaced. */
  overwrites: boolean;
}

/**
 * The saved skills of a user, shared by all hubs of that user: an index, and beside it a folder for each skill that is named by its content.
 * The index alone says what there is, so at every moment a skill is there as it was, or as it is now.
 */
export class SavedSkillStore {
  readonly #dir: string;
  #stamp: string | undefined;
  #records: readonly SkillRecord[] = [];

  constructor({ stateDir }: { stateDir: string }) {
    this.#dir = join(stateDir, 'skills');
  }

  /** @throws BridgeError `write_failed` for an index that others could have written. */
  all(): readonly SkillRecord[] {
    const stamp = fileStamp(this.#indexFile);
    if (stamp === this.#stamp) return this.#records;
    this.#records = this.#read();
    this.#stamp = stamp;
    return this.#records;
  }

  /** Those that a principal may know of: its own, and what the owner trusts. */
  knownTo(principal: Principal): SkillRecord[] {
    const key = principalKey(principal);
    return this.all().filter(({ saver, trusted }) => trusted || saver === key);
  }

  /** No name twice: one's own comes before what the owner trusts of others, and of these the first that was trusted. */
  seenBy(principal: Principal): readonly SkillRecord[] {
    const key = principalKey(principal);
    const seen = this.knownTo(principal);
    const ordered = [...seen.filter(({ saver }) => saver === key), ...seen.filter(({ saver }) => saver !== key)];
    return ordered.filter(({ name }, index) => ordered.findIndex((other) => other.name === name) === index);
  }

  /** The files, if they are those that were saved. Rejects with `skill_changed`. */
  async open(record: SkillRecord): Promise<SavedSkillFiles> {
    const files = await this.#filesOf(record);
    if (files !== undefined) return files;
    // Saved anew, or deleted, since the index was read.
    const current = this.all().find((one) => isSame(one, record));
    // Whoever may see what was trusted may not see what came in its place.
    const maySee = current !== undefined && (current.trusted || !record.trusted);
    if (maySee && current.hash !== record.hash) return this.open(current);
    throw new BridgeError(
      'skill_changed',
      `The files of the skill ${quote(record.name)} are not those that were saved, so it is not run. Save it again (overwrite=True), or delete it.`,
    );
  }

  /** Rejects with `skill_exists`, `limit_reached`, `write_failed`. */
  async save({ files, overwrites, ...skill }: SkillToSave): Promise<SkillRecord> {
    const { name, saver } = skill;
    const hash = hashOfFiles(name, files);
    const record = { ...skill, hash, savedAt: new Date().toISOString(), hasTests: files.tests !== '', trusted: false };
    await this.#change(async (all) => {
      this.assertFree(name, { saver, overwrites }, all);
      const folder = join(this.#dir, folderOfSaver(saver));
      ensurePrivateDir(folder, { uid: ownUserId() });
      const entries = Object.entries(paths).map(([key, path]): [string, string] => [`${name}/${path}`, files[key as keyof typeof paths]]);
      // What somebody has made of these very files stands under the same name.
      if ((await this.#filesOf(record)) === undefined) await removeTree(join(folder, hash));
      await createPrivateFolder(join(folder, hash), new Map(entries.filter(([, text]) => text !== '')));
      return [...all.filter((one) => !isSame(one, record)), record];
    });
    return record;
  }

  /** @throws BridgeError `skill_exists`, `limit_reached` */
  assertFree(name: string, { saver, overwrites }: { saver: string; overwrites: boolean }, all: readonly SkillRecord[] = this.all()): void {
    const own = all.filter((one) => one.saver === saver);
    if (own.some((one) => one.name === name)) {
      if (overwrites) return;
      throw new BridgeError(
        'skill_exists',
        `There is a skill ${quote(name)} of yours. Pass overwrite=True to replace it, or take another name.`,
      );
    }
    if (all.some((one) => one.trusted && foldSkillName(one.name) === foldSkillName(name)))
      throw new BridgeError('skill_exists', `There is a skill ${quote(name)} that the owner trusts for all. Take another name.`);
    if (own.length >= mostOfOne)
      throw new BridgeError('limit_reached', `You have ${mostOfOne} skills, which is all that one may have. Delete one.`);
    if (all.length >= mostOfAll)
      throw new BridgeError(
        'limit_reached',
        `There are ${mostOfAll} skills, and no more are kept. Its owner deletes some with "notebridge skills delete".`,
      );
  }

  /** False if there is no such skill of that saver. */
  async remove({ saver, name }: Pick<SkillRecord, 'saver' | 'name'>): Promise<boolean> {
    if (!this.all().some((one) => isSame(one, { saver, name }))) return false;
    await this.#change(async (all) => all.filter((one) => !isSame(one, { saver, name })));
    return true;
  }

  /**
   * Everybody may see and run it from now on, or its saver alone: as the record has it, and nothing that was saved later. Its files must be
   * whole. Rejects with `skill_exists`, `skill_changed`.
   */
  async trust(record: SkillRecord, trusted: boolean): Promise<void> {
    if (trusted) await this.open(record);
    await this.#change(async (all) => {
      const other = all.find(
        (one) => trusted && one.trusted && foldSkillName(one.name) === foldSkillName(record.name) && !isSame(one, record),
      );
      if (other !== undefined)
        throw new BridgeError(
          'skill_exists',
          `"${idOf(other)}" is trusted already, and has the same name. Delete or distrust that one first.`,
        );
      // What was saved meanwhile nobody has looked at.
      if (!all.some((one) => isSame(one, record) && one.hash === record.hash))
        throw new BridgeError('skill_changed', `"${idOf(record)}" was saved anew, or deleted, since it was shown. Nothing was changed.`);
      return all.map((one) => (isSame(one, record) ? { ...one, trusted } : one));
    });
  }

  async #filesOf({ saver, hash, name }: SkillRecord): Promise<SavedSkillFiles | undefined> {
    const root = await ContainedFolder.open(this.#dir);
    const folder = await root?.enter(`${folderOfSaver(saver)}/${hash}/${name}`);
    const read = async (path: string): Promise<string | undefined> => {
      const found = await folder?.read(path, maxFileBytes);
      return found?.kind === 'read' ? new TextDecoder().decode(found.bytes) : undefined;
    };
    const [document, code, tests = ''] = await Promise.all([read(paths.document), read(paths.code), read(paths.tests)]);
    if (document === undefined || code === undefined) return undefined;
    const files = { document, code, tests };
    return hashOfFiles(name, files) === hash ? files : undefined;
  }

  async #change(work: (all: readonly SkillRecord[]) => Promise<readonly SkillRecord[]>): Promise<void> {
    ensurePrivateDir(this.#dir, { uid: ownUserId() });
    const lockFile = join(this.#dir, 'index.lock');
    await withFileLock(
      lockFile,
      async (lock) => {
        const before = this.#read();
        const after = await work(before);
        if (!lock.isHeld())
          throw new BridgeError('write_failed', `"${lockFile}" was taken by another process. Nothing was saved: try again.`);
        replacePrivateFile(this.#indexFile, printIndex(after));
        this.#stamp = undefined;
        for (const saver of new Set(before.map((one) => one.saver))) {
          const kept = new Set(after.filter((one) => one.saver === saver).map((one) => one.hash));
          await keepPrivateFolders(join(this.#dir, folderOfSaver(saver)), kept);
        }
      },
      { isLong: true },
    );
  }

  #read(): SkillRecord[] {
    const text = readPrivateFile(this.#indexFile, { uid: ownUserId() });
    if (text === undefined) return [];
    const read = parseIndex(text);
    if (read !== undefined) return read;
    throw new BridgeError(
      'write_failed',
      `"${this.#indexFile}" is no index of skills. Move it away: the skills that it named are then gone.`,
    );
  }

  get #indexFile(): string {
    return join(this.#dir, 'index.json');
  }
}

function isSame(one: Pick<SkillRecord, 'saver' | 'name'>, other: Pick<SkillRecord, 'saver' | 'name'>): boolean {
  return one.saver === other.saver && one.name === other.name;
}

/** What the files of a skill are told by; those of another name never have the same. */
export function hashOfFiles(name: string, { document, code, tests }: SavedSkillFiles): string {
  return createHash('sha256')
    .update(JSON.stringify([name, document, code, tests]))
    .digest('hex')
    .slice(0, 32);
}

/** The name of the folder of all skills of one saver. */
export function folderOfSaver(saver: string): string {
  return createHash('sha256').update(saver).digest('hex').slice(0, 32);
}

/** What people call one of several of the same name. */
export function idOf({ saver, name }: Pick<SkillRecord, 'saver' | 'name'>): string {
  return `${folderOfSaver(saver).slice(0, 8)}/${name}`;
}

/** The records of an index; undefined if the text is none. What is odd in it is left out: a name becomes part of a path. */
function parseIndex(text: string): SkillRecord[] | undefined {
  const read = tryJson(text);
  if (!isJsonObject(read) || read.version !== 1 || !Array.isArray(read.skills)) return undefined;
  return read.skills.flatMap((entry: unknown) => (isRecord(entry) ? [entry] : []));
}

function printIndex(skills: readonly SkillRecord[]): string {
  return `${JSON.stringify({ version: 1, skills }, null, 1)}\n`;
}

function isRecord(entry: unknown): entry is SkillRecord {
  if (!isJsonObject(entry)) return false;
  const { saver, name, description, tags, hash, savedAt, hasTests, trusted } = entry;
  const hasTexts = [saver, description, savedAt].every((value) => typeof value === 'string');
  const hasFlags = typeof hasTests === 'boolean' && typeof trusted === 'boolean';
  const hasTags = Array.isArray(tags) && tags.every((tag) => typeof tag === 'string');
  return hasTexts && hasFlags && hasTags && skillName.test(String(name)) && /^[0-9a-f]{32}$/.test(String(hash));
}
