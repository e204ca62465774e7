import type { ToolStubs } from '@notebridge/bindings';
import { didYouMean } from '@notebridge/kit/did-you-mean';
import type { ToolAddress } from '../../core/tool-address.js';
import { shownName } from './one-line.js';
import type { ToolView } from './tool-view.js';

/** Comparing a misspelt name with more than this takes longer than it is worth. */
const maxCompared = 2000;

export interface SpellingsOptions {
  view: ToolView;
  /** With the names that tools have in a language. */
  stubs: ToolStubs;
  /** What stands behind a name that agents see. */
  resolveName: (name: string) => ToolAddress | undefined;
}

/** Finds the tool that a name means, in whatever spelling an agent has seen it. Names of tools that it may not see mean nothing. */
export class Spellings {
  readonly #options: SpellingsOptions;
  readonly #known = new Map<string, ToolAddress>();
  /** Tools by their name alone. */
  readonly #bare = new Map<string, ToolAddress[]>();

  constructor(options: SpellingsOptions) {
    this.#options = options;
    for (const { name: server, tools } of options.view.servers) {
      for (const { name: tool } of tools) {
        const address = { server, tool };
        this.#known.set(`${server}.${tool}`, address).set(`${server}__${tool}`, address);
        this.#bare.set(tool, [...(this.#bare.get(tool) ?? []), address]);
      }
    }
    for (const [name, address] of options.stubs.names) {
      for (const spelling of [name, name.replace('.', '__')]) if (!this.#known.has(spelling)) this.#known.set(spelling, address);
    }
  }

  resolve(name: string): ToolAddress | undefined {
    const wanted = name.trim().replace(/^(generated\.)?mcp\./, '');
    const found = this.#known.get(name) ?? this.#known.get(wanted);
    if (found !== undefined) return found;
    const exposed = this.#options.resolveName(wanted);
    const seen = exposed && this.#known.get(`${exposed.server}.${exposed.tool}`);
    if (seen !== undefined) return seen;
    const named = this.#bare.get(wanted) ?? [];
    return named.length === 1 ? named[0] : undefined;
  }

  /** One line on a name that means no tool, or several. */
  complain(name: string): string {
    const several = this.#bare.get(name.trim()) ?? [];
    if (several.length > 1)
      return `${shownName(name)} is a tool of several servers: ${several.slice(0, 5).map(toText).join(', ')}${several.length > 5 ? ', …' : ''}.`;
    const meant = this.#near(name);
    return `${shownName(name)} is not a tool that you may call${meant === undefined ? '; search_tools finds those' : `; did you mean ${meant}?`}${meant === undefined ? '.' : ''}`;
  }

  #near(name: string): string | undefined {
    const every = [...this.#bare].flatMap(([tool, addresses]) => addresses.map((address) => ({ tool, address }))).slice(0, maxCompared);
    const whole = didYouMean(
      name,
      every.map(({ address }) => `${address.server}.${address.tool}`),
    );
    if (whole !== undefined) return shownName(whole);
    const bare = didYouMean(
      name.split(/\.|__/).at(-1) ?? name,
      every.map(({ tool }) => tool),
    );
    const address = bare === undefined ? undefined : this.#bare.get(bare)?.[0];
    return address && toText(address);
  }
}

function toText({ server, tool }: ToolAddress): string {
  return `${shownName(server)}.${shownName(tool)}`;
}
