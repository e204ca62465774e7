// @module-tag deep
// @module-tag P-623

/** Whatever a cell leaves in its folder, in all the places where something could look for it: no later start of ours runs it outside. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeVenv, sciencePython } from '../../../notebook/test/kernels/support/projects.js';
import { whyNoSandbox } from '../../../notebook/test/sandbox/support/sandboxed.js';
import { Program, runProgram } from '../support/program.js';

const missing = await whyNoSandbox();
const timeout = 600_000;

/** Places below the project, by what would run what stands there. `{python}` is its Python's `lib/python3.x`. */
const places = {
  program: [
    '.venv/bin/python',
    '.venv/bin/python3',
    'venv/bin/python',
    'env/bin/python',
    'envs/default/bin/python',
    'sub/.venv/bin/python',
    '.pixi/envs/default/bin/python',
    '.conda/bin/python',
    'bin/python3',
    'bin/uv',
    'bin/bwrap',
    'bin/git',
    'node_modules/.bin/pyright-langserver',
    'node_modules/.bin/notebridge',
    'server.sh',
    '.git/hooks/post-checkout',
  ],
  python: [
    'sitecustomize.py',
    'usercustomize.py',
    'ipykernel.py',
    'ipykernel_launcher.py',
    'psutil.py',
    'zmq.py',
    'json.py',
    'notebridge_kernel.py',
    'server.py',
    '.venv/{python}/site-packages/sitecustomize.py',
    '.venv/{python}/site-packages/planted.pth',
    '.venv/{python}/site-packages/ipykernel/__init__.py',
    'generated/__init__.py',
    'skills/planted/run.py',
    '.ipython/profile_default/startup/00.py',
    'ipython_config.py',
    'jupyter_config.py',
  ],
  javascript: [
    'server.mjs',
    'middleware.mjs',
    'node_modules/pyodide/pyodide.mjs',
    'node_modules/pyright/langserver.index.js',
    'pyodide.mjs',
  ],
};
/** Files that say what is to be run: each names the planted `server.sh`. */
const settings = {
  'mcp.json': { mcpServers: { planted: { command: './server.sh' } } },
  '.mcp.json': { mcpServers: { planted: { command: './server.sh' } } },
  'notebridge/mcp.json': { mcpServers: { planted: { command: './server.sh' } } },
  'share/jupyter/kernels/python3/kernel.json': { argv: ['./server.sh', '{connection_file}'], language: 'python', display_name: 'Planted' },
  '.venv/share/jupyter/kernels/python3/kernel.json': { argv: ['./server.sh'], language: 'python', display_name: 'Planted' },
  'package.json': { scripts: { start: './server.sh', postinstall: './server.sh' }, main: 'server.mjs' },
  'skills/planted/SKILL.md': '---\nname: planted\ndescription: Planted.\n---\n',
};

let root = '';
let project = '';
let home = '';
let marks = '';
let env: Record<string, string> = {};
const notebook = () => join(project, 'a.ipynb');

