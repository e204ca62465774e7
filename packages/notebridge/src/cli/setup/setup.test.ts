// @module-tag P-010

import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeSetup } from '../commands/setup.js';
import { replaceHostFile } from './host-file.js';
import { hosts } from './hosts.js';
import { type SetupReport, setup } from './setup.js';

const launch = { command: 'node', args: ['/opt/notebridge.js'] };

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'notebridge-setup-'));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const run = (host: string | undefined, write = true, more: Partial<Parameters<typeof setup>[0]> = {}): Promise<SetupReport> =>
  setup({ host, write, launch, env: { HOME: home }, platform: 'linux', project: '/project', ...more });
const faultOf = async (running: Promise<unknown>): Promise<BridgeError> => {
  const error = await running.catch((thrown: unknown) => thrown);
  if (!(error instanceof BridgeError)) throw new Error(`expected a BridgeError, got ${String(error)}`);
  return error;
};

describe('setup: printing', () => {
  it.each(hosts.map((host) => host.name))('says what to put where for %s, and writes nothing', async (name) => {
    const report = await run(name, false);
    const text = describeSetup(report);
    expect(report.status).toBe('printed');
    expect(text).toContain(report.file);
    expect(text).toContain(report.snippet.trimEnd());
    expect(text).toContain(`notebridge.js setup ${name} --write`);
    expect(report.snippet).toContain('notebridge');
    expect(await readdir(home)).toEqual([]);
  });

  it("names the host's own command where it has one", async () => {
    expect(describeSetup(await run('claude-code', false))).toContain(
      '  claude mcp add --scope local notebridge -- node /opt/notebridge.js\n',
    );
    expect(describeSetup(await run('cursor', false))).not.toContain('Or let');
  });

  it('gives the snippet in the form of the host', async () => {
    expect(JSON.parse((await run('vscode', false)).snippet)).toEqual({ servers: { notebridge: { type: 'stdio', ...launch } } });
    expect(JSON.parse((await run('cursor', false)).snippet)).toEqual({ mcpServers: { notebridge: launch } });
    expect((await run('codex', false)).snippet).toBe(
      '[mcp_servers.notebridge]\ncommand = "node"\nargs = [ "/opt/notebridge.js" ]\nstartup_timeout_sec = 60\ntool_timeout_sec = 3600\n',
    );
  });
});

