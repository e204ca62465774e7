import { createHash } from 'node:crypto';
import { isJsonObject } from '@notebridge/kit/json';
import type { SavedSkill, SavedSkillFiles } from '../../skills/saved-skills.js';
import { tryJson } from '../../util/try-json.js';

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

/** One part of a path on every system, and nothing that a shell or a pattern reads as more. */
export const skillName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

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
export function parseIndex(text: string): SkillRecord[] | undefined {
  const read = tryJson(text);
  if (!isJsonObject(read) || read.version !== 1 || !Array.isArray(read.skills)) return undefined;
  return read.skills.flatMap((entry: unknown) => (isRecord(entry) ? [entry] : []));
}

export function printIndex(skills: readonly SkillRecord[]): string {
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
