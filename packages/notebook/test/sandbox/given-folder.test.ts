// @module-tag P-624

/** Folders that no code is given to write to, each refused with what it is. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertMayBeGiven, assertMayBeWritten } from '@notebridge/sandbox/given-folder';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-given-')));
  for (const name of ['project/sub', 'state', 'skills/one', 'project2']) mkdirSync(join(base, name), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const ourPackage = realpathSync(fileURLToPath(new URL('../..', import.meta.url)));

function why(folder: string, { ours = [], runs = [] }: Partial<Parameters<typeof assertMayBeWritten>[1]> = {}): string {
  try {
    assertMayBeGiven(folder, ours);
    assertMayBeWritten(folder, { ours, runs });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('"--files rw"', () => {
  test.each([
    ['/', /whole machine/],
    // Where the home folder of who runs the tests lies there, that is said first.
    ['/tmp', /it is a folder for temporary files|below it is your home folder/],
    [realpathSync(tmpdir()), /folder for temporary files|below it is your home folder/],
    [dirname(realpathSync(tmpdir())), /for temporary files|whole machine|below it is your home folder/],
    ['/var', /one of the system/],
    ['/run', /one of the system/],
    ['/run/user', /programs of a user keep/],
    ['/run/user/1000', /programs of a user keep/],
    ['/home', /home folder/],
    ['/home/ann', /home folder/],
    [homedir(), /home folder/],
    ['/root', /home folder/],
    [ourPackage, /which is Notebridge itself/],
    [join(ourPackage, 'src/kernel'), /which is Notebridge itself/],
    [dirname(dirname(ourPackage)), /Notebridge/],
    [dirname(realpathSync(process.execPath)), /one of the system|the program that runs Notebridge/],
  ])('does not give %s', (folder, reason) => {
    expect(why(folder)).toMatch(reason);
    expect(why(folder)).toMatch(/Move the notebook to a folder of its own, or use "--files (ro|none)"/);
  });

  test('does not give a folder that holds our state, our config, or what that names, by a link either', () => {
    const project = join(base, 'project');
    writeFileSync(join(project, 'server.mjs'), '');
    symlinkSync(join(project, 'server.mjs'), join(base, 'link.mjs'));
    const run = (path: string, what: string, isFolder = false) => ({ runs: [{ path: join(base, path), what, isFolder }] });
    expect(why(base, { ours: [join(base, 'state')] })).toContain(`"${join(base, 'state')}" then, which is what Notebridge keeps`);
    expect(why(project, { ours: [join(project, 'mcp.json')] })).toContain(`code could change "${join(project, 'mcp.json')}"`);
    expect(why(project, run('project/server.mjs', 'what the server "a" runs'))).toContain('which is what the server "a" runs');
    expect(why(project, run('link.mjs', 'what the server "a" runs'))).toContain(join(base, 'link.mjs'));
    expect(why(project, run('project/not/there/yet.mjs', 'a middleware module of the config'))).toContain('a middleware module');
    expect(why(project, run('project', 'the working directory of the server "a"'))).toContain('the working directory of the server "a"');
    expect(why(join(base, 'skills/one'), run('skills', 'a trusted folder of skills', true))).toContain('a trusted folder of skills');
  });

  test('gives any other, beside such ones and below a working directory', () => {
    const runs = [
      { path: join(base, 'project2/server.mjs'), what: '' },
      { path: join(base, 'skills'), what: '', isFolder: true },
      { path: base, what: 'the working directory of a server' },
    ];
    expect(why(join(base, 'project'), { ours: [join(base, 'state')], runs })).toBe('');
    expect(why(join(base, 'project/sub'), { ours: [join(base, 'state')], runs })).toBe('');
  });
});
