import { createHash } from 'node:crypto';
import { printJson } from '@notebridge/protocol/exact-json';
import type { BindingsInput } from '../model.js';
import type { NamedServer, NamedTool } from '../named-servers.js';
import { descriptionOf } from './docstrings.js';
import { showInvisible } from './literals.js';
import type { ToolModule } from './tool-module.js';

/** `_manifest.json`: what the package was made from. No times, so that the same tools give the same bytes; and never a token. */
export function manifestFile(input: BindingsInput, servers: readonly NamedServer[], warnings: readonly string[], version: string): string {
  const manifest = {
    generator: `notebridge ${version}`,
    language: 'python',
    input_hash: createHash('sha256').update(printJson(input)).digest('hex'),
    ...(input.hubUrl === undefined ? {} : { url: input.hubUrl }),
    servers: servers.map(({ wire, name, tools }) => ({
      name: wire,
      python: name,
      tools: tools.map((named) => ({ name: named.tool.name, python: named.name })),
    })),
    warnings,
  };
  return `${asciiOf(JSON.stringify(manifest, null, 1))}\n`;
}

/** An entry of `_index.json`, which `search` reads. */
export function indexEntry(server: NamedServer, { tool, name }: NamedTool, { signature }: ToolModule): object {
  return {
    server: server.name,
    wire_server: server.wire,
    name,
    wire_name: tool.name,
    signature: cut(showInvisible(signature), 300),
    description: cut(showInvisible(descriptionOf(tool)).replaceAll(/\s+/g, ' '), 300),
  };
}

/** One line per entry, as much of it as is needed. */
export function indexFile(entries: readonly object[]): string {
  return entries.length === 0 ? '[]\n' : `[\n${entries.map((entry) => asciiOf(JSON.stringify(entry))).join(',\n')}\n]\n`;
}

/** In ASCII: half a surrogate pair has no UTF-8, and nothing here is for reading. */
function asciiOf(json: string): string {
  return json.replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function cut(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}
