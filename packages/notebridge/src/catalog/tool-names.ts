import type { Tool } from '@notebridge/protocol/core/mcp';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { Exposure, NameStyle, ToolServer, ToolServers } from '@notebridge/protocol/core/tool-server';
import { exposeNames, type NamingRules, ownersByPrefix } from './exposed-names.js';

/** What the names were made of. */
interface Source {
  server: ToolServer;
  expose: Exposure;
  names: NameStyle | undefined;
  isDisabled: boolean;
  tools: readonly Tool[] | undefined;
}

interface Names {
  /** The revision of the servers when the names were made. */
  revision: number | undefined;
  sources: readonly Source[];
  plain: PlainNames;
  /** Of the tools that agents see. */
  direct: ReadonlyMap<string, ToolAddress>;
  /** Of those that only code can call. */
  ofCode: ReadonlyMap<string, ToolAddress>;
  byAddress: ReadonlyMap<string, string>;
  /** Finds the server whose prefix a name has, among those whose tools agents see. */
  ownerByPrefix: (name: string) => string | undefined;
}

/**
 * The one name of each tool of the servers, for lists and at every door. Tools that only code can call have one too, by the same rule;
 * they take none from a tool that agents see. Made anew when the servers or their lists are others than before.
 */
export class ToolNames {
  readonly #servers: ToolServers;
  #names: Names | undefined;

  constructor(servers: ToolServers) {
    this.#servers = servers;
  }

  /** Which tools have no prefix, and which were refused that. */
  get plain(): PlainNames {
    return this.#current.plain;
  }

  /** The tools that agents see, by name. */
  get direct(): ReadonlyMap<string, ToolAddress> {
    return this.#current.direct;
  }

  /** What stands behind a name; of tools that only code can call as well. */
  resolve(name: string): ToolAddress | undefined {
    const { direct, ofCode } = this.#current;
    return direct.get(name) ?? ofCode.get(name);
  }

  /** The name of a tool that its server lists; undefined for any other. */
  find(address: ToolAddress): string | undefined {
    return this.#current.byAddress.get(toolKeyOf(address));
  }

  /** The name of a tool. One that its server does not list has the name that it would have beside all the others. */
  nameOf(address: ToolAddress): string {
    const known = this.find(address);
    if (known !== undefined) return known;
    const { direct, ofCode, plain } = this.#current;
    const [name = ''] = exposeNames([address], { ...plain.rules, isTaken: (taken) => direct.has(taken) || ofCode.has(taken) }).keys();
    return name;
  }

  /** The server that a name which stands for no known tool may be of: by its prefix, or without one while the tools of that are not known. */
  ownerOfUnknown(name: string): ToolServer | undefined {
    const { ownerByPrefix, plain } = this.#current;
    const owner = ownerByPrefix(name);
    const byPrefix = owner === undefined ? undefined : this.#servers.get(owner);
    return byPrefix ?? (plain.server?.knownTools === undefined && plain.mayHave(name) ? plain.server : undefined);
  }

  get #current(): Names {
    const { revision, takenNames } = this.#servers;
    const names = this.#names;
    if (names !== undefined && names.plain.takenNames === takenNames) {
      const isCurrent = revision === undefined ? isMadeOf(names.sources, this.#servers.all()) : revision === names.revision;
      if (isCurrent) return names;
    }
    this.#names = makeNames(this.#servers);
    return this.#names;
  }
}

function isMadeOf(sources: readonly Source[], servers: readonly ToolServer[]): boolean {
  if (sources.length !== servers.length) return false;
  return sources.every(({ server, expose, names, isDisabled, tools }, index) => {
    const now = servers[index];
    if (now !== server || now.names !== names) return false;
    return now.knownTools === tools && now.expose === expose && (now.status === 'disabled') === isDisabled;
  });
}

function makeNames(servers: ToolServers): Names {
  const { revision, takenNames } = servers;
  const all = servers.all();
  const sources = all.map((server) => ({
    server,
    expose: server.expose,
    names: server.names,
    isDisabled: server.status === 'disabled',
    tools: server.knownTools,
  }));
  const plain = new PlainNames(all, takenNames);
  const shown = sources.filter(({ expose }) => expose === 'direct');
  const direct = exposeNames(addressesOf(shown), plain.rules);
  const isOfCode = ({ expose, isDisabled }: Source): boolean => expose === 'code' && !isDisabled;
  const ofCode = exposeNames(addressesOf(sources.filter(isOfCode)), { isTaken: (name) => direct.has(name) });
  const byAddress = new Map([...direct, ...ofCode].map(([name, address]) => [toolKeyOf(address), name]));
  const ownerByPrefix = ownersByPrefix(shown.map(({ server }) => server.name));
  return { revision, sources, plain, direct, ofCode, byAddress, ownerByPrefix };
}

function addressesOf(sources: readonly Source[]): ToolAddress[] {
  return sources.flatMap(({ server, tools = [] }) => tools.map(({ name }) => ({ server: server.name, tool: name })));
}

/** The same for the same tool. */
export function toolKeyOf({ server, tool }: ToolAddress): string {
  return `${server}\0${tool}`;
}

/**
 * Which names of the one server with `names: "plain"` stand without its prefix. A name is refused that, and has the prefix, where
 * it would be that of a tool of the notebook, or could be that of another server's: whatever the tools of that are, so that the same
 * name means the same in whatever order servers start. Names are then never ambiguous, also to the guard.
 */
class PlainNames {
  /** The server whose names have no prefix. Of several, which the config forbids: the first. */
  readonly server: ToolServer | undefined;
  readonly takenNames: ReadonlySet<string> | undefined;
  readonly #otherOf: (name: string) => string | undefined;

  constructor(servers: readonly ToolServer[], takenNames: ReadonlySet<string> | undefined) {
    this.server = servers.find(({ names, expose, status }) => names === 'plain' && expose === 'direct' && status !== 'disabled');
    this.takenNames = takenNames;
    this.#otherOf = ownersByPrefix(servers.filter((server) => server !== this.server).map(({ name }) => name));
  }

  get rules(): Pick<NamingRules, 'isPlain'> {
    const { server } = this;
    return server === undefined
      ? {}
      : { isPlain: (address) => address.server === server.name && this.whyRefused(address.tool) === undefined };
  }

  /** True for a name that a tool of the server has or could have: it is not known to be another's. */
  mayHave(name: string): boolean {
    return this.server !== undefined && this.whyRefused(name) === undefined;
  }

  /** Completes `the tool "x" …`; undefined for a name that may stand alone. */
  whyRefused(name: string): string | undefined {
    if (name === '') return 'has no name';
    if (this.takenNames?.has(name)) return 'is called like one of the notebook';
    const other = this.#otherOf(name);
    return other === undefined ? undefined : `is called like one of "${other}"`;
  }
}
