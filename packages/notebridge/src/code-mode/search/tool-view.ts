import { loadStubs, type ToolStubs } from '@notebridge/bindings';
import { didYouMean } from '@notebridge/kit/did-you-mean';
import { BridgeError } from '../../core/errors.js';
import type { SavedSkill } from '../../skills/saved-skills.js';
import { quote } from '../../util/quote.js';
import { maxSearched } from './definitions.js';
import { firstSentence, shownName } from './one-line.js';
import type { SearchParams } from './parse-params.js';
import type { Entry, FoundEntry, SearchedTools } from './searched-tools.js';
import type { SeenServer } from './seen-server.js';
import { isReadOnly } from './show-tools.js';
import { Spellings } from './spellings.js';
import { foldName } from './tool-document.js';

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
  #searched: Promise<SearchedTools> | undefined;
  #stubs: Promise<ToolStubs> | undefined;
  #spellings: Promise<Spellings> | undefined;

  constructor(servers: readonly SeenServer[], skills: readonly SavedSkill[]) {
    this.servers = servers;
    this.skills = skills;
    this.size = servers.reduce((sum, { tools }) => sum + tools.length, 0);
  }

  /** What a query finds, best first. */
  async find({ query, server, readOnly }: Pick<SearchParams, 'query' | 'server' | 'readOnly'>): Promise<FoundEntry[]> {
    this.#searched ??= import('./searched-tools.js').then(({ SearchedTools: Searched }) => Searched.of(this));
    const isWanted = (entry: Entry): boolean => {
      if (entry.kind === 'skill') return server === undefined && !readOnly;
      return (server === undefined || entry.server === server) && (!readOnly || isReadOnly(entry.tool));
    };
    return (await this.#searched).find(query, isWanted);
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