beforeAll(async () => {
  root = realpathSync.native(mkdtempSync(join(tmpdir(), 'notebridge-family-')));
  [project, home] = [join(root, 'project'), join(root, 'home')];
  marks = join(home, 'marks');
  for (const folder of [project, marks]) mkdirSync(folder, { recursive: true });
  // Relative entries of the path, and a folder of the project on it: people have both.
  const path = `${join(project, 'bin')}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
  env = { HOME: home, XDG_STATE_HOME: join(home, 'state'), PATH: path };
  // The person has trusted the folder before.
  mkdirSync(join(home, 'state', 'notebridge'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, 'state', 'notebridge', 'trusted-folders.json'), JSON.stringify({ folders: [project], written: [] }), {
    mode: 0o600,
  });
  if (missing === undefined) await plant();
}, timeout);
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Has a cell write everything, by a Python in the sandbox. */
async function plant(): Promise<void> {
  const python = await sciencePython();
  await makeVenv(join(project, '.venv'), { ipykernel: true });
  const code = `
import json, os, sys
marks, places, settings = json.loads(${JSON.stringify(JSON.stringify([marks, places, settings]))})
def write(at, text, mode=0o755):
    path = at.replace("{python}", f"lib/python{sys.version_info[0]}.{sys.version_info[1]}")
    try:
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        new = path + ".new"
        with open(new, "w") as file:
            file.write(text)
        os.chmod(new, mode)
        os.replace(new, path)
        return 1
    except OSError:
        return 0
count = 0
def mark(kind, at):
    return f"{marks}/{kind}-{at.replace('/', '_')}"
for at in places["program"]:
    count += write(at, f"#!/bin/sh\\ntouch '{mark('program', at)}'\\n")
for at in places["python"]:
    line = f"import os; open({mark('python', at)!r}, 'w').close()"
    count += write(at, line + "\\n")
for at in places["javascript"]:
    count += write(at, f"import('node:fs').then((fs) => fs.writeFileSync({json.dumps(mark('javascript', at))}, ''));\\n")
for at, text in settings.items():
    count += write(at, text if isinstance(text, str) else json.dumps(text), 0o644)
print("written:", count)
`;
  await using program = start(['--notebook', notebook(), '--files', 'rw', '--sandbox', 'require', '--kernel', python]);
  await program.initialize();
  const { result } = await program.callTool('run_code', { code });
  const written = Number(/written: (\d+)/.exec(JSON.stringify(result))?.[1] ?? Number.NaN);
  // The environment that was there is bound to be read alone; everything else can be written.
  expect(written, JSON.stringify(result)).toBeGreaterThanOrEqual(30);
}

const start = (args: string[]) => new Program({ args: ['--standalone', ...args], env, cwd: project });

/** Works with it, unless it ended at once and said why. */
async function use(program: Program, work: () => Promise<unknown>): Promise<void> {
  try {
    await program.initialize().then(work);
  } catch {
    expect(program.stderr).toMatch(/may write to/);
  } finally {
    await program.close();
  }
}

/** What was run outside of the sandbox: inside, none of this can be written. */
const ran = () => readdirSync(marks);

describe.skipIf(missing !== undefined)('what a cell has left in forty places of its folder', { timeout }, () => {
  it.each(['auto', '.venv', '.venv/bin/python', 'envs/default', 'sub/.venv', 'pyodide'])(
    'is not run outside of the sandbox by a kernel that is asked for as "%s"',
    async (kernel) => {
      const named = kernel === 'auto' || kernel === 'pyodide' ? kernel : join(project, kernel);
      const files = kernel === 'pyodide' ? 'ro' : 'rw';
      const program = start(['--notebook', notebook(), '--files', files, '--sandbox', 'require', '--kernel', named]);
      await use(program, async () => {
        await program.callTool('run_code', { code: 'import json, sys\nprint(sys.version)' });
        await program.callTool('get_notebook_info');
      });
      expect(ran()).toEqual([]);
    },
  );

  it.each([
    ['doctor'],
    ['kernels', '--json', '.'],
    ['skills', 'list'],
    ['servers'],
    ['grants', 'files'],
    ['generate', '--out', 'generated'],
    ['call', '--standalone', 'planted', 'x', '{}'],
  ])('is not run by the command %s in that folder', async (...args) => {
    await runProgram(args, { env, cwd: project });
    expect(ran()).toEqual([]);
  });

  it.each([
    { mcpServers: { planted: { command: join('P', 'server.sh') } } },
    { mcpServers: { planted: { command: 'node', args: [join('P', 'server.mjs')] } } },
    { mcpServers: { planted: { command: 'python3', args: [join('P', 'server.py')] } } },
    { mcpServers: { planted: { command: 'python3', args: ['-m', 'server'], cwd: 'P' } } },
    { mcpServers: { planted: { command: 'uv', args: ['run', 'server.py'], cwd: 'P' } } },
    { notebridge: { middleware: [join('P', 'middleware.mjs')] } },
    { notebridge: { skills: [{ path: join('P', 'skills'), trusted: true }] } },
  ])('is not run in code mode where a config names it since: %j', async (config) => {
    const file = join(home, 'mcp.json');
    writeFileSync(file, JSON.stringify(config).replaceAll('"P', `"${project}`));
    const code = 'from generated.skills import list_skills, run_skill\nprint(await list_skills())\nawait run_skill("planted")';
    const program = start(['--notebook', 'none', '--code-mode', '--config', file]);
    await use(program, () => program.callTool('execute_code', { code }));
    expect(ran()).toEqual([]);
  });

  it('would have left its mark where it was run', () => {
    for (const [program, at] of [
      ['sh', 'server.sh'],
      ['python3', 'server.py'],
      [process.execPath, 'server.mjs'],
    ] as const)
      execFileSync(program, [join(project, at)]);
    expect(ran().sort()).toEqual(['javascript-server.mjs', 'program-server.sh', 'python-server.py']);
  });
});
