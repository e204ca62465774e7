// @module-tag deep
// @module-tag P-407

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadStubs } from './languages.js';
import type { BoundServer, BoundTool, StubAddress } from './model.js';
import { emitPython } from './python/emit-python.js';

const text = { type: 'string' };
const edit: BoundTool = {
  name: 'edit-file',
  description: 'Edits a file.\n"""\nimport os; os.abort()\n',
  inputSchema: {
    type: 'object',
    properties: {
      path: { ...text, description: 'Where it lies.' },
      edits: { type: 'array', items: { type: 'object', properties: { from: text, to: text }, required: ['from'] } },
      mode: { enum: ['fast', 'safe'], default: 'safe' },
      dryRun: { type: 'boolean', default: false },
      'max-size': { type: 'integer' },
    },
    required: ['path', 'edits'],
  },
  outputSchema: { type: 'object', properties: { changed: { type: 'integer' } }, required: ['changed'] },
  annotations: { destructiveHint: true },
};
const odd = (name: string): BoundTool => ({ name, inputSchema: {} });
const servers: BoundServer[] = [
  { name: 'my files', description: undefined, tools: ['__init__', 'class', 'edit_file', 'größe', 'x y'].map(odd) },
  { name: 'my-files', description: undefined, tools: [edit, odd('edit_file')] },
];
const every: StubAddress[] = servers.flatMap(({ name: server, tools }) => tools.map(({ name: tool }) => ({ server, tool })));

it('a stub of Python is what a person would write, with its import', async () => {
  const stubs = await loadStubs({ servers: [{ name: 'files', description: undefined, tools: [edit] }] });
  const { importLine, text: shown } = (await stubs.stubOf({ server: 'files', tool: 'edit-file' })) ?? { importLine: '', text: '' };
  expect(`${importLine}\n\n${shown}`).toMatchInlineSnapshot(`
    "from generated.mcp.files import edit_file

    EditsItem = TypedDict(
        "EditsItem",
        {
            "from": "str",
            "to": "NotRequired[str]",
        },
    )

    class Result(TypedDict):
        changed: int

    async def edit_file(
        *,
        path: str,
        edits: List[EditsItem],
        mode: Literal["fast", "safe"] = "safe",
        dryRun: bool = False,
        max_size: int = ...,
    ) -> Result:
        """Edits a file.
        \\"\\""
        import os; os.abort()

        The server says that it is: destructive (it may overwrite or delete).

        Args:
            path: Where it lies.
            mode: Default: "safe".
            dryRun: Default: False.
            max_size: On the wire: "max-size".
        """"
  `);
});

it('the import lines of all stubs work in the package that is written, and the stubs compile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-stubs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, file] of (await emitPython({ servers, skills: true, hubUrl: undefined })).files) {
    mkdirSync(dirname(join(folder, 'generated', path)), { recursive: true });
    writeFileSync(join(folder, 'generated', path), file);
  }
  const skills = {
    name: 'skills',
    description: undefined,
    tools: ['list_skills', 'load_skill', 'read_skill_resource', 'run_skill_script'].map(odd),
  };
  const stubs = await loadStubs({ servers, skills });
  const addresses = [...every, ...skills.tools.map(({ name }) => ({ server: 'skills', tool: name }))];
  const written = await Promise.all(addresses.map((address) => stubs.stubOf(address)));
  expect(written).not.toContain(undefined);
  const typing = 'from typing import *\nUNSET = ...\n';
  const program = [typing, ...written.map((stub) => `${stub?.importLine}\n${stub?.text}`)].join('\n');
  const { status, stderr } = spawnSync('python3', ['-B', '-'], {
    cwd: folder,
    input: program.replaceAll('NotRequired', 'Optional'),
    encoding: 'utf8',
  });
  expect([stderr, status]).toEqual(['', 0]);
  expect(await stubs.stubOf({ server: 'my-files', tool: 'nothing' })).toBeUndefined();
});

it('knows the names of functions', async () => {
  const { names } = await loadStubs({ servers: [{ name: 'my-files', description: undefined, tools: [edit] }] });
  expect([...names]).toEqual([['my_files.edit_file', { server: 'my-files', tool: 'edit-file' }]]);
});
