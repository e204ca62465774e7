import { createHash } from 'node:crypto';
import { printJson } from '@notebridge/kit/exact-json';
import type { BindingsInput } from '../model.js';
import type { NamedServer } from './bound-names.js';
import { descriptionOf } from './docstrings.js';
import { showInvisible } from './literals.js';
import type { ToolModule } from './tool-module.js';

/** `_manifest.json`: what the package was made from. No times, so that the same tools give the same bytes; and never a token. */
export function manifestFile(input: BindingsInput, servers: readonly NamedServer[], warnings: readonly string[], version: string): string {
  return print({
    generator: `notebridge ${version}`,
    language: 'python',
    input_hash: createHash('sha256').update(printJson(input)).digest('hex'),
    ...(input.hubUrl === undefined ? {} : { url: input.hubUrl }),
    servers: servers.map(({ wire, python, tools }) => ({
      name: wire,
      python,
      tools: tools.map(({ tool, python: name }) => ({ name: tool.name, python: name })),
    })),
    warnings,
  });
}

/** An entry of `_index.json`, which `search` reads. */
export function indexEntry({ wire, python }: NamedServer, tool: NamedServer['tools'][number], { signature }: ToolModule): object {
  return {
    server: python,
    wire_server: wire,
    name: tool.python,
    wire_name: tool.tool.name,
    signature: cut(showInvisible(signature), 300),
    description: cut(showInvisible(descriptionOf(tool.tool)).replaceAll(/\s+/g, ' '), 300),
  };
}

/** One line per entry, as much of it as is needed. */
export function indexFile(entries: readonly object[]): string {
  return entries.length === 0 ? '[]\n' : `[\n${entries.map((entry) => asciiOf(JSON.stringify(entry))).join(',\n')}\n]\n`;
}

function print(value: unknown): string {
  return `${asciiOf(JSON.stringify(value, null, 1))}\n`;
}

/** In ASCII: half a surrogate pair has no UTF-8, and nothing here is for reading. */
function asciiOf(json: string): string {
  return json.replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function cut(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}
