import type { Tool } from '../core/mcp.js';
import type { ToolAddress } from '../core/tool-address.js';
import type { Exposure, NameStyle, ToolServer, ToolServers } from '../core/tool-server.js';
import { exposeNames } from './exposed-names.js';
import { PlainNames } from './plain-names.js';

/** What the names were made of. */
interface Source {
  server: ToolServer;
  expose: Exposure;
  names: NameStyle | undefined;
  isDisabled: boolean;
  tools: readonly Tool[] | undefined;
}

interface Names {
  sources: readonly Source[];
  plain: PlainNames;
  /** Of the tools that agents see. */
  direct: ReadonlyMap<string, ToolAddress>;
  /** Of those that only code can call. */
  ofCode: ReadonlyMap<string, ToolAddress>;
  byAddress: ReadonlyMap<string, string>;
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

  /** The name of a tool. One that its server does not list has the name that it would have beside all the others. */
  nameOf(address: ToolAddress): string {
    const { byAddress, direct, ofCode, plain } = this.#current;
    const known = byAddress.get(keyOf(address));
    if (known !== undefined) return known;
    const [name = ''] = exposeNames([address], { ...plain.rules, isTaken: (taken) => direct.has(taken) || ofCode.has(taken) }).keys();
    return name;
  }

  get #current(): Names {
    const servers = this.#servers.all();
    const { takenNames } = this.#servers;
    const { sources, plain } = this.#names ?? {};
    if (sources === undefined || plain?.takenNames !== takenNames || !isMadeOf(sources, servers))
      this.#names = makeNames(servers, takenNames);
    return this.#names as Names;
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

function makeNames(servers: readonly ToolServer[], takenNames: ReadonlySet<string> | undefined): Names {
  const sources = servers.map((server) => ({
    server,
    expose: server.expose,
    names: server.names,
    isDisabled: server.status === 'disabled',
    tools: server.knownTools,
  }));
  const plain = new PlainNames(servers, takenNames);
  const direct = exposeNames(addressesOf(sources.filter(({ expose }) => expose === 'direct')), plain.rules);
  const isOfCode = ({ expose, isDisabled }: Source): boolean => expose === 'code' && !isDisabled;
  const ofCode = exposeNames(addressesOf(sources.filter(isOfCode)), { isTaken: (name) => direct.has(name) });
  const byAddress = new Map([...direct, ...ofCode].map(([name, address]) => [keyOf(address), name]));
  return { sources, plain, direct, ofCode, byAddress };
}

function addressesOf(sources: readonly Source[]): ToolAddress[] {
  return sources.flatMap(({ server, tools = [] }) => tools.map(({ name }) => ({ server: server.name, tool: name })));
}

function keyOf({ server, tool }: ToolAddress): string {
  return `${server}\0${tool}`;
}
