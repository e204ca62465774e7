import { relative } from 'node:path';
import { appendAll } from '@notebridge/protocol/util/long-lists';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { ContainedFolder } from '@notebridge/system/files/contained-folder';
import type { SkillFolder } from './skill-folder.js';
import type { SkillHeader } from './skill-header.js';

/** A skill that was found. Its instructions, scripts and resources are read when they are asked for. */
export interface Skill extends SkillHeader {
  /** Nothing outside of it is ever read for the skill. */
  folder: ContainedFolder;
  /** The name of its SKILL.md, which some write in small letters. */
  file: string;
  /** The folder of the config that it was found in. */
  source: SkillFolder;
}

export interface FoundSkills {
  /** No name twice; in the order of the folders, then of names. */
  skills: Skill[];
  /** What was odd, one sentence each, naming the path. */
  problems: string[];
}

/** More than any skill needs: the format wants 500 lines at most. */
const maxSkillFileBytes = 1_048_576;
const deepest = 4;
const mostFolders = 1000;
const mostSkills = 500;
const skippedNames = /^(\..*|node_modules|__pycache__)$/;

/** Finds the skills of some folders, anew each time: only files that changed are read again. */
export class SkillFinder {
  readonly #headers = new Map<string, { version: string; header: SkillHeader }>();

  async find(sources: readonly SkillFolder[]): Promise<FoundSkills> {
    const found: FoundSkills = { skills: [], problems: [] };
    for (const source of sources) await this.#findIn(source, found);
    const kept = new Set(found.skills.map(({ folder }) => folder.path));
    for (const path of this.#headers.keys()) if (!kept.has(path)) this.#headers.delete(path);
    return found;
  }

  async #findIn(source: SkillFolder, found: FoundSkills): Promise<void> {
    const root = await openSource(source).catch((error: unknown) => messageOf(error));
    if (typeof root !== 'object') {
      found.problems.push(root ?? `The skills folder "${source.path}" is not there.`);
      return;
    }
    const skills: Skill[] = [];
    const seen = new Set<string>();
    let level: ContainedFolder[] = [root];
    for (let depth = 0; level.length > 0 && depth <= deepest; depth++) {
      const next: ContainedFolder[] = [];
      for (const folder of level) {
        if (seen.has(folder.path)) continue;
        seen.add(folder.path);
        appendAll(
          next,
          await this.#look(folder, { root, source, skills, problems: found.problems, room: mostFolders - seen.size - next.length }),
        );
      }
      if (seen.size + next.length >= mostFolders) {
        found.problems.push(`In "${source.path}" only the first ${mostFolders} folders were searched for skills.`);
        next.length = Math.max(0, mostFolders - seen.size);
      }
      level = next;
    }
    this.#keep(skills, found);
  }

  /** Takes the skill of a folder; without one, gives the folders inside. */
  async #look(folder: ContainedFolder, search: Search): Promise<ContainedFolder[]> {
    const entries = await folder.list();
    const files = entries.filter(({ name }) => name.toLowerCase() === 'skill.md').sort((one) => (one.name === 'SKILL.md' ? -1 : 1));
    const file = files.find(({ kind }) => kind === 'file');
    if (file !== undefined) {
      const skill = await this.#read(folder, file.name, search);
      if (skill !== undefined) search.skills.push(skill);
      return [];
    }
    const inner: ContainedFolder[] = [];
    for (const { name, kind } of entries) {
      if (skippedNames.test(name) || kind === 'file' || kind === 'other') continue;
      if (inner.length >= search.room) break;
      // A link to elsewhere in the searched folder is as good as what it points to.
      const entered = await search.root.enter(`${pathFrom(search.root, folder)}${name}`);
      if (entered !== undefined) inner.push(entered);
      else search.problems.push(`"${name}" in "${folder.path}" leads out of the skills folder and was left out.`);
    }
    return inner;
  }

  async #read(folder: ContainedFolder, file: string, { source, problems }: Search): Promise<Skill | undefined> {
    const version = await folder.versionOf(file);
    const known = this.#headers.get(folder.path);
    if (known !== undefined && known.version === version) return { ...known.header, folder, file, source };
    const text = await readInstructions(folder, file);
    if (text.kind === 'fault') {
      problems.push(text.why);
      return undefined;
    }
    const { parseSkillFile } = await loadHeaderParser();
    const { header } = parseSkillFile(text.text, folder.name);
    this.#headers.set(folder.path, { version: text.version, header });
    return { ...header, folder, file, source };
  }

  #keep(skills: Skill[], found: FoundSkills): void {
    for (const skill of skills.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = `${skill.folder.path}/${skill.file}`;
      const first = found.skills.find(({ name }) => name === skill.name);
      if (first !== undefined) {
        found.problems.push(`"${path}" has the same name as the skill in "${first.folder.path}" and was left out.`);
      } else if (found.skills.length >= mostSkills) {
        found.problems.push(`"${path}" was left out: there are more than ${mostSkills} skills.`);
      } else {
        found.skills.push(skill);
        appendAll(
          found.problems,
          skill.problems.map((problem) => `"${path}" ${problem}.`),
        );
      }
    }
  }
}

interface Search {
  root: ContainedFolder;
  source: SkillFolder;
  skills: Skill[];
  problems: string[];
  /** How many folders more may be searched. */
  room: number;
}

/** A folder whose programs may be run loses nothing by a file that has a second name. */
async function openSource({ path, trusted, below }: SkillFolder): Promise<ContainedFolder | undefined> {
  const options = { allowsHardLinks: trusted };
  if (below === undefined) return ContainedFolder.open(path, options);
  return (await ContainedFolder.open(below, options))?.enter(relative(below, path).replaceAll('\\', '/'));
}

/** The library for YAML is loaded with the first skill: most starts have none. */
export function loadHeaderParser(): Promise<typeof import('./skill-header.js')> {
  return import('./skill-header.js');
}

/** The text of a SKILL.md. */
export async function readInstructions(
  folder: ContainedFolder,
  file: string,
): Promise<{ kind: 'text'; text: string; version: string } | { kind: 'fault'; why: string }> {
  const read = await folder.read(file, maxSkillFileBytes);
  if (read.kind === 'read') return { kind: 'text', text: new TextDecoder().decode(read.bytes), version: read.version };
  const why = read.kind === 'unreadable' ? read.why : 'cannot be read';
  return { kind: 'fault', why: `"${folder.path}/${file}" ${why}.` };
}

function pathFrom(root: ContainedFolder, folder: ContainedFolder): string {
  const inner = folder.path.slice(root.path.length).replaceAll('\\', '/').replace(/^\/+/, '');
  return inner === '' ? '' : `${inner}/`;
}
