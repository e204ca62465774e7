// @module-tag deep
// @module-tag P-265

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pythonWith, runPython } from '../../../../../scripts/python-env.mjs';
import { programFile } from '../../../test/support/program.js';
import { writeHubFile } from '../../identity/hub-file.js';
import { describeSetup } from '../commands/setup.js';
import { hosts } from './hosts.js';
import { type SetupReport, setup } from './setup.js';

const launch = { command: 'node', args: ['/opt/notebridge.js'] };
const token = 'f00dfacef00dface';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'notebridge-setup-'));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

const run = (named: Partial<Parameters<typeof setup>[0]>): Promise<SetupReport> =>
  setup({ host: 'cursor', write: true, launch, env: { HOME: home }, platform: 'linux', project: '/project', ...named });
const cursorEntry = async (): Promise<{ args: string[]; url: string }> =>
  (JSON.parse(await readFile(join(home, '.cursor', 'mcp.json'), 'utf8')) as { mcpServers: { notebridge: { args: string[]; url: string } } })
    .mcpServers.notebridge;

describe('setup --notebook jupyter', () => {
  it.each([
    'jupyter',
    'jupyter=http://localhost:8888/lab/tree/a%20b.ipynb',
    'jupyter=https://hub.example/user/ann/',
    'jupyter=/projects/a.ipynb',
  ])('keeps %j as it is', async (notebook) => {
    await mkdir(join(home, 'projects'));
    const given = notebook.replace('=/projects', `=${home}/projects`);
    expect(await run({ notebook: given })).toMatchObject({ status: 'added', notebook: given, notes: [] });
    expect((await cursorEntry()).args).toEqual([...launch.args, '--notebook', given]);
    expect((await run({ notebook: given })).status).toBe('unchanged');
  });

  it('writes the whole path of a file below the folder of a server', async () => {
    await run({ notebook: 'jupyter=work.ipynb' });
    expect((await cursorEntry()).args.at(-1)).toBe(`jupyter=${join(process.cwd(), 'work.ipynb')}`);
  });

  it.each(hosts.map((host) => host.name))(
    'the token of the address is never written or printed for %s, and it is said what to do',
    async (host) => {
      const notebook = `jupyter=http://localhost:8888/lab/tree/work.ipynb?token=${token}&reset`;
      for (const write of [false, true]) {
        const report = await run({ host, write, notebook });
        expect(report.notebook).toBe('jupyter=http://localhost:8888/lab/tree/work.ipynb?reset=');
        expect(describeSetup(report)).toMatch(/The token of the address is not written.*JUPYTER_TOKEN/);
        expect(JSON.stringify(report) + describeSetup(report)).not.toContain(token);
        if (write) expect(await readFile(report.file, 'utf8')).not.toContain(token);
      }
    },
  );

  it.each([
    ['jupyter=localhost:8888', /no address of a Jupyter server/],
    ['jupyter=http://ann:secret@localhost:8888/', /user name or password/],
    ['jupyter=/no/such/work.ipynb', /there is no folder "\/no\/such"/],
    [
      `http://localhost:8888/lab/tree/work.ipynb?token=${token}`,
      /put "jupyter=" before its address: --notebook jupyter=http:[^ ]*token=…$/,
    ],
    ['.', /it is a folder\. Name the notebook in it: work\.ipynb/],
    ['jupiter', /give "colab", "jupyter" or "jupyter=ADDRESS", "local", a file that ends in \.ipynb, or the URL/],
  ])('refuses %j with what to do, and writes nothing', async (notebook, text) => {
    await expect(run({ notebook })).rejects.toThrow(text);
    await expect(cursorEntry()).rejects.toThrow('ENOENT');
  });

  it('takes the address of a Colab notebook, as stdio does', async () => {
    await run({ notebook: 'https://colab.research.google.com/drive/1' });
    expect((await cursorEntry()).args.at(-1)).toBe('https://colab.research.google.com/drive/1');
  });
});

