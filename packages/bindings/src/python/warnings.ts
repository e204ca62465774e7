import type { NamedServer } from '../named-servers.js';
import { showInvisible } from './literals.js';

/** A wire name that has another one in Python. Without `tool` it is the server's own, without `parameter` the tool's. */
export interface Renamed {
  server: string;
  tool?: string;
  parameter?: string;
  python: string;
}

export function renamedIn(servers: readonly NamedServer[]): Renamed[] {
  return servers.flatMap(({ wire: server, name: python, tools }) => [
    ...(server === python ? [] : [{ server, python }]),
    ...tools.filter(({ tool, name }) => tool.name !== name).map(({ tool, name }) => ({ server, tool: tool.name, python: name })),
  ]);
}

/** One line each, sorted, each once. */
export function toWarnings(renamed: readonly Renamed[]): string[] {
  return [...new Set(renamed.map(toWarning))].sort();
}

function toWarning({ server, tool, parameter, python }: Renamed): string {
  if (tool === undefined) return `The server ${quoted(server)} is called ${python} in Python.`;
  if (parameter === undefined) return `The tool ${quoted(tool)} of the server ${quoted(server)} is called ${python} in Python.`;
  return `The parameter ${quoted(parameter)} of the tool ${quoted(tool)} of the server ${quoted(server)} is called ${python} in Python.`;
}

function quoted(name: string): string {
  const cut = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  return `"${showInvisible(cut).replaceAll('\n', '\\n')}"`;
}