describe('setup: writing', () => {
  it.each(hosts.map((host) => host.name))('makes the file of %s and its folders; a second run changes nothing', async (name) => {
    const report = await run(name);
    expect(report).toMatchObject({ status: 'added' });
    expect(report.backup).toBeUndefined();
    expect(await readFile(report.file, 'utf8')).toBe(report.snippet);
    expect((await stat(report.file)).mode & 0o777).toBe(0o600);
    const again = await run(name);
    expect(again.status).toBe('unchanged');
    expect(describeSetup(again)).toContain(`already has "notebridge" in ${report.file}\n`);
    expect(await readdir(dirname(report.file))).toHaveLength(1);
  });

  it('merges into an existing file and keeps a copy of the old one, both with its mode', async () => {
    const file = join(home, '.claude.json');
    const old = '{"numStartups":7,"mcpServers":{"other":{"command":"x"}}}';
    await writeFile(file, old);
    await chmod(file, 0o640);
    const report = await run('claude-code', true, { scope: 'user' });
    expect(report.status).toBe('added');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      numStartups: 7,
      mcpServers: { other: { command: 'x' }, notebridge: { type: 'stdio', ...launch } },
    });
    expect(await readFile(report.backup ?? '', 'utf8')).toBe(old);
    expect(report.backup).toMatch(/\.claude\.json\.notebridge-backup-\d{4}-\d\d-\d\dT[\d-]+Z$/);
    for (const path of [file, report.backup ?? '']) expect((await stat(path)).mode & 0o777).toBe(0o640);
    expect(describeSetup(report)).toContain(`Added "notebridge" to ${file}\nThe old file is kept as ${report.backup}`);
  });

  it('writes through a link into a folder of dotfiles', async () => {
    await mkdir(join(home, 'dotfiles'));
    await mkdir(join(home, '.codex'));
    await writeFile(join(home, 'dotfiles', 'codex.toml'), 'model = "x"\n');
    await symlink(join(home, 'dotfiles', 'codex.toml'), join(home, '.codex', 'config.toml'));
    await run('codex');
    expect(await readFile(join(home, 'dotfiles', 'codex.toml'), 'utf8')).toMatch(/^model = "x"\n\n\[mcp_servers\.notebridge\]\n/);
  });

  it('reports an update as one', async () => {
    const file = join(home, '.cursor', 'mcp.json');
    await mkdir(dirname(file));
    await writeFile(file, '{"mcpServers":{"notebridge":{"command":"node","args":["/old.js"]}}}');
    const report = await run('cursor');
    expect(report.status).toBe('updated');
    expect(describeSetup(report)).toContain(`Updated "notebridge" in ${file}`);
  });

  it('leaves a broken file alone, and names the line', async () => {
    const file = join(home, '.claude.json');
    await writeFile(file, '{\n  "a": 1\n  "b": 2\n}');
    const error = await faultOf(run('claude-code'));
    expect(error.code).toBe('bad_config');
    expect(error.message).toContain(`${file}:3:3: The file is not JSON`);
    expect(await readdir(home)).toEqual(['.claude.json']);
  });

  it('leaves no copy behind when the file cannot be replaced', async () => {
    const file = join(home, 'x.json');
    await writeFile(file, 'changed by the host');
    const error = await faultOf(replaceHostFile({ file, before: 'as read', after: 'new' }));
    expect(error.code).toBe('write_failed');
    expect(error.message).toContain('was changed by another program meanwhile');
    expect(await readdir(home)).toEqual(['x.json']);
  });

  it('names a folder that cannot be made and a file that cannot be read', async () => {
    await writeFile(join(home, '.cursor'), '');
    const blocked = await faultOf(run('cursor'));
    expect(blocked.code).toBe('write_failed');
    expect(blocked.message).toMatch(/^Cannot make the folder ".*\.cursor": .*\. Nothing was changed\./);
    await mkdir(join(home, '.claude.json'));
    expect((await faultOf(run('claude-code'))).message).toContain('is a folder. Nothing was changed.');
  });
});

describe('setup --scope', () => {
  const read = async (file: string): Promise<unknown> => JSON.parse(await readFile(join(home, file), 'utf8'));
  const inProject = (name: string, more: Partial<Parameters<typeof setup>[0]> = {}) =>
    run('claude-code', true, { project: join(home, name), notebook: join(home, `${name}.ipynb`), ...more });

  it('is one project for Claude Code: a second one has a notebook of its own', { tags: ['P-746'] }, async () => {
    expect(await inProject('one')).toMatchObject({ status: 'added', scope: 'local', project: join(home, 'one'), notes: [] });
    const report = await inProject('two');
    expect(describeSetup(report)).toContain(`Added "notebridge" to ${report.file}\nThat is for the project ${join(home, 'two')}`);
    const entry = (name: string) => ({
      mcpServers: { notebridge: { type: 'stdio', command: 'node', args: [...launch.args, '--notebook', join(home, `${name}.ipynb`)] } },
    });
    expect(await read('.claude.json')).toEqual({ projects: { [join(home, 'one')]: entry('one'), [join(home, 'two')]: entry('two') } });
    expect((await inProject('one')).status).toBe('unchanged');
  });

  it('says that there is an entry for all projects, and leaves it', { tags: ['P-746'] }, async () => {
    await inProject('one', { scope: 'user' });
    const { notes } = await inProject('one');
    expect(notes).toEqual([expect.stringContaining(`for all projects too, in ${join(home, '.claude.json')}`)]);
    expect(await read('.claude.json')).toMatchObject({ mcpServers: { notebridge: {} }, projects: { [join(home, 'one')]: {} } });
  });

  it('says at an entry for all projects that one for this project is there to have', { tags: ['P-746'] }, async () => {
    await inProject('one', { scope: 'user' });
    const { notes } = await inProject('two', { scope: 'user' });
    expect(notes).toEqual([expect.stringMatching(/^Until now it had: .*one\.ipynb\n.*setup claude-code --scope local/)]);
  });

  it.each([
    ['claude-code', '.mcp.json'],
    ['cursor', '.cursor/mcp.json'],
    ['vscode', '.vscode/mcp.json'],
    ['gemini', '.gemini/settings.json'],
    ['codex', '.codex/config.toml'],
  ])('puts it into the project for %s, and says what that means', { tags: ['P-746'] }, async (host, file) => {
    const report = await run(host, true, { scope: 'project', project: join(home, 'p') });
    expect(report).toMatchObject({ status: 'added', file: join(home, 'p', file), notes: [expect.stringContaining('what you share')] });
    expect(describeSetup({ ...report, status: 'printed' })).toContain(`setup ${host} --scope project --write`);
  });

  it('is refused where the host has none such, with those that it has', async () => {
    const error = await faultOf(run('claude-desktop', true, { scope: 'local' }));
    expect([error.code, error.message]).toEqual(['bad_usage', expect.stringContaining('Its scopes: user.')]);
  });
});