describe('setup --kernel', () => {
  let python: string;
  beforeAll(async () => {
    python = await pythonWith(['ipykernel']);
  }, 600_000);

  it('is written beside the notebook, a path whole', async () => {
    const environment = join(home, 'env');
    await symlink(dirname(dirname(python)), environment);
    const whole = join(environment, 'bin/python');
    const report = await run({ notebook: '/work.ipynb', kernel: relative(process.cwd(), whole) });
    expect((await cursorEntry()).args).toEqual([...launch.args, '--notebook', '/work.ipynb', '--kernel', whole]);
    expect(report.kernel).toBe(whole);
    expect(describeSetup(await run({ write: false, notebook: '/work.ipynb', kernel: 'auto' }))).toContain(
      'setup cursor --notebook /work.ipynb --kernel auto --write',
    );
  });

  it('a kernel that no agent could use is refused with what to do, and nothing is written', async () => {
    const bare = join(home, 'bare');
    await runPython(python, ['-m', 'venv', '--without-pip', bare]);
    const refusalOf = (kernel: string) => run({ notebook: '/work.ipynb', kernel }).catch(String);
    expect(await refusalOf(join(bare, 'bin/python'))).toMatch(
      /^BridgeError: Nothing was written\. .*ipykernel.*To fix it: .*install ipykernel/,
    );
    expect(await refusalOf('.venv/bin/pyhton')).toMatch(/There is nothing at ".*pyhton".*kernels" lists/);
    expect(await refusalOf('pyodid')).toMatch(/There is no kernel "pyodid"\. Nearest: pyodide/);
    await expect(cursorEntry()).rejects.toThrow('ENOENT');
  });

  it.for([{ kernel: 'pyodide' }, { files: 'rw' }, { allowNet: ['pypi.org'], notebook: 'jupyter' }])(
    'is refused, as its like, without a file to run it in: %j',
    async (named) => {
      await expect(run(named)).rejects.toThrow(/^--(kernel|files|allow-net) is of the built-in notebook, so name its file too: /);
    },
  );

  it('is named by its folder, where no kernel has that name', { timeout: 60_000 }, async () => {
    await symlink(dirname(dirname(python)), join(home, 'v2'));
    const args = [programFile, 'setup', 'cursor', '--notebook', 'a.ipynb', '--kernel', 'v2', '--json'];
    const ran = await promisify(execFile)(process.execPath, args, { cwd: home, env: { HOME: home } });
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'printed', kernel: join(await realpath(home), 'v2') });
  });

  it('has what its code may reach beside it', async () => {
    const report = await run({ notebook: '/work.ipynb', files: 'rw', allowNet: ['pypi.org', '*.example.org'] });
    const words = ['--files', 'rw', '--allow-net', 'pypi.org', '--allow-net', '*.example.org'];
    expect((await cursorEntry()).args).toEqual([...launch.args, '--notebook', '/work.ipynb', ...words]);
    expect(describeSetup({ ...report, status: 'printed' })).toContain("--files rw --allow-net 'pypi.org,*.example.org' --write");
  });
});

describe('setup over an entry of ours', () => {
  it('writes what it prints: notebook options are replaced as a whole, other words stay, and it says what was there', async () => {
    const file = join(home, '.cursor', 'mcp.json');
    await run({ notebook: '/work.ipynb', kernel: 'pyodide', files: 'ro' });
    const config = JSON.parse(await readFile(file, 'utf8')) as { mcpServers: { notebridge: { args: string[]; env: object } } };
    config.mcpServers.notebridge.args.push('--log-level', 'debug', '--allow-edits', '--sandbox=require');
    config.mcpServers.notebridge.env = { A: 'b' };
    await writeFile(file, JSON.stringify(config));
    const report = await run({ notebook: 'jupyter' });
    expect(await cursorEntry()).toMatchObject({
      args: [...launch.args, '--log-level', 'debug', '--sandbox=require', '--notebook', 'jupyter'],
      env: { A: 'b' },
    });
    expect(describeSetup(report)).toContain('Until now it had: --notebook /work.ipynb --kernel pyodide --files ro --allow-edits');
    expect((await run({ notebook: 'jupyter' })).notes).toEqual([]);
  });

  it('changes nothing that was not asked for, and says what it starts and how to get Colab', async () => {
    await run({ notebook: 'jupyter' });
    const text = describeSetup(await run({}));
    expect(text).toContain('Nothing was written.');
    expect(text).toMatch(/It starts with: --notebook jupyter\nFor Google Colab: .* setup cursor --notebook colab --write/);
    await run({ notebook: 'colab' });
    expect((await cursorEntry()).args).toEqual([...launch.args, '--notebook', 'colab']);
    expect((await run({})).notes).toEqual([]);
  });

  it('does not print a token that a person has put there', async () => {
    const args = [...launch.args, `--notebook=jupyter=http://localhost:8888/?token=${token}`];
    await mkdir(join(home, '.cursor'));
    await writeFile(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { notebridge: { command: 'node', args } } }));
    expect(JSON.stringify(await run({}))).not.toContain(token);
  });
});

