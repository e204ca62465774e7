import type { Tool } from '../core/mcp.js';
import type { ToolAddress } from '../core/tool-address.js';
import type { Exposure, ToolServer, ToolServers } from '../core/tool-server.js';
import { exposeNames } from './exposed-names.js';

/** What the names were made of. */
interface Source {
  server: ToolServer;
  expose: Exposure;
  isDisabled: boolean;
  tools: readonly Tool[] | undefined;
}

interface Names {
  sources: readonly Source[];
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
    const { byAddress, direct, ofCode } = this.#current;
    const known = byAddress.get(keyOf(address));
    if (known !== undefined) return known;
    const [name = ''] = exposeNames([address], (taken) => direct.has(taken) || ofCode.has(taken)).keys();
    return name;
  }

  get #current(): Names {
    const servers = this.#servers.all();
    if (this.#names === undefined || !isMadeOf(this.#names.sources, servers)) this.#names = makeNames(servers);
    return this.#names;
  }
}

function isMadeOf(sources: readonly Source[], servers: readonly ToolServer[]): boolean {
  if (sources.length !== servers.length) return false;
  return sources.every(({ server, expose, isDisabled, tools }, index) => {
    const now = servers[index];
    return now === server && now.knownTools === tools && now.expose === expose && (now.status === 'disabled') === isDisabled;
  });
}

function makeNames(servers: readonly ToolServer[]): Names {
  const sources = servers.map((server) => ({
    server,
    expose: server.expose,
    isDisabled: server.status === 'disabled',
    tools: server.knownTools,
  }));
  const direct = exposeNames(addressesOf(sources.filter(({ expose }) => expose === 'direct')));
  const isOfCode = ({ expose, isDisabled }: Source): boolean => expose === 'code' && !isDisabled;
  const ofCode = exposeNames(addressesOf(sources.filter(isOfCode)), (name) => direct.has(name));
  const byAddress = new Map([...direct, ...ofCode].map(([name, address]) => [keyOf(address), name]));
  return { sources, direct, ofCode, byAddress };
}

function addressesOf(sources: readonly Source[]): ToolAddress[] {
  return sources.flatMap(({ server, tools = [] }) => tools.map(({ name }) => ({ server: server.name, tool: name })));
}

function keyOf({ server, tool }: ToolAddress): string {
  return `${server}\0${tool}`;
}
