import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Tool } from '../../core/mcp.js';
import type { SavedSkill } from '../../core/saved-skills.js';
import type { SearchedServer } from './known-tools.js';
import { type SearchedTexts, textsOfSkill, textsOfTool } from './tool-document.js';
import { type Scored, ToolIndex } from './tool-index.js';

export type Entry = { kind: 'tool'; server: string; tool: Tool } | { kind: 'skill'; skill: SavedSkill };

export interface FoundEntry {
  entry: Entry;
  score: number;
}

interface Indexed {
  id: number;
  texts: SearchedTexts;
}

interface IndexedSource {
  /** The list that it was made of: the same one needs no look. */
  list: readonly unknown[];
  byName: Map<string, Indexed>;
}

/** Of more tools than these no search would be quick. */
const maxIndexed = 20_000;
/** Tools between which the hub answers others. */
const toolsPerTurn = 25;
/** No server has this name: it is the place of the skills. */
const skillsKey = '\0skills';

/** The index, kept like the lists that it was made of: what is the same in a new list stays as it is. */
export class SearchedTools {
  readonly #index = new ToolIndex();
  readonly #entries = new Map<number, Entry>();
  readonly #sources = new Map<string, IndexedSource>();
  #renewing: Promise<void> = Promise.resolve();
  #sinceTurn = 0;

  /** True if no further tool finds a place. */
  get isFull(): boolean {
    return this.#index.size >= maxIndexed;
  }

  /** Takes over lists that are others than before. One at a time. */
  renew(servers: readonly SearchedServer[], skills: readonly SavedSkill[]): Promise<void> {
    this.#renewing = this.#renewing.then(() => this.#renew(servers, skills));
    return this.#renewing;
  }

  find(query: string, mayFind: (entry: Entry) => boolean): FoundEntry[] {
    const isWanted = (id: number): boolean => {
      const entry = this.#entries.get(id);
      return entry !== undefined && mayFind(entry);
    };
    return this.#index.find(query, isWanted).flatMap(({ id, score }: Scored) => {
      const entry = this.#entries.get(id);
      return entry === undefined ? [] : [{ entry, score }];
    });
  }

  async #renew(servers: readonly SearchedServer[], skills: readonly SavedSkill[]): Promise<void> {
    const known = new Map(servers.map(({ name, tools = [] }) => [name, tools]));
    for (const name of [...this.#sources.keys()]) if (name !== skillsKey && !known.has(name)) this.#take(name, new Map());
    for (const [server, tools] of known) {
      if (this.#sources.get(server)?.list === tools) continue;
      const entries = tools.map((tool): [string, Entry] => [tool.name, { kind: 'tool', server, tool }]);
      // A name that is listed twice is bound as it was listed first.
      await this.#replace(server, tools, new Map(entries.reverse()));
    }
    if (this.#sources.get(skillsKey)?.list !== skills)
      await this.#replace(skillsKey, skills, new Map(skills.map((skill) => [skill.name, { kind: 'skill', skill }])));
    await this.#index.compact();
  }

  async #replace(source: string, list: readonly unknown[], entries: ReadonlyMap<string, Entry>): Promise<void> {
    const byName = this.#take(source, entries);
    for (const [name, entry] of entries) {
      const texts = entry.kind === 'tool' ? textsOfTool(entry.server, entry.tool) : textsOfSkill(entry.skill);
      const before = byName.get(name);
      if (before !== undefined && isSame(before.texts, texts)) {
        this.#entries.set(before.id, entry);
        continue;
      }
      if (before !== undefined) this.#remove(before);
      byName.delete(name);
      if (this.isFull) continue;
      const id = this.#index.add(texts);
      byName.set(name, { id, texts });
      this.#entries.set(id, entry);
      if (++this.#sinceTurn % toolsPerTurn === 0) await nextTurn();
    }
    this.#sources.set(source, { list, byName });
  }

  /** Removes what is not in `entries` any more; returns what is left. */
  #take(source: string, entries: ReadonlyMap<string, Entry>): Map<string, Indexed> {
    const byName = this.#sources.get(source)?.byName ?? new Map<string, Indexed>();
    for (const [name, indexed] of byName) {
      if (entries.has(name)) continue;
      this.#remove(indexed);
      byName.delete(name);
    }
    if (entries.size === 0) this.#sources.delete(source);
    return byName;
  }

  #remove({ id }: Indexed): void {
    this.#index.remove(id);
    this.#entries.delete(id);
  }
}

function isSame(one: SearchedTexts, other: SearchedTexts): boolean {
  return (Object.keys(one) as (keyof SearchedTexts)[]).every((key) => one[key] === other[key]);
}
