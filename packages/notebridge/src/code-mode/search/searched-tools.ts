import type { Tool } from '../../core/mcp.js';
import type { SavedSkill } from '../../skills/saved-skills.js';
import { TimeSlices } from '../../util/time-slices.js';
import { maxSearched } from './definitions.js';
import type { SeenServer } from './seen-server.js';
import { ToolIndex } from './tool-index.js';
import { termsOfSkill, termsOfTool } from './tool-terms.js';

export type Entry = { kind: 'tool'; server: string; tool: Tool } | { kind: 'skill'; skill: SavedSkill };

export interface FoundEntry {
  entry: Entry;
  /** Beside that of the best one, which is 1. */
  score: number;
}

/** Others have a turn when an index was made for so long. Milliseconds. */
const turnMs = 5;

/** What one principal sees, as searches look at it. What it does not see is not known here, so that it changes nothing of an answer. */
export class SearchedTools {
  readonly #index = new ToolIndex();
  readonly #entries: readonly Entry[];

  private constructor(entries: readonly Entry[]) {
    this.#entries = entries;
  }

  static async of({ servers, skills }: { servers: readonly SeenServer[]; skills: readonly SavedSkill[] }): Promise<SearchedTools> {
    const tools = servers.flatMap(({ name: server, tools: own }) => own.map((tool): Entry => ({ kind: 'tool', server, tool })));
    const entries = [...tools, ...skills.map((skill): Entry => ({ kind: 'skill', skill }))].slice(0, maxSearched);
    const searched = new SearchedTools(entries);
    const turns = new TimeSlices(turnMs);
    for (const entry of entries) {
      searched.#index.add(entry.kind === 'tool' ? termsOfTool(entry.server, entry.tool) : termsOfSkill(entry.skill));
      await turns.pause();
    }
    return searched;
  }

  /** Finds, best first, of what may be found. */
  async find(query: string, mayFind: (entry: Entry) => boolean): Promise<FoundEntry[]> {
    const entryAt = (at: number): Entry => this.#entries[at] as Entry;
    const found = await this.#index.find(query, (at) => mayFind(entryAt(at)));
    return found.map(({ at, score }) => ({ entry: entryAt(at), score }));
  }
}
