/** One entry of `--allow-net`. */
interface AllowedServer {
  /** Lower case, without the star and its dot. */
  host: string;
  /** Those below the name, and not the name itself. */
  below: boolean;
  ports: readonly number[];
}

export interface AllowedServers {
  /** `host` as a URL has it: in brackets for an IPv6 address. */
  includes(host: string, port: number): boolean;
}

const usualPorts = [443, 80];
const namePattern = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const addressPattern = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;

/** Throws for what is no host name, with what would be one. */
export function parseAllowedServers(entries: readonly string[]): AllowedServers {
  const servers = entries.map(parse);
  return {
    includes(host, port) {
      const name = host.toLowerCase().replace(/\.$/, '');
      return servers.some(
        (server) => server.ports.includes(port) && (server.below ? name.endsWith(`.${server.host}`) : name === server.host),
      );
    },
  };
}

function parse(entry: string): AllowedServer {
  const text = entry.trim().toLowerCase();
  const [, name = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const below = name.startsWith('*.');
  const host = below ? name.slice(2) : name;
  const isHost = below ? namePattern.test(host) && host.includes('.') : namePattern.test(host) || addressPattern.test(host);
  const number = Number(port);
  if (!isHost || (port !== undefined && (number < 1 || number > 65_535)))
    throw new Error(
      `"--allow-net ${entry}" names no server. Give a host name without scheme or path, as "pypi.org", "*.example.org" for all below one, or "example.org:8443"`,
    );
  return { host, below, ports: port === undefined ? usualPorts : [number] };
}