describe('setup --notebook', () => {
  const name = (notebook: string, host = 'cursor', write = true) =>
    setup({ host, write, notebook, launch, env: { HOME: home }, platform: 'linux', project: '/project' });
  const argsOf = async (): Promise<string[]> =>
    (JSON.parse(await readFile(join(home, '.cursor', 'mcp.json'), 'utf8')) as { mcpServers: { notebridge: { args: string[] } } }).mcpServers
      .notebridge.args;

  it('writes the whole path of a relative file, once', async () => {
    const whole = join(process.cwd(), 'work.ipynb');
    expect(await name('work.ipynb')).toMatchObject({ status: 'added', notebook: whole });
    expect(await argsOf()).toEqual([...launch.args, '--notebook', whole]);
    expect((await name('work.ipynb')).status).toBe('unchanged');
    expect((await name(join(home, 'other.ipynb'))).status).toBe('updated');
    expect(await argsOf()).toEqual([...launch.args, '--notebook', join(home, 'other.ipynb')]);
    const text = describeSetup(await name('work.ipynb', 'claude-code', false));
    expect(text).toContain(`setup claude-code --notebook ${whole} --write`);
    expect(text).toContain(`-- node ${launch.args[0]} --notebook ${whole}`);
  });

  it.each([
    ['of the same program', 'npx', ['-y', 'notebridge', '--log-level', 'debug']],
    ['of a checkout', 'node', ['/old/bin/notebridge.js', '--log-level', 'debug']],
    ['of another program', 'node', ['/old.js', '--log-level', 'debug']],
    ['of the program itself', '/usr/bin/notebridge', ['--log-level', 'debug']],
  ])('keeps the arguments of the person: %s', { tags: ['P-265'] }, async (_, command, args) => {
    await mkdir(join(home, '.cursor'));
    await writeFile(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { notebridge: { command, args } } }));
    await name('/work.ipynb');
    expect(await argsOf()).toEqual([...launch.args, '--log-level', 'debug', '--notebook', '/work.ipynb']);
    await run('cursor');
    expect(await argsOf()).toEqual([...launch.args, '--log-level', 'debug', '--notebook', '/work.ipynb']);
  });

  it('takes no comment of the person away: JSON is left alone, with what to write; TOML keeps it on a line of its own', async () => {
    const json = join(home, '.cursor', 'mcp.json');
    const old = '{"mcpServers":{"notebridge":{"command":"npx","args":["-y", "notebridge" /* why */]}}}';
    await mkdir(dirname(json));
    await writeFile(json, old);
    expect((await faultOf(name('/work.ipynb'))).message).toMatch(/has comments.*would be lost.*"--notebook","\/work\.ipynb"\]/);
    expect(await readFile(json, 'utf8')).toBe(old);
    const toml = join(home, '.codex', 'config.toml');
    await mkdir(dirname(toml));
    await writeFile(toml, '[mcp_servers.notebridge]\ncommand = "npx"\nargs = ["-y", "notebridge", "#"] # why\n');
    await name('/work.ipynb', 'codex');
    expect(await readFile(toml, 'utf8')).toBe(
      `[mcp_servers.notebridge]\ncommand = "node"\n# why\nargs = [ "${launch.args[0]}", "#", "--notebook", "/work.ipynb" ]\n`,
    );
  });

  it('refuses what is no notebook, and a folder that is not there', async () => {
    expect((await faultOf(name('work.txt'))).message).toMatch(/ends in \.ipynb/);
    expect((await faultOf(name('/no/such/work.ipynb'))).message).toMatch(/there is no folder "\/no\/such"/);
  });
});

