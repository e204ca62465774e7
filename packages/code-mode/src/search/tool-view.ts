import { createHash } from 'node:crypto';
import { loadStubs, type ToolStubs } from '@notebridge/bindings';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { MayList } from '@notebridge/protocol/core/may-list';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { quote } from '@notebridge/protocol/util/quote';
import type { SavedSkill } from '../skills/saved-skills.js';
import { type SearchedServer, type SeenServer, seenServers } from './known-tools.js';
import { firstSentence, foldName, shownName } from './one-line.js';
import type { SearchParams } from './search-params.js';
import { type Entry, type FoundEntry, isReadOnly } from './show-tools.js';
import { Spellings } from './spellings.js';
import type { ToolIndex } from './tool-index.js';

/** No search of more tools than these would be quick. */
const maxSearched = 20_000;
/** Tools of all views that are kept. */
const maxKept = 2 * maxSearched;
/** What a view counts that has few tools. */
const leastSize = 50;
/** Names that an error text lists. */
const maxNamed = 30;

/**
 * What one principal may know of: nothing else reaches a count, a score, a list or a suggestion. What takes time to make of it is made once, when it
 * is needed.
 */
export class ToolView {
  /** Sorted by name. */
  readonly servers: readonly SeenServer[];
  readonly skills: readonly SavedSkill[];
  /** How many tools there are. */
  readonly size: number;
  #index: Promise<ToolIndex<Entry>> | undefined;
  #stubs: Promise<ToolStubs> | undefined;
  #spellings: Promise<Spellings> | undefined;

  constructor(servers: readonly SeenServer[], skills: readonly SavedSkill[]) {
    this.servers = servers;
    this.skills = skills;
    this.size = servers.reduce((sum, { tools }) => sum + tools.length, 0);
  }

  /** What a query finds, best first. */
  async find({ query, server, readOnly }: Pick<SearchParams, 'query' | 'server' | 'readOnly'>): Promise<FoundEntry[]> {
    this.#index ??= import('./tool-index.js').then(({ indexOf }) => indexOf(this.#entries()));
    const isWanted = (entry: Entry): boolean => {
      if (entry.kind === 'skill') return server === undefined && !readOnly;
      return (server === undefined || entry.server === server) && (!readOnly || isReadOnly(entry.tool));
    };
    return (await this.#index).find(query, isWanted);
  }

  #entries(): Entry[] {
    const tools = this.servers.flatMap(({ name: server, tools: own }) => own.map((tool): Entry => ({ kind: 'tool', server, tool })));
    return [...tools, ...this.skills.map((skill): Entry => ({ kind: 'skill', skill }))].slice(0, maxSearched);
  }

  /** The functions that code has: their names depend on all tools. */
  stubs(): Promise<ToolStubs> {
    this.#stubs ??= loadStubs({
      servers: this.servers.filter(({ isSkills }) => !isSkills),
      skills: this.servers.find(({ isSkills }) => isSkills),
    });
    return this.#stubs;
  }

  spellings(): Promise<Spellings> {
    this.#spellings ??= this.stubs().then((stubs) => new Spellings(this.servers, stubs));
    return this.#spellings;
  }

  /** A server by its name, in any spelling that means one of them. Throws `unknown_server` that says what there is. */
  server(wanted: string): SeenServer {
    const exact = this.servers.find(({ name }) => name === wanted);
    const alike = this.servers.filter(({ name }) => foldName(name) === foldName(wanted));
    const found = exact ?? (alike.length === 1 ? alike[0] : undefined);
    if (found !== undefined) return found;
    const names = this.servers.map(({ name }) => name);
    const meant = didYouMean(wanted, names);
    throw new BridgeError(
      'unknown_server',
      `There is no server ${quote(wanted)}${meant === undefined ? '' : `; did you mean ${shownName(meant)}?`} ${this.namesOfServers()}`,
    );
  }

  /** A sentence. */
  namesOfServers(): string {
    if (this.servers.length === 0) return 'There are no servers whose tools you may call.';
    const shown = this.servers.slice(0, maxNamed).map(({ name, tools }) => `${shownName(name)} (${tools.length})`);
    const more = this.servers.length - shown.length;
    return `Servers: ${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}.`;
  }

  /** Sentences on what a search did not look at; empty if it looked at all. */
  leftOut(): string {
    const silent = this.servers.flatMap(({ name, reason }) =>
      reason === undefined ? [] : [`${shownName(name)} (${firstSentence(reason, 200)})`],
    );
    return [
      ...(silent.length === 0 ? [] : [`Not searched: ${silent.slice(0, maxNamed).join('; ')}.`]),
      ...(this.size > maxSearched ? ['There are more tools than are searched; list a server to see all of its tools.'] : []),
    ].join(' ');
  }
}

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
    const lists = new Set(servers.map(({ list }) => list));
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
