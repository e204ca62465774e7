import type { StubInput, ToolStub, ToolStubs } from '../model.js';
import type { NamedServer, NamedTool } from '../named-servers.js';
import { toolDocstring } from './docstrings.js';
import type { Parameter } from './parameters.js';
import { nameForPython } from './python-names.js';
import { skillNames, skillStub } from './skill-stubs.js';
import { toolModule } from './tool-module.js';

/** A signature that is longer has a line for each parameter. */
const maxLine = 120;

export function pythonStubs({ servers, skills }: StubInput): ToolStubs {
  const named = nameForPython(servers);
  const every = named.flatMap((server) =>
    server.tools.map((tool) => ({ server, tool, address: { server: server.wire, tool: tool.tool.name } })),
  );
  const byAddress = new Map(every.map((each) => [keyOf(each.address), each]));
  return {
    names: new Map([...skillNames(skills), ...every.map(({ server, tool, address }) => [`${server.name}.${tool.name}`, address] as const)]),
    stubOf: async (address) => {
      const skill = address.server === skills?.name ? skills.tools.find(({ name }) => name === address.tool) : undefined;
      if (skill !== undefined) return skillStub(skill);
      const found = byAddress.get(keyOf(address));
      return found && toStub(found.server, found.tool);
    },
  };
}

function toStub(server: NamedServer, { tool, name: python }: NamedTool): ToolStub {
  const module = toolModule(server.wire, tool, python);
  const { parameters, returns, definitions, rest } = module;
  const doc = toolDocstring({
    server: server.wire,
    tool,
    python,
    parameters: parameters.list,
    others: parameters.others,
    returns,
    isBrief: true,
  });
  // A star with nothing behind it that has a name is an error of Python's.
  const shown = [...(parameters.list.length > 0 ? ['*'] : []), ...parameters.list.map(shownParameter), ...rest];
  const line = `async def ${python}(${shown.join(', ')}) -> ${returns}:`;
  const head = line.length <= maxLine ? line : `async def ${python}(\n${shown.map((each) => `    ${each},\n`).join('')}) -> ${returns}:`;
  const body = doc === '' ? '    ...' : `    """${doc}${doc.includes('\n') ? '\n    ' : ''}"""`;
  return {
    importLine: `from generated.mcp.${server.name} import ${python}`,
    text: [...definitions, `${head}\n${body}`].join('\n\n'),
  };
}

/** With the default as it is, where one is known. */
function shownParameter({ python, type, written }: Parameter): string {
  if (written === undefined) return `${python}: ${type}`;
  const value = /^UNSET_?$/.test(written) ? '...' : written.replace(/^default_?\(([^]*)\)$/, '$1');
  return `${python}: ${type} = ${value}`;
}

function keyOf({ server, tool }: { server: string; tool: string }): string {
  return `${server}\0${tool}`;
}
