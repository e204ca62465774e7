import type { StubInput } from '@notebridge/bindings';
import { didYouMean } from '@notebridge/kit/did-you-mean';
import { BridgeError } from '../../core/errors.js';
import type { Tool } from '../../core/mcp.js';
import type { SavedSkill } from '../../core/saved-skills.js';
import { quote } from '../../util/quote.js';
import type { SearchedServer } from './known-tools.js';
import { firstSentence, shownName } from './one-line.js';
import { foldName } from './tool-document.js';

/** Names that an error text lists. */
const maxNamed = 30;

export interface ToolViewOptions {
  servers: readonly SearchedServer[];
  skills: readonly SavedSkill[];
  /** Undefined for the tool: one of a server whose tools are not known. */
  mayList: (server: string, tool: Tool | undefined) => boolean;
  /** True if there are tools that no search looks at. */
  isFull: boolean;
}

/** A server as one principal sees it. */
export interface SeenServer {
  name: string;
  description: string | undefined;
  isSkills: boolean;
  /** Sorted by name, each name once; none if they are not known. */
  tools: readonly Tool[];
  /** Why its tools are not known. */
  reason: string | undefined;
}

/** What one principal may know of: nothing else reaches a count, a list or a suggestion. */
export class ToolView {
  readonly skills: readonly SavedSkill[];
  readonly #options: ToolViewOptions;
  #servers: readonly SeenServer[] | undefined;

  constructor(options: ToolViewOptions) {
    this.skills = options.skills;
    this.#options = options;
  }

  /** Sorted by name. Made when it is needed: most searches name no server but those that they find. */
  get servers(): readonly SeenServer[] {
    this.#servers ??= this.#options.servers.flatMap((server) => this.#see(server)).sort(byName);
    return this.#servers;
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
    const { servers, mayList, isFull } = this.#options;
    const silent = servers.filter(({ name, tools }) => tools === undefined && mayList(name, undefined)).slice(0, maxNamed);
    const named = silent.map(({ name, reason = '' }) => `${shownName(name)} (${firstSentence(reason, 200)})`);
    return [
      ...(named.length === 0 ? [] : [`Not searched: ${named.join('; ')}.`]),
      ...(isFull ? ['There are more tools than are searched; list a server to see all of its tools.'] : []),
    ].join(' ');
  }

  /** What bindings are made of: names of functions depend on all of it. */
  bound(): StubInput {
    return { servers: this.servers.filter(({ isSkills }) => !isSkills), skills: this.servers.find(({ isSkills }) => isSkills) };
  }

  #see({ name, description, isSkills, tools, reason }: SearchedServer): SeenServer[] {
    const { mayList } = this.#options;
    const listed = tools?.filter((tool) => mayList(name, tool)) ?? [];
    const isSeen = listed.length > 0 || ((tools === undefined || tools.length === 0) && mayList(name, undefined));
    const unique = new Map([...listed].reverse().map((tool) => [tool.name, tool]));
    return isSeen ? [{ name, description, isSkills, tools: [...unique.values()].sort(byName), reason }] : [];
  }
}

/** By code units: the same order on every machine. */
function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}
