import type { BindingsInput, BoundServer } from '../model.js';
import { assignNames } from '../python/names.js';
import { toJavaScriptName, toModuleName } from './javascript-names.js';

export interface NamedModule extends BoundServer {
  module: string;
  /** The name of each tool's function, in the order of the tools. */
  functions: string[];
}

/** Gives servers and tools their names in JavaScript. */
export function nameModules({ servers }: Pick<BindingsInput, 'servers'>): NamedModule[] {
  const modules = assignNames(
    servers.map(({ name }) => name),
    { ignoreCase: true, kind: 'server', toName: toModuleName },
  );
  return servers.map((server, index) => {
    const names = assignNames(
      server.tools.map(({ name }) => name),
      { ignoreCase: false, kind: 'tool', toName: toJavaScriptName },
    );
    return { ...server, module: modules[index]?.python ?? server.name, functions: names.map(({ python }) => python) };
  });
}
