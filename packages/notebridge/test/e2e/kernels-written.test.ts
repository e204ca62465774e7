// @module-tag deep

/** `--files rw` with the real program: what a cell has written does not run at the next start, and what the config names is not given. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeVenv, sciencePython } from '../../../notebook/test/kernels/support/projects.js';
import { whyNoSandbox } from '../../../notebook/test/sandbox/support/sandboxed.js';
import { Program, runProgram } from '../support/program.js';

const missing = await whyNoSandbox();

/** A kernel starts in seconds where many run. */
const timeout = 240_000;
let python = '';
let project = '';
let home = '';
let env: Record<string, string> = {};

beforeAll(async () => {
  python = await sciencePython();
}, 600_000);
beforeEach(() => {
  project = realpathSync.native(mkdtempSync(join(tmpdir(), 'notebridge-kernels-')));
  home = realpathSync.native(mkdtempSync(join(tmpdir(), 'notebridge-home-')));
  env = { HOME: home, XDG_STATE_HOME: join(home, 'state'), PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
});
afterEach(() => {
  rmSync(project, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
});

const stateFile = () => join(home, 'state', 'notebridge', 'trusted-folders.json');

async function printed(program: Program, code: string): Promise<string> {
  const { content } = (await program.callTool('run_code', { code })).result as { content: { text: string }[] };
  const { outputs } = JSON.parse(content[0]?.text ?? '{}') as { outputs: { text?: string[] }[] };
  return outputs.map(({ text = [] }) => text.join('')).join('');
}

describe.skipIf(missing !== undefined)('a project that code may write to', { timeout }, () => {
  const open = (...args: string[]) =>
    Program.open({ args: ['--standalone', '--notebook', join(project, 'a.ipynb'), '--files', 'rw', '--sandbox', 'require', ...args], env });
  const attack = (mark: string) => `
import os
for folder in ["envs/default/bin", "envs/default/lib/python3.11/site-packages/ipykernel-7.0.0.dist-info"]:
    os.makedirs(folder)
open("envs/default/pyvenv.cfg", "w").write("home = /usr/bin\\n")
open("envs/default/bin/python", "w").write("#!/bin/sh\\ntouch '${mark}'\\n")
os.chmod("envs/default/bin/python", 0o755)
try:
    os.replace("envs/default/bin/python", ".venv/bin/python")
except OSError as error:
    print(error.strerror)
print("written")
`;

  it('runs nothing that a cell has written, in a trusted folder, at the next start or look; its own Python goes on in the sandbox', {
    tags: ['P-623', 'P-627', 'P-628'],
  }, async () => {
    const mark = join(home, 'was-run');
    await makeVenv(join(project, '.venv'), { ipykernel: true });
    mkdirSync(dirname(stateFile()), { recursive: true, mode: 0o700 });
    writeFileSync(stateFile(), JSON.stringify({ folders: [project], written: [] }), { mode: 0o600 });
    {
      await using program = await open('--kernel', python);
      expect(await printed(program, attack(mark))).toMatch(/written\n$/);
      const { ending, stderr } = await runProgram(['grants', 'files', '--withdraw', project], { env });
      expect([ending, stderr]).toEqual([1, expect.stringMatching(/is not taken back: a kernel may still write there, of ".*a\.ipynb"/)]);
    }
    expect(JSON.parse(readFileSync(stateFile(), 'utf8'))).toMatchObject({ folders: [project], written: [project] });
    // Whoever makes the environment anew leaves the code what it wants.
    rmSync(join(project, '.venv'), { recursive: true });
    const listed = JSON.parse((await runProgram(['kernels', '--json', project], { env })).stdout) as { auto: JsonObject };
    expect(listed.auto.id).toBe(join(project, 'envs/default/bin/python'));
    for (const kernel of ['auto', join(project, 'envs/default'), join(project, 'envs/default/bin/python')]) {
      await using program = await open('--kernel', kernel);
      await program.callTool('run_code', { code: '1' });
      expect(existsSync(mark)).toBe(false);
    }
    expect(existsSync(mark)).toBe(false);
  });

  it('is refused for what the config names there, before a kernel starts, and the config itself, with path and reason', {
    tags: ['P-624'],
  }, async () => {
    const named: [object, RegExp][] = [
      [
        { mcpServers: { it: { command: 'node', args: [join(project, 'server.mjs')] } } },
        /server\.mjs" then, which is what the server "it" runs/,
      ],
      [{ mcpServers: { it: { command: 'node', args: ['-v'], cwd: project } } }, /which is the working directory of the server "it"/],
      [{ notebridge: { skills: [{ path: join(project, 'skills'), trusted: true }] } }, /which is a trusted folder of skills/],
      [{ notebridge: { middleware: [join(project, 'm.mjs')] } }, /which is a middleware module/],
    ];
    writeFileSync(join(project, 'server.mjs'), '');
    writeFileSync(join(project, 'm.mjs'), 'export default { onCallTool: (context, next) => next(context) }');
    mkdirSync(join(project, 'skills'));
    const configs = named.map(([config, reason], index): [string, RegExp] => {
      const path = join(home, `mcp-${index}.json`);
      writeFileSync(path, JSON.stringify(config));
      return [path, reason];
    });
    writeFileSync(join(project, 'mcp.json'), '{}');
    for (const [path, reason] of [
      ...configs,
      [join(project, 'mcp.json'), /mcp\.json" then, which is what Notebridge keeps or reads/] as const,
    ]) {
      const args = ['--standalone', '--notebook', join(project, 'a.ipynb'), '--files', 'rw', '--sandbox', 'require', '--kernel', python];
      const { ending, stderr } = await runProgram([...args, '--config', path], { env });
      expect({ path, ending, stderr }).toEqual({ path, ending: 2, stderr: expect.stringMatching(reason) });
    }
    expect(existsSync(stateFile())).toBe(false);
  });
});
