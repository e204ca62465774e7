import { setImmediate as nextTurn } from 'node:timers/promises';
import { printJson } from '@notebridge/kit/exact-json';
import { readRuntime, readVersion } from '../carried-files.js';
import type { BindingsInput, Emitter } from '../model.js';
import { sealFiles } from '../seal-files.js';
import { toComment, toCommentText } from './comment-text.js';
import { type NamedModule, nameModules } from './server-modules.js';
import { toolDeclaration } from './tool-declaration.js';

/** Tools between which the hub answers others. */
const toolsPerTurn = 10;

/**
 * ES modules with their types beside them: Node, Deno, bundlers and browsers import them without a build. One module per
 * server, a function per tool.
 */
export const emitTypeScript: Emitter = async (input) => {
  const servers = nameModules(input);
  const files = await runtimeFiles(input);
  const warnings: string[] = [];
  for (const server of servers) {
    if (server.module !== server.name) warnings.push(`The server ${quoted(server.name)} is called ${server.module} in TypeScript.`);
    files.set(`mcp/${server.module}.js`, moduleOf(server));
    files.set(`mcp/${server.module}.d.ts`, await typesOf(server, warnings));
  }
  for (const [path, text] of indexFiles(input, servers)) {
    files.set(`${path}.js`, `// @ts-self-types="./index.d.ts"\n${text}`);
    files.set(`${path}.d.ts`, text);
  }
  warnings.sort();
  files.set('_manifest.json', await manifestOf(input, servers, warnings));
  return sealFiles(files, warnings);
};

const skillsExport = "export * as skills from './skills.js';\n";

/** What gathers the modules, without the ending. */
function indexFiles({ skills }: Pick<BindingsInput, 'skills'>, servers: readonly NamedModule[]): [path: string, text: string][] {
  const list = servers.map(({ module }) => `export * as ${module} from './${module}.js';\n`).join('');
  return [
    ['mcp/index', list || 'export {};\n'],
    ['index', `export * from './client.js';\nexport * as mcp from './mcp/index.js';\n${skills ? skillsExport : ''}`],
  ];
}

/** The part of the package that is the same for all tools. It lies beside this file, as the JavaScript that it is. */
async function runtimeFiles({ skills, hubUrl }: BindingsInput): Promise<Map<string, string>> {
  const isWanted = (path: string) => /\.(js|d\.ts)$/.test(path) && (skills || !/^_?skills\./.test(path));
  const files = await readRuntime('typescript', isWanted);
  return files.set('_package.js', `export const hubUrl = ${hubUrl === undefined ? 'undefined' : JSON.stringify(hubUrl)};\n`);
}

function moduleOf({ name, module, tools, functions }: NamedModule): string {
  const lines = tools.map((tool, at) => {
    return `export const ${functions[at]} = /* @__PURE__ */ $client.defineTool(${JSON.stringify(name)}, ${JSON.stringify(tool.name)});\n`;
  });
  return `// @ts-self-types="./${module}.d.ts"\nimport * as $client from '../client.js';\n\n${lines.join('')}`;
}

async function typesOf({ name, description, tools, functions }: NamedModule, warnings: string[]): Promise<string> {
  const about = toComment(toCommentText(description ?? `The tools of the MCP server ${name}.`));
  const parts = [`${about}import type * as $client from '../client.js';\n`];
  for (const [at, tool] of tools.entries()) {
    const wanted = functions[at] ?? '';
    const { types, losses } = await toolDeclaration(tool, wanted);
    parts.push(types);
    const of = `The tool ${quoted(tool.name)} of the server ${quoted(name)}`;
    if (wanted !== tool.name) warnings.push(`${of} is called ${wanted} in TypeScript.`);
    for (const loss of losses) warnings.push(`${of} has a part without a type: ${loss}.`);
    if (at % toolsPerTurn === toolsPerTurn - 1) await nextTurn();
  }
  return parts.join('\n');
}

/** What the package was made from. No times, so that the same tools give the same bytes; and never a token. */
async function manifestOf(
  { hubUrl, skills }: BindingsInput,
  servers: readonly NamedModule[],
  warnings: readonly string[],
): Promise<string> {
  const listed = servers.map(({ name, module, tools, functions }) => ({
    name,
    module,
    tools: tools.map((tool, at) => ({ name: tool.name, function: functions[at] })),
  }));
  const url = hubUrl === undefined ? {} : { url: hubUrl };
  return `${JSON.stringify({ generator: `notebridge ${await readVersion()}`, language: 'typescript', ...url, skills, servers: listed, warnings }, null, 1)}\n`;
}

function quoted(name: string): string {
  return printJson(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}
