// @module-tag deep
// @module-tag P-237

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.js';
import { withCommand } from '../support/installed-command.js';
import { programFile } from '../support/program.js';

// A person stands in a folder that has nothing to do with the checkout, and types what was printed.
let folder = '';
let env: Record<string, string>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "notebridge-it's printed-"));
  for (const name of ['home', 'elsewhere']) mkdirSync(join(folder, name));
  env = { ...bareEnvironment(), HOME: join(folder, 'home'), NOTEBRIDGE_NO_BROWSER: '1' };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Printed {
  code: number;
  stdout: string;
  stderr: string;
}

/** What the words of a shell print, from the folder elsewhere. */
async function type(line: string, more: Record<string, string> = {}): Promise<Printed> {
  const running = promisify(execFile)('bash', ['--norc', '-euc', line], { cwd: join(folder, 'elsewhere'), env: { ...env, ...more } });
  running.child.stdin?.end();
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Printed) => ({ code, stdout, stderr }),
  );
}

const program = `node ${programFile}`;
const bareName = /(?<!Usage: )(?<![\w/@.-])notebridge (?:[a-z]|--)/;
const allCommands = 'stdio serve servers tools call grant doctor generate demo notebook record replay setup'.split(' ');

describe('where the command is not on PATH', () => {
  it.each([
    ['--help', 0],
    ...allCommands.map((command): [string, number] => [`${command} --help`, 0]),
    ['setup claude-code', 0],
    ['setup codex', 0],
    ['setup', 2],
    ['nope', 2],
    ['--nope', 2],
    ['setup --nope', 2],
    ['grant list', 0],
    ['grant revoke none', 1],
    ['doctor --no-kernel', 0],
  ])('"%s" prints no command that only works in the checkout, and none of a registry', async (words, code) => {
    const printed = await type(`${program} ${words}`);
    expect(printed).toMatchObject({ code });
    // In the columns of a help the name stands for what its last lines say it is.
    if (words.endsWith('--help')) expect(printed.stdout).toContain(`Here "notebridge" is: ${program}`);
    const text = `${printed.stdout}${printed.stderr}`.replaceAll(/^(?:Arguments|(?:Global )?Options):\n(?: .*\n)*/gm, '');
    // Codex and Claude Code have commands of their own, in which our name is one of an entry.
    expect(text.replaceAll(/(?:claude|codex) mcp add .*/g, '')).not.toMatch(bareName);
    expect(text).not.toMatch(/\bnpx\b/);
  });

  it('every command of the help is one that texts may name', async () => {
    const { stdout } = await type(`${program} --help`);
    const [, listed = ''] = stdout.split('Commands:');
    const names = [...listed.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name).filter((name) => name !== 'help');
    expect(names.length).toBeGreaterThan(9);
    for (const name of names) {
      const { stderr, code } = await type(`${program} ${name} --no-such-option`);
      expect({ name, code }).toEqual({ name, code: 2 });
      expect(stderr).not.toMatch(bareName);
    }
  });

  it('the command that is printed runs as it stands', async () => {
    const help = await type(`${program} --help`);
    const [line = ''] = /node \S+ setup claude-code/.exec(help.stdout) ?? [];
    const setup = await type(line);
    const [write = ''] = /node \S+ setup claude-code --write/.exec(setup.stdout) ?? [];
    expect((await type(write)).stdout).toContain('Added "notebridge" to');
    const wrong = await type(`${program} nope`);
    const [again = ''] = /node \S+ --help/.exec(wrong.stderr) ?? [];
    expect((await type(again)).stdout).toContain('Usage: notebridge');
    const grants = await type(`${program} grant list`);
    const [issue = ''] = /node \S+ grant$/m.exec(grants.stdout) ?? [];
    expect((await type(issue)).stdout).toMatch(/^nbg_/);
    expect(help.stdout).toContain(`npm install --global ${join(programFile, '../..')}`);
  });

  it('the bare name is not printed for what npm adds to PATH for its own children', async () => {
    const bin = join(folder, 'node_modules/.bin');
    const { PATH } = withCommand(env, join(folder, 'linked'));
    mkdirSync(bin, { recursive: true });
    await type(`cp -P ${quoted(join(folder, 'linked/bin/notebridge'))} ${quoted(bin)}`);
    const ofNpm = await type('notebridge nope', { PATH: PATH.replace(join(folder, 'linked/bin'), bin) });
    expect(ofNpm.stderr).toContain(`Run "${program} --help"`);
  });
});

it('the name of the command is printed where it is on PATH', async () => {
  const more = withCommand(env, join(folder, 'linked'));
  const wrong = await type('notebridge nope', more);
  expect(wrong).toMatchObject({
    code: 2,
    stderr: 'notebridge: There is no command "nope". Run "notebridge --help" to see what there is.\n',
  });
  const { stdout } = await type('notebridge --help', more);
  expect(stdout).toContain('  notebridge setup claude-code ');
  expect(stdout).not.toContain('npm install');
  // A host may have another PATH: it is told the program itself.
  expect((await type('notebridge setup cursor', more)).stdout).toContain(`"${programFile}"`);
});

it('another program that bears the name on PATH is not named', async () => {
  const bin = join(folder, 'other');
  mkdirSync(bin);
  await type(`printf '#!/bin/sh\\n' > ${quoted(join(bin, 'notebridge'))}; chmod +x ${quoted(join(bin, 'notebridge'))}`);
  const wrong = await type(`${program} nope`, { PATH: `${bin}:${env.PATH}` });
  expect(wrong.stderr).toContain(`Run "${program} --help"`);
});

function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}
