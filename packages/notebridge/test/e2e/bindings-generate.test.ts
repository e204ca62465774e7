// @module-tag deep

import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.js';
import { ownPort } from '../support/own-port.js';
import { createHome, runProgram } from '../support/program.js';
import { installedServer, isAlive, ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';
import { Watching } from '../support/watching.js';

const changing = { command: process.execPath, args: [fixtureServer('changing.mjs')] };
const broken = { command: process.execPath, args: ['-e', 'process.exit(3)'] };

let folder: string;
let out: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-generate-'));
  out = join(folder, 'generated');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

function configOf(servers: ServersForTest): string[] {
  const file = join(folder, 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  return ['--config', file];
}
const manifest = (): JsonObject => JSON.parse(readFileSync(join(out, '_manifest.json'), 'utf8')) as JsonObject;

/** What Python prints, with the package importable as `generated`. */
function python(code: string): string {
  const { status, stdout, stderr } = spawnSync('python3', ['-c', code], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...bareEnvironment() },
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

describe('generate, where no hub runs', () => {
  it('starts the servers, writes a package that Python imports, and leaves no process behind', { tags: ['P-150'] }, async () => {
    const servers = {
      everything: installedServer('everything'),
      fs: installedServer('filesystem', [folder]),
      memory: installedServer('memory'),
      'bad-one': broken,
    };
    const { ending, stdout, stderr } = await runProgram(['generate', '--lang', 'python', '--out', out, ...configOf(servers)]);
    expect(ending).toBe(0);
    expect(stdout).toMatch(/^Wrote .*generated: \d+ tools of 3 servers\. No hub runs: start one with "node .*notebridge\.js serve"/);
    expect(stderr).toContain('notebridge: The server "bad-one" is left out: ');
    expect(python('from generated.mcp.fs import read_text_file; print(read_text_file.__name__)')).toBe('read_text_file');
    expect(python('import inspect; from generated.mcp.everything import echo; print(inspect.signature(echo))')).toContain('message: str');
    expect(manifest()).not.toHaveProperty('url');
    // For kernels of other users; a package is no secret.
    expect(statSync(join(out, '_manifest.json')).mode & 0o777).toBe(0o644);
    expect(lstatSync(out).isDirectory()).toBe(true);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('writes nothing anew where the tools are the same, and tells scripts what it did', async () => {
    const args = ['generate', '--out', out, '--json', ...configOf({ s: changing })];
    const first = JSON.parse((await runProgram(args)).stdout) as JsonObject;
    expect(first).toMatchObject({
      language: 'python',
      folder: out,
      written: true,
      servers: [{ name: 's', tools: 4 }],
      skills: false,
      hub: null,
      warnings: [],
    });
    const { ino, mtimeMs } = statSync(join(out, 'client.py'));
    const second = JSON.parse((await runProgram(args)).stdout) as JsonObject;
    expect(second).toEqual({ ...first, written: false });
    expect(statSync(join(out, 'client.py'))).toMatchObject({ ino, mtimeMs });
  });

  it('changes nothing when no server answers, when the folder is not ours, and when the config is wrong', async () => {
    await runProgram(['generate', '--out', out, ...configOf({ s: changing })]);
    const before = readdirSync(out).sort();
    const failed = await runProgram(['generate', '--out', out, ...configOf({ s: broken, t: broken })]);
    expect(failed.ending).toBe(1);
    expect(failed.stderr).toMatch(/No server could be asked for its tools, so nothing was written\.\nThe server "s" is left out: /);
    expect(readdirSync(out).sort()).toEqual(before);

    mkdirSync(join(folder, 'mine'));
    writeFileSync(join(folder, 'mine', 'thesis.txt'), 'years of work');
    const refused = await runProgram(['generate', '--out', join(folder, 'mine'), ...configOf({ s: changing })]);
    expect(refused.ending).toBe(2);
    expect(refused.stderr).toMatch(/^notebridge: ".*mine" is not overwritten: it holds files that were not generated/);
    expect(readFileSync(join(folder, 'mine', 'thesis.txt'), 'utf8')).toBe('years of work');

    expect((await runProgram(['generate', '--out', out, '--config', join(folder, 'none.json')])).ending).toBe(2);
    expect(readdirSync(out).sort()).toEqual(before);
  });

  it('says what is wrong with the command line', { tags: ['P-005'] }, async () => {
    const bad = async (...args: string[]): Promise<string> => {
      const { ending, stderr } = await runProgram(['generate', ...args]);
      expect(ending).toBe(2);
      return stderr;
    };
    expect(await bad()).toContain("required option '--out <dir>' not specified");
    expect(await bad('--lang', 'cobol', '--out', out)).toContain('Allowed choices are python, typescript');
    expect(await bad('--out', out, '--wach')).toContain('Did you mean --watch?');
  });

  it('warns of a folder that Python cannot import, and of a config without servers', async () => {
    const { ending, stderr } = await runProgram(['generate', '--out', join(folder, 'my-tools'), ...configOf({})]);
    expect(ending).toBe(0);
    expect(stderr).toContain('Python cannot import a package named "my-tools"');
    expect(stderr).toContain('The config names no servers');
  });

  it('stays with --watch, follows tools and config, and ends its servers with it', { tags: ['P-150'] }, async () => {
    const { home, env } = createHome();
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const pidFile = join(folder, 'pid');
    const noted = { command: 'sh', args: ['-c', `echo $$ > ${pidFile}; exec ${process.execPath} ${fixtureServer('changing.mjs')} 7`] };
    await using watch = Watching.program(['generate', '--out', out, '--watch', '--json', ...configOf({ s: noted })], { env, cwd: folder });
    await watch.until(() => watch.lines().length >= 1);
    expect(python('import generated.mcp.s.only_7; print("seven")')).toBe('seven');
    expect(lstatSync(out).isSymbolicLink()).toBe(true);

    configOf({ s: noted, more: changing });
    await watch.until(() => watch.lines().some((line) => line.includes('"name":"more"')));
    expect(python('import generated.mcp.more.only_1; print("both")')).toBe('both');

    writeFileSync(join(folder, 'mcp.json'), '{ "mcpServers": ');
    await watch.until(() => watch.stderr.includes('The changed config is not used'));
    configOf({ more: changing });
    await watch.until(() => watch.lines().at(-1)?.includes('"servers":[{"name":"more","tools":4}]') === true);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    // The bindings follow at once; the server that left may take a moment to end.
    await vi.waitUntil(() => !isAlive(pid), { timeout: 45_000 });
    expect(await watch.stop('SIGINT')).toBe(0);
  });
});

describe('generate, with a hub', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    const everything = installedServer('everything', [], { expose: 'code' });
    const servers = {
      changing,
      everything,
      lazy: { ...changing, lazy: true },
      hidden: { ...changing, expose: 'none' },
      off: { ...changing, disabled: true },
    };
    hub = await ServedHub.start({ servers, args: ['--notebook', 'none'], port: await ownPort() });
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it('asks the hub, and writes down where it is, and no token', { tags: ['P-090'] }, async () => {
    const { ending, stdout, stderr } = await hub.run('generate', '--out', out);
    expect([ending, stderr.split('\n').filter((line) => !/is called|more like these; they stand in _manifest.json/.test(line))]).toEqual([
      0,
      [''],
    ]);
    expect(stdout).toContain(`3 servers. They call ${hub.url}/api/v1/mcp/proxy.`);
    expect(manifest().url).toBe(`${hub.url}/api/v1/mcp/proxy`);
    expect(readdirSync(join(out, 'mcp')).sort()).toEqual(['__init__.py', 'changing', 'everything', 'lazy']);
    const texts = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath, name } of texts) expect(readFileSync(join(parentPath, name), 'utf8')).not.toContain(hub.ownerToken);
  });

  it('gives the same bytes as the hub itself, in both languages', async () => {
    for (const lang of ['python', 'typescript']) {
      const { stdout } = await hub.run('generate', '--lang', lang, '--out', join(folder, lang), '--json');
      const archive = await hub.request(`/api/v1/mcp/proxy/bindings/${lang}.tar.gz`, { token: hub.ownerToken });
      expect(archive.headers.get('etag')).toBe(`"${(JSON.parse(stdout) as JsonObject).content_hash}"`);
    }
  });

  it('follows with --watch what changes in the hub, through its restart, and then ends when told to', { tags: ['P-150'] }, async () => {
    await using watch = Watching.program(['generate', '--out', out, '--watch', '--json'], { env: hub.env, cwd: folder });
    await watch.until(() => watch.lines().length >= 1);
    await hub.call('changing', 'become', { version: '2' }, hub.ownerToken);
    await watch.until(() => watch.lines().length >= 2);
    expect(python('import generated.mcp.changing.only_2; print("two")')).toBe('two');

    const { port } = hub;
    await hub.stop();
    await watch.until(() => watch.stderr.includes('The hub'));
    await using again = await ServedHub.start({ servers: { changing }, port, args: ['--notebook', 'none'] }, hub);
    expect(again.port).toBe(port);
    await watch.until(() => watch.lines().length >= 3);
    expect(python('import generated.mcp.changing.only_1; print("one again")')).toBe('one again');
    expect(await watch.stop()).toBe(0);
  });
});