describe('setup --code-mode', () => {
  const name = (more: Partial<Parameters<typeof setup>[0]>, host = 'cursor') =>
    setup({ host, write: true, launch, env: { HOME: home }, platform: 'linux', project: '/project', ...more });
  const argsOf = async (): Promise<string[]> =>
    (JSON.parse(await readFile(join(home, '.cursor', 'mcp.json'), 'utf8')) as { mcpServers: { notebridge: { args: string[] } } }).mcpServers
      .notebridge.args;

  it.each(hosts.map((host) => host.name))('is written for %s, once, and printed', { tags: ['P-458'] }, async (host) => {
    const printed = await name({ write: false, codeMode: true }, host);
    expect(printed).toMatchObject({ status: 'printed', codeMode: true });
    expect(printed.snippet).toContain('"--code-mode"');
    expect(describeSetup(printed)).toContain(`setup ${host} --code-mode --write`);
    if (printed.ownCommand !== undefined) expect(printed.ownCommand).toContain(' --code-mode');
    const { status, file } = await name({ codeMode: true }, host);
    expect(status).toBe('added');
    expect((await name({ codeMode: true }, host)).status).toBe('unchanged');
    const written = await readFile(file, 'utf8');
    expect(written.split('--code-mode')).toHaveLength(2);
    expect(written).toContain('"--code-mode"');
  });

  it('leaves what the agents work in as it is, and that leaves it', { tags: ['P-458'] }, async () => {
    await name({ notebook: '/work.ipynb', allowNet: ['pypi.org'] });
    const report = await name({ codeMode: true });
    const works = ['--notebook', '/work.ipynb', '--allow-net', 'pypi.org'];
    expect(await argsOf()).toEqual([...launch.args, ...works, '--code-mode']);
    expect(report.notes).toEqual([expect.stringContaining('It starts with: --notebook /work.ipynb --allow-net pypi.org')]);
    const other = await name({ notebook: 'jupyter' });
    expect(await argsOf()).toEqual([...launch.args, '--code-mode', '--notebook', 'jupyter']);
    expect(other.notes).toEqual([
      expect.stringMatching(/^Until now it had: --notebook \/work\.ipynb --allow-net pypi\.org\n.*--scope project/),
      expect.stringContaining('It starts with: --code-mode\n'),
    ]);
    await name({ codeMode: true, notebook: 'local' });
    expect(await argsOf()).toEqual([...launch.args, '--code-mode', '--notebook', 'local']);
    expect((await name({})).status).toBe('unchanged');
  });

  it.each([
    ['--code-mode', 'agent-codemode', '--log-level', 'debug'],
    ['--log-level', 'debug', '--code-mode=agent-codemode'],
  ])('takes the place of what an earlier version has written: %s %s %s', async (...args) => {
    await mkdir(join(home, '.cursor'));
    const notebridge = { command: 'node', args: [...launch.args, ...args] };
    await writeFile(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { notebridge } }));
    const report = await name({ codeMode: true });
    expect(report).toMatchObject({ status: 'updated', notes: ['Until now it had: --code-mode=agent-codemode'] });
    expect(await argsOf()).toEqual([...launch.args, '--log-level', 'debug', '--code-mode']);
  });

  it('is of what is started, not of a hub that serves', async () => {
    const error = await faultOf(name({ codeMode: true, url: 'http://127.0.0.1:8765/mcp' }));
    expect([error.code, error.message]).toEqual(['bad_usage', expect.stringContaining('notebridge serve --code-mode')]);
  });
});

describe('setup: the host', () => {
  it('must be one of the list', async () => {
    const error = await faultOf(run('claude_code'));
    expect(error.code).toBe('bad_usage');
    expect(error.message).toBe(
      'There is no host "claude_code". Did you mean "claude-code"? Hosts are claude-code, claude-desktop, cursor, vscode, gemini, codex.',
    );
    expect((await faultOf(run('emacs'))).message).toMatch(/^There is no host "emacs"\. Hosts are /);
    expect((await faultOf(run(undefined))).message).toMatch(/^Which host is to be set up\? Hosts are /);
  });
});
