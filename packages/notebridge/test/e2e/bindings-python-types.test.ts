// @module-tag deep
// @module-tag P-082

import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileServers } from '../support/hostile-tools.js';
import { bindingsPython, inputOf, type PythonPackage, pythonPackage, run } from '../support/python-package.js';
import { installedServer } from '../support/served-hub.js';

const minutes = 10 * 60_000;
const require = createRequire(import.meta.url);
let python: string;
beforeAll(async () => {
  python = await bindingsPython('mypy');
}, minutes);

const mypy = (folder: string, ...files: string[]) =>
  run(python, ['-m', 'mypy', '--strict', '--no-error-summary', '--cache-dir', join(folder, '.mypy_cache'), ...files], { cwd: folder });

/** Pyright is a program for Node; this is its own, no other version is fetched. */
const pyright = (folder: string, ...files: string[]) => {
  const program = join(dirname(require.resolve('pyright/package.json')), 'index.js');
  return run(process.execPath, [program, '--pythonversion', '3.9', '--pythonpath', python, ...files], { cwd: folder });
};

describe('the functions of real servers', () => {
  let real: PythonPackage;
  beforeAll(async () => {
    const names = ['everything', 'filesystem', 'memory'] as const;
    const tools = await Promise.all(names.map(async (name) => [name, await toolsOf(name)] as const));
    real = await pythonPackage(inputOf(Object.fromEntries(tools)));
    writeFileSync(join(real.folder, 'right.py'), rightUse);
    writeFileSync(join(real.folder, 'wrong.py'), wrongUse);
  }, minutes);
  afterAll(() => real[Symbol.dispose]());

  // Each checker looks at all of it once: at the package, at what uses it well, and at what does not.
  it.for([
    ['mypy --strict', mypy],
    ['pyright', pyright],
  ] as const)(
    'satisfy %s, and so does who calls them in any form, and nobody who calls them wrong',
    { timeout: minutes },
    async ([, check]) => {
      const wrongLines = wrongUse.split('\n').flatMap((line, index) => (line.includes('# wrong') ? [`wrong.py:${index + 1}`] : []));
      const said = await check(real.folder, 'generated', 'right.py', 'wrong.py').catch((error: Error) => error.message);
      const faults = [...said.matchAll(/([^\s/]+\.py:\d+)\b.*(?:error|warning)/g)].map(([, place]) => place);
      expect([...new Set(faults)]).toEqual(wrongLines);
    },
  );
});

describe('functions of hostile schemas', () => {
  let hostile: PythonPackage;
  beforeAll(async () => {
    hostile = await pythonPackage({ servers: hostileServers({ seed: 5, schemas: 500 }), skills: true, hubUrl: undefined });
  });
  afterAll(() => hostile[Symbol.dispose]());

  it('satisfy mypy --strict', { timeout: minutes }, async () => {
    expect(await mypy(hostile.folder, 'generated')).toBe('');
  });

  it('satisfy pyright', { timeout: minutes }, async () => {
    expect(await pyright(hostile.folder, 'generated')).toContain('0 errors, 0 warnings');
  });
});

async function toolsOf(name: Parameters<typeof installedServer>[0]): Promise<Tool[]> {
  const { command, args } = installedServer(name) as { command: string; args: string[] };
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
  try {
    return (await client.listTools()).tools as Tool[];
  } finally {
    await client.close();
  }
}

const rightUse = `
from typing import Any, Dict

import generated
from typing_extensions import assert_type
from generated import Progress, ToolError, ToolResult, filesystem__edit_file
from generated.mcp import filesystem
from generated.mcp.everything import get_structured_content
from generated.mcp.filesystem import edit_file
from generated.mcp.filesystem.edit_file import EditsItem
from generated.servers.memory import read_graph


def on_progress(progress: Progress) -> None:
    print(progress.progress)


async def main() -> None:
    edits: list[EditsItem] = [{"oldText": "a", "newText": "b"}]
    result = await edit_file(path="a", edits=edits, on_progress=on_progress, timeout=5)
    assert_type(result["content"], str)
    assert_type(edit_file.sync(path="a", edits=edits, dryRun=True)["content"], str)
    assert_type(await edit_file.raw(path="a", edits=edits), ToolResult)
    assert_type(edit_file.raw_sync({"path": "a"}, edits=edits), ToolResult)
    arguments: Dict[str, Any] = {"path": "a"}
    await edit_file(arguments, edits=edits, on_progress=True)
    await edit_file(arguments=arguments)
    await filesystem__edit_file(path="a", edits=[])
    await filesystem.edit_file(path="a", edits=[])
    await generated.mcp.filesystem.edit_file(path="a", edits=[])
    assert_type((await get_structured_content(location="Chicago"))["temperature"], float)
    for entity in (await read_graph())["entities"]:
        assert_type(entity["observations"], list[str])
    try:
        generated.search("read")[0].function.sync()
    except ToolError as error:
        print(error.server, error.tool)
`;

const wrongUse = `
from generated import no_such_name  # wrong
from generated.mcp import no_such_server  # wrong
from generated.mcp.everything import get_structured_content
from generated.mcp.filesystem import edit_file, no_such_tool  # wrong


async def main() -> None:
    await edit_file(path="a")  # wrong
    await edit_file(path=1, edits=[])  # wrong
    await edit_file(path="a", edits=[], no="a")  # wrong
    await edit_file(path="a", edits=[{"oldTxt": "a", "newText": "b"}])  # wrong
    await get_structured_content(location="Paris")  # wrong
    await edit_file("a", [])  # wrong
    edit_file.sync(path="a", edits=[])["no"]  # wrong
`;
