import type { ToolStubs } from '@notebridge/bindings';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { getOrMake } from '@notebridge/protocol/util/get-or-make';
import type { SeenServer } from './known-tools.js';
import { shownName } from './one-line.js';

/** The server and tool behind a name that agents see. */
export type ResolveName = (name: string) => ToolAddress | undefined;

/** Finds the tool that a name means, in whatever spelling an agent has seen it. Names of tools that it may not see mean nothing. */
export class Spellings {
  /** The server's name and the tool's; of several that are written the same, all. */
  readonly #whole = new Map<string, ToolAddress[]>();
  /** As code has them. */
  readonly #inCode: ReadonlyMap<string, ToolAddress>;
  /** Tools by their name alone. */
  readonly #bare = new Map<string, ToolAddress[]>();

  /** @param names Those that tools have in code. */
  constructor(servers: readonly SeenServer[], { names }: Pick<ToolStubs, 'names'>) {
    for (const { name: server, tools } of servers) {
      for (const { name: tool } of tools) {
        const address = { server, tool };
        for (const whole of [`${server}.${tool}`, `${server}__${tool}`]) getOrMake(this.#whole, whole, () => []).push(address);
        getOrMake(this.#bare, tool, () => []).push(address);
      }
    }
    this.#inCode = new Map(
      [...names].flatMap(([name, address]) => [name, name.replace('.', '__')].map((each) => [each, address] as const)),
    );
  }

  resolve(name: string, resolveName: ResolveName): ToolAddress | undefined {
    const wanted = cleaned(name);
    const whole = this.#whole.get(name) ?? this.#whole.get(wanted) ?? [];
    if (whole.length === 1) return whole[0];
    return (
      this.#exposed(wanted, resolveName) ?? (whole.length > 1 ? undefined : (this.#inCode.get(wanted) ?? only(this.#bare.get(wanted))))
    );
  }

  /** One line on a name that means no tool, or several. */
  complain(name: string): string {
    const wanted = cleaned(name);
    const several = this.#whole.get(wanted) ?? this.#bare.get(wanted) ?? [];
    if (several.length > 1)
      return `${shownName(name)} means several tools: ${several.slice(0, 5).map(toText).join(', ')}${several.length > 5 ? ', …' : ''}.`;
    const meant = this.#near(wanted);
    return `${shownName(name)} is not a tool that you may call${meant === undefined ? '; search_tools finds those.' : `; did you mean ${meant}?`}`;
  }

  #exposed(name: string, resolveName: ResolveName): ToolAddress | undefined {
    const address = resolveName(name);
    const isSeen = address !== undefined && this.#bare.get(address.tool)?.some(({ server }) => server === address.server) === true;
    return isSeen ? address : undefined;
  }

  #near(name: string): string | undefined {
    const all = [...this.#bare.values()].flat();
    const names = all.map(({ server, tool }) => `${server}.${tool}`);
    const whole = didYouMean(name, names);
    if (whole !== undefined) return shownName(whole);
    const last = name.split(/\.|__/).at(-1) ?? name;
    const bare = didYouMean(last, [...this.#bare.keys()]);
    const address = bare === undefined ? undefined : this.#bare.get(bare)?.[0];
    return address && toText(address);
  }
}

/** `generated.mcp.github.star_repo`, as an import has it, is `github.star_repo`. */
function cleaned(name: string): string {
  return name.trim().replace(/^(generated\.)?mcp\./, '');
}

function only(addresses: readonly ToolAddress[] = []): ToolAddress | undefined {
  return addresses.length === 1 ? addresses[0] : undefined;
}

function toText({ server, tool }: ToolAddress): string {
  return `${shownName(server)}.${shownName(tool)}`;
}
