import { setImmediate as nextTurn } from 'node:timers/promises';
import { printJson } from '@notebridge/protocol/exact-json';
import { readRuntime, readVersion } from '../carried-files.js';
import type { BindingsInput, Emitter } from '../model.js';
import { type NamedServer, nameServers } from '../named-servers.js';
import { sealFiles } from '../seal-files.js';
import { toComment, toCommentText } from './comment-text.js';
import { toJavaScriptName, toModuleName } from './javascript-names.js';
import { toolDeclaration } from './tool-declaration.js';

/** Tools between which the hub answers others. */
const toolsPerTurn = 10;

/**
 * ES modules with their types beside them: Node, Deno, bundlers and browsers import them without a build. One module per
 * server, a function per tool.
 */
export const emitTypeScript: Emitter = async (input) => {
  const servers = nameServers(input.servers, { toServerName: toModuleName, toToolName: toJavaScriptName, areToolsFiles: false });
  const files = await runtimeFiles(input);
  const warnings: string[] = [];
  for (const server of servers) {
    if (server.wire !== server.name) warnings.push(`The server ${quoted(server.wire)} is called ${server.name} in TypeScript.`);
    files.set(`mcp/${server.name}.js`, moduleOf(server));
    files.set(`mcp/${server.name}.d.ts`, await typesOf(server, warnings));
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
function indexFiles({ skills }: Pick<BindingsInput, 'skills'>, servers: readonly NamedServer[]): [path: string, text: string][] {
  const list = servers.map(({ name }) => `export * as ${name} from './${name}.js';\n`).join('');
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

function moduleOf({ wire, name: module, tools }: NamedServer): string {
  const lines = tools.map(({ tool, name }) => {
    return `export const ${name} = /* @__PURE__ */ $client.defineTool(${JSON.stringify(wire)}, ${JSON.stringify(tool.name)});\n`;
  });
  return `// @ts-self-types="./${module}.d.ts"\nimport * as $client from '../client.js';\n\n${lines.join('')}`;
}

async function typesOf({ wire, description, tools }: NamedServer, warnings: string[]): Promise<string> {
  const about = toComment(toCommentText(description ?? `The tools of the MCP server ${wire}.`));
  const parts = [`${about}import type * as $client from '../client.js';\n`];
  for (const [at, { tool, name }] of tools.entries()) {
    const { types, losses } = await toolDeclaration(tool, name);
    parts.push(types);
    const of = `The tool ${quoted(tool.name)} of the server ${quoted(wire)}`;
    if (name !== tool.name) warnings.push(`${of} is called ${name} in TypeScript.`);
    for (const loss of losses) warnings.push(`${of} has a part without a type: ${loss}.`);
    if (at % toolsPerTurn === toolsPerTurn - 1) await nextTurn();
  }
  return parts.join('\n');
}

/** What the package was made from. No times, so that the same tools give the same bytes; and never a token. */
async function manifestOf(
  { hubUrl, skills }: BindingsInput,
  servers: readonly NamedServer[],
  warnings: readonly string[],
): Promise<string> {
  const listed = servers.map(({ wire, name, tools }) => ({
    name: wire,
    module: name,
    tools: tools.map((named) => ({ name: named.tool.name, function: named.name })),
  }));
  const url = hubUrl === undefined ? {} : { url: hubUrl };
  return `${JSON.stringify({ generator: `notebridge ${await readVersion()}`, language: 'typescript', ...url, skills, servers: listed, warnings }, null, 1)}\n`;
}

function quoted(name: string): string {
  return printJson(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}
