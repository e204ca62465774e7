import { createHash } from 'node:crypto';
import type { MayList } from '../../grants/may-list.js';
import type { SavedSkill } from '../../skills/saved-skills.js';
import { maxSearched } from './definitions.js';
import type { SearchedServer } from './known-tools.js';
import { type SeenServer, seenServers } from './seen-server.js';
import { ToolView } from './tool-view.js';

/** Tools of all views that are kept. */
const maxKept = 2 * maxSearched;
/** What a view counts that has few tools. */
const leastSize = 50;

/** Views of principals, kept as long as the lists that they were made of: whoever sees the same tools has the same view. */
export class ToolViews {
  /** The one that was looked at last stands last. */
  readonly #kept = new Map<string, ToolView>();
  #lists: ReadonlySet<unknown> = new Set();

  of(servers: readonly SearchedServer[], skills: readonly SavedSkill[], mayList: MayList): ToolView {
    this.#forgetOld(servers);
    const seen = seenServers(servers, mayList);
    const key = keyOf(seen, skills);
    const known = this.#kept.get(key);
    const view = known ?? new ToolView(seen, skills);
    this.#kept.delete(key);
    this.#kept.set(key, view);
    if (known === undefined) this.#forgetUnused();
    return view;
  }

  /** A view that has tools of an old list would hold all of that in memory, and is not asked for any more. */
  #forgetOld(servers: readonly SearchedServer[]): void {
    const lists = new Set(servers.map(({ tools }) => tools));
    if (lists.size === this.#lists.size && [...lists].every((list) => this.#lists.has(list))) return;
    this.#lists = lists;
    for (const [key, view] of this.#kept) if (view.servers.some(({ list }) => !lists.has(list))) this.#kept.delete(key);
  }

  #forgetUnused(): void {
    let sum = 0;
    for (const { size } of this.#kept.values()) sum += Math.max(size, leastSize);
    for (const [key, { size }] of this.#kept) {
      if (sum <= maxKept || this.#kept.size === 1) return;
      this.#kept.delete(key);
      sum -= Math.max(size, leastSize);
    }
  }
}

/** The same for the same tools and texts. */
function keyOf(servers: readonly SeenServer[], skills: readonly SavedSkill[]): string {
  const texts = servers.map(({ name, description, isSkills, reason, tools }) => [name, description, isSkills, reason, tools.length]);
  const things = servers.flatMap(({ tools, list }): readonly object[] => (tools.length === list?.length ? [tools] : tools));
  return createHash('sha256')
    .update(JSON.stringify(texts))
    .update(new Float64Array([...things, ...skills].map(idOf)))
    .digest('base64');
}

const ids = new WeakMap<object, number>();
let lastId = 0;

/** Each object has another, and none has that of one which is no more. */
function idOf(thing: object): number {
  const id = ids.get(thing) ?? ++lastId;
  if (id === lastId) ids.set(thing, id);
  return id;
}
