import type { BindingsInput, BoundTool } from '../model.js';
import { assignNames } from './names.js';

/** A tool with its name in Python. */
export interface NamedTool {
  tool: BoundTool;
  python: string;
}

export interface NamedServer {
  wire: string;
  python: string;
  description: string | undefined;
  tools: NamedTool[];
}

/** Gives servers and tools their names in Python. They are names of files too. */
export function nameServers({ servers }: Pick<BindingsInput, 'servers'>): NamedServer[] {
  const named = assignNames(
    servers.map(({ name }) => name),
    { ignoreCase: true, kind: 'server' },
  );
  return servers.map(({ name, description, tools }, index) => {
    const names = assignNames(
      tools.map((tool) => tool.name),
      { ignoreCase: true, kind: 'tool' },
    );
    return {
      wire: name,
      python: named[index]?.python ?? name,
      description,
      tools: tools.map((tool, at) => ({ tool, python: names[at]?.python ?? tool.name })),
    };
  });
}
