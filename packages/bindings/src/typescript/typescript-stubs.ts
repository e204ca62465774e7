import { skillNames, skillStub } from '../skill-stubs.js';
import type { StubMaker } from '../stub-model.js';
import { toComment, toCommentText } from './comment-text.js';
import { nameModules } from './server-modules.js';
import { toolDeclaration } from './tool-declaration.js';

export const typeScriptStubs: StubMaker = ({ servers, skills }) => {
  const named = nameModules({ servers });
  const every = named.flatMap(({ name, module, tools, functions }) =>
    tools.map((tool, at) => ({ module, tool, name: functions[at] ?? tool.name, address: { server: name, tool: tool.name } })),
  );
  const byAddress = new Map(every.map((each) => [keyOf(each.address), each]));
  return {
    names: new Map([...skillNames(skills), ...every.map(({ module, name, address }) => [`${module}.${name}`, address] as const)]),
    stubOf: async (address) => {
      const skill = address.server === skills?.name ? skills.tools.find(({ name }) => name === address.tool) : undefined;
      if (skill !== undefined) return skillStub('typescript', skill, (text) => toComment(toCommentText(text)));
      const found = byAddress.get(keyOf(address));
      if (found === undefined) return undefined;
      const { types } = await toolDeclaration(found.tool, found.name);
      return { importLine: `import { ${found.name} } from './generated/mcp/${found.module}.js';`, text: types.trimEnd() };
    },
  };
};

function keyOf({ server, tool }: { server: string; tool: string }): string {
  return `${server}\0${tool}`;
}
