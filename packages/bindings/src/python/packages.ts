import { largestOf } from '@notebridge/protocol/util/long-lists';
import type { NamedServer } from '../named-servers.js';
import { summaryOf } from './docstrings.js';
import { docText, showInvisible } from './literals.js';
import { toolSummary } from './tool-module.js';

/** `mcp/<server>/__init__.py`: all tools by name, each loaded when it is asked for. */
export function serverPackage({ wire, description, tools }: NamedServer): string {
  const names = tools.map(({ name }) => name);
  const listed = tools.map(({ tool, name }) => [name, toolSummary(tool)] as const);
  const about = [
    `Tools of the MCP server ${wire}.`,
    ...(description?.trim() ? [description.trim()] : []),
    ...(listed.length > 0 ? [table(listed)] : []),
  ];
  return [
    `"""${docText(about.join('\n\n'), 1_000_000)}\n"""\n`,
    'from typing import TYPE_CHECKING\n',
    'from ..._package import open_tools\n',
    ...checked(names.map((name) => `from .${name} import ${name} as ${name}`)),
    all(names),
    'open_tools(__name__)\n',
  ].join('\n');
}

/** `mcp/__init__.py` and `servers/__init__.py`: all servers by name. */
export function serversPackage(servers: readonly NamedServer[]): string {
  const names = servers.map(({ name }) => name);
  const listed = servers.map(({ wire, name, description, tools }) => {
    const about = summaryOf((description ?? '').replace(/^[\s#]+/, ''));
    const count = `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`;
    return [
      name,
      `${count}${wire === name ? '' : `, called ${JSON.stringify(wire)} on the hub`}${about === '' ? '' : `. ${about}`}`,
    ] as const;
  });
  return [
    `"""${docText(['The MCP servers of the hub.', ...(listed.length > 0 ? [table(listed)] : [])].join('\n\n'), 1_000_000)}\n"""\n`,
    'from typing import TYPE_CHECKING\n',
    'from .._package import open_servers\n',
    ...checked(names.map((name) => `from . import ${name} as ${name}`)),
    all(names),
    'open_servers(__name__)\n',
  ].join('\n');
}

/** `servers/<server>.py`: the reference's other spelling. It is the very same package. */
export function serverAlias({ name }: NamedServer): string {
  return [
    `"""The same as \`mcp.${name}\`."""\n`,
    'from typing import TYPE_CHECKING\n',
    'if TYPE_CHECKING:',
    `    from ..mcp.${name} import *`,
    'else:',
    '    import sys',
    '    from importlib import import_module\n',
    `    sys.modules[__name__] = import_module("..mcp.${name}", __package__)\n`,
  ].join('\n');
}

/** `_aliases.py`: what type checkers see of `generated.<server>__<tool>`. Programs never load it. */
export function aliases(servers: readonly NamedServer[]): string {
  const count = new Map<string, number>();
  const every = servers.flatMap((server) =>
    server.tools.map(({ name: tool }) => ({ server: server.name, tool, name: `${server.name}__${tool}` })),
  );
  for (const { name } of every) count.set(name, (count.get(name) ?? 0) + 1);
  // What may mean two is an error when it runs, too.
  const clear = every.filter(({ name }) => count.get(name) === 1);
  return [
    '"""The names `<server>__<tool>`, for type checkers."""\n',
    ...clear.map(({ server, tool, name }) => `from .mcp.${server}.${tool} import ${tool} as ${name}`),
    ...(clear.length > 0 ? [''] : []),
    all(clear.map(({ name }) => name)),
    '',
  ].join('\n');
}

function table(rows: readonly (readonly [name: string, about: string])[]): string {
  const width = Math.min(32, largestOf(rows.map(([name]) => name.length)));
  return rows.map(([name, about]) => `    ${name.padEnd(width)}  ${showInvisible(about).replaceAll('\n', ' ')}`.trimEnd()).join('\n');
}

function checked(imports: readonly string[]): string[] {
  return imports.length === 0 ? [] : ['if TYPE_CHECKING:', ...imports.map((line) => `    ${line}`), ''];
}

function all(names: readonly string[]): string {
  return names.length === 0
    ? '__all__: list[str] = []  # There are none.'
    : `__all__ = [\n${names.map((name) => `    "${name}",\n`).join('')}]`;
}
