import { setImmediate as nextTurn } from 'node:timers/promises';
import { readRuntime, readVersion } from '../carried-files.js';
import type { Emitter } from '../model.js';
import { sealFiles } from '../seal-files.js';
import { indexEntry, indexFile, manifestFile } from './index-files.js';
import { aliases, serverAlias, serverPackage, serversPackage } from './packages.js';
import { nameForPython } from './python-names.js';
import { toolModule } from './tool-module.js';
import { type Renamed, renamedIn, toWarnings } from './warnings.js';

/** Tools between which the hub answers others. */
const toolsPerTurn = 10;

/** The package that Python imports. It works under any name, and in any place: its parts import one another by relative names only. */
export const emitPython: Emitter = async (input) => {
  const servers = nameForPython(input.servers);
  // The part that is the same for all tools lies beside this file, as the Python that it is.
  const files = await readRuntime('python', (path) => path.endsWith('.py') && (input.skills || !path.startsWith('skills/')));
  const entries: object[] = [];
  const renamed: Renamed[] = renamedIn(servers);
  for (const server of servers) {
    for (const named of server.tools) {
      if (entries.length % toolsPerTurn === 0) await nextTurn();
      const module = toolModule(server.wire, named.tool, named.name);
      files.set(`mcp/${server.name}/${named.name}.py`, module.text);
      entries.push(indexEntry(server, named, module));
      for (const { wire, python } of module.parameters.list) {
        if (wire !== python) renamed.push({ server: server.wire, tool: named.tool.name, parameter: wire, python });
      }
    }
    files.set(`mcp/${server.name}/__init__.py`, serverPackage(server));
    files.set(`servers/${server.name}.py`, serverAlias(server));
  }
  const warnings = toWarnings(renamed);
  files.set('mcp/__init__.py', serversPackage(servers));
  files.set('servers/__init__.py', serversPackage(servers));
  files.set('_aliases.py', aliases(servers));
  files.set('_index.json', indexFile(entries));
  files.set('_manifest.json', manifestFile(input, servers, warnings, await readVersion()));
  files.set('py.typed', '');
  return sealFiles(files, warnings);
};