describe('setup --url', () => {
  const url = 'http://127.0.0.1:8765/mcp';

  it.each([
    ['claude-code', { type: 'http', url, headers: { Authorization: 'Bearer ${NOTEBRIDGE_AGENT_TOKEN}' } }],
    ['cursor', { url, headers: { Authorization: 'Bearer ${env:NOTEBRIDGE_AGENT_TOKEN}' } }],
    ['vscode', { type: 'http', url, headers: { Authorization: 'Bearer ${env:NOTEBRIDGE_AGENT_TOKEN}' } }],
    ['gemini', { httpUrl: url, headers: { Authorization: 'Bearer ${NOTEBRIDGE_AGENT_TOKEN}' }, timeout: 3_600_000 }],
  ])('gives %s the address, and names the variable with the token', async (host, entry) => {
    const report = await run({ host, url: 'http://127.0.0.1:8765' });
    const file = JSON.parse(await readFile(report.file, 'utf8')) as Record<string, { notebridge: unknown }>;
    expect(Object.values(file)[0]?.notebridge).toEqual(entry);
    expect(describeSetup(report)).toMatch(/export NOTEBRIDGE_AGENT_TOKEN=\$\(.* grant --agent --ttl 30d\)/);
    expect((await run({ host, url })).status).toBe('unchanged');
  });

  it('gives Codex the same, in its own words', async () => {
    const { snippet, ownCommand } = await run({ host: 'codex', url, write: false });
    expect(snippet).toContain(`url = "${url}"\nbearer_token_env_var = "NOTEBRIDGE_AGENT_TOKEN"\n`);
    expect(ownCommand).toBe(`codex mcp add notebridge --url ${url} --bearer-token-env-var NOTEBRIDGE_AGENT_TOKEN`);
  });

  it('finds the hub of this user, and says how to start one', async () => {
    await expect(run({ url: true })).rejects.toThrow(/No hub of yours serves.*"notebridge serve"/);
    const hub = { name: 'hub', url: 'http://127.0.0.1:9', pid: process.pid, startedAt: 0, version: '1' };
    await writeHubFile(join(home, '.local/state/notebridge'), hub);
    expect((await run({ url: true })).url).toBe('http://127.0.0.1:9/mcp');
  });

  it('changes the address of an entry, and nothing else of it', async () => {
    const file = join(home, '.cursor', 'mcp.json');
    await mkdir(dirname(file));
    const old = '{"mcpServers":{"notebridge":{"url":"http://old/" /* why */,"headers":{"Authorization":"Bearer mine"}}}}';
    await writeFile(file, old);
    expect((await run({ url })).status).toBe('updated');
    expect(await readFile(file, 'utf8')).toBe(old.replace('http://old/', url));
  });

  it('leaves an entry alone that starts us, and one of ours that connects', async () => {
    await run({});
    await expect(run({ url })).rejects.toThrow(/has a server "notebridge" of another kind, without a "url".*Delete or rename it/);
    await rm(join(home, '.cursor'), { recursive: true });
    await run({ url });
    await expect(run({})).rejects.toThrow(/without a "command"/);
  });

  it.each([
    [{ host: 'claude-desktop', url }, /takes no address of a server/],
    [{ url, notebook: 'work.ipynb' }, /notebook is chosen where it is started/],
    [{ url: '8765' }, /it is no address/],
    [{ url: `${url}?token=${token}` }, /A token is not for the host’s file/],
  ])('refuses %j', async (named, text) => {
    const refused = await run(named).catch(String);
    expect(refused).toMatch(text);
    expect(refused).not.toContain(token);
  });
});
