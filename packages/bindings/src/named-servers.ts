import type { BoundServer, BoundTool } from './model.js';
import { assignNames } from './names.js';

/** A tool with its name in a language. */
export interface NamedTool {
  tool: BoundTool;
  name: string;
}

export interface NamedServer {
  wire: string;
  /** In the language. */
  name: string;
  description: string | undefined;
  tools: NamedTool[];
}

/** How a language names servers, which are files or folders, and tools. Each function gives undefined where nothing is left of a name. */
export interface Naming {
  toServerName(wire: string): string | undefined;
  toToolName(wire: string): string | undefined;
  /** Tools are files, too: some file systems know only one case. */
  areToolsFiles: boolean;
}

/** Gives servers and tools their names in a language. */
export function nameServers(servers: readonly BoundServer[], { toServerName, toToolName, areToolsFiles }: Naming): NamedServer[] {
  const named = assignNames(
    servers.map(({ name }) => name),
    { ignoreCase: true, kind: 'server', toName: toServerName },
  );
  return servers.map(({ name: wire, description, tools }, index) => {
    const names = assignNames(
      tools.map(({ name }) => name),
      { ignoreCase: areToolsFiles, kind: 'tool', toName: toToolName },
    );
    return { wire, name: named[index] ?? wire, description, tools: tools.map((tool, at) => ({ tool, name: names[at] ?? tool.name })) };
  });
}
