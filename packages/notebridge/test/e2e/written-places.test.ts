/** Files that a config names, where code in a sandbox was given to write: they are not read, not started, not imported, not run. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { baseEnvironment } from '@notebridge/system/processes/base-environment';
import { launchDetached } from '@notebridge/system/processes/browser-command';
import { startOfProcess } from '@notebridge/system/processes/living-process';
import { ServerProcess } from '@notebridge/system/processes/server-process';
import { assertStartsOutside } from '@notebridge/system/processes/start-outside';
import { findTypeChecker } from '@notebridge/system/processes/type-checker-program';
import { heedWritten } from '@notebridge/system/processes/written-rule';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConfigServers } from '../../src/assembly/config-servers.js';
import { loadLab } from '../../src/assembly/load-notebook.js';
import { createWrittenFolders } from '../../src/assembly/trusted-folders.js';
import { checkJupyter } from '../../src/cli/doctor/check-kernels.js';
import { defaultConfig } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load-config.js';
import { loadMiddlewareModules } from '../../src/config/load-middleware.js';
import type { ServerConfig } from '../../src/config/server-config.js';
import { runProgram } from '../support/program.js';
import { callSkills, faultOf, resultOf, useSkillsPlace } from '../support/skill-folders.js';
import { fixtureConfig, fixtureServer, httpConfig, linesOf, openUpstreams } from '../support/upstreams.js';

let [base, given, outside] = ['', '', '']; // Code was given one of them to write to.
let folders: string[];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-written-')));
  [given, outside] = [join(base, 'given'), join(base, 'outside')];
  for (const folder of [given, outside]) mkdirSync(folder);
  folders = [given];
  heedWritten(base, () => folders);
});
afterEach(() => {
  folders = [];
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true });
});

function file(path: string, text = ''): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** By a link outside. */
function linked(path: string): string {
  const at = join(outside, `link-${path.split('/').at(-1)}`);
  symlinkSync(path, at);
  return at;
}

const server = { command: 'node', args: [] as string[], name: 'it' };
const remedy = /code in a sandbox may write to ".*\/given".*notebridge grants files --withdraw .*\/given/;

describe('a config', { tags: ['P-625'] }, () => {
  const env = () => ({ HOME: join(base, 'home'), XDG_STATE_HOME: join(base, 'state') });
  const load = (path: string, config: unknown = {}) => {
    const named = path.startsWith('/') ? path : join(base, path);
    file(named, JSON.stringify(config));
    return loadConfig({ file: named, env: env() });
  };
  const keys = () => join(given, 'keys.json');
  const cases: [string, () => Promise<unknown>][] = [
    ['in the folder', () => load('given/mcp.json')],
    ['below it', () => load('given/settings/mcp.json')],
    [
      'behind a link',
      () => {
        file(join(given, 'mcp.json'), '{}');
        return loadConfig({ file: linked(join(given, 'mcp.json')), env: env() });
      },
    ],
    [
      'of the user’s own, whose folder is a link',
      () => {
        file(join(given, 'notebridge/mcp.json'), '{}');
        symlinkSync(given, join(base, 'config'));
        return loadConfig({ env: { ...env(), XDG_CONFIG_HOME: join(base, 'config') } });
      },
    ],
    [
      'that names keys there',
      () =>
        load('outside/mcp.json', {
          notebridge: { exchange: [{ issuer: 'https://issuer.example', subject: 'a', keys: keys(), allow: ['*:*'] }] },
        }),
    ],
    ['that names a certificate there', () => load('outside/mcp.json', { mcpServers: { it: { url: 'https://x.example', ca: keys() } } })],
  ];
  it.each(cases)('%s is not read', async (_, act) => {
    await expect(act()).rejects.toMatchObject({ code: 'bad_config', message: expect.stringMatching(remedy) });
  });
});

describe('a middleware module', { tags: ['P-625'] }, () => {
  const source = 'globalThis.writtenRan = true; export default { onCallTool: (context, next) => next(context) }';
  it.each([
    ['in the folder', () => file(join(given, 'm.mjs'), source)],
    ['behind a link', () => linked(file(join(given, 'm.mjs'), source))],
  ])('%s is not imported', async (_, put) => {
    await expect(loadMiddlewareModules([put()], outside)).rejects.toMatchObject({
      code: 'bad_middleware',
      message: expect.stringMatching(remedy),
    });
    expect(globalThis).not.toHaveProperty('writtenRan');
  });
});

describe('a server', () => {
  const starts: [string, () => ServerConfig][] = [
    ['its program', () => fixtureConfig('named.mjs', [], { command: file(join(given, 'server')) })],
    ['its program, by a link', () => fixtureConfig('named.mjs', [], { command: linked(file(join(given, 'server'))) })],
    ['its program, from its folder', () => fixtureConfig('named.mjs', [], { command: '../given/server', cwd: outside })],
    ['its script', () => fixtureConfig('named.mjs', [], { ...server, args: [file(join(given, 'server.mjs'))] })],
    ['its script, behind options', () => fixtureConfig('x', [], { ...server, args: ['--enable-source-maps', file(join(given, 's.mjs'))] })],
    ['its script, by a link', () => fixtureConfig('x', [], { ...server, args: [linked(file(join(given, 's.mjs')))] })],
    ['the folder of its script', () => fixtureConfig('x', [], { command: 'python3', args: [given] })],
    [
      'a module that it imports',
      () => fixtureConfig('x', [], { ...server, args: ['--import', join(given, 'm.mjs'), fixtureServer('named.mjs')] }),
    ],
    ['a module, in one word', () => fixtureConfig('x', [], { ...server, args: [`--import=file://${join(given, 'm.mjs')}`, 'x.mjs'] })],
    ['the project that uv runs', () => fixtureConfig('x', [], { command: 'uv', args: ['--directory', given, 'run', 'server.py'] })],
    ['its working directory', () => fixtureConfig('x', [], { ...server, cwd: given })],
    ['its working directory, by a link', () => fixtureConfig('x', [], { ...server, cwd: linked(given) })],
    ['the certificate of its address', () => httpConfig('https://x.example', { ca: join(given, 'ca.pem') })],
  ];
  it.each(starts)('is not started with %s there', { tags: ['P-625'] }, async (_, toConfig) => {
    const config = toConfig();
    if (config.transport === 'stdio') expect(() => assertStartsOutside(config)).toThrow(remedy);
    const { upstreams, log } = openUpstreams([config]);
    await upstreams.start();
    expect(log.join('\n')).toMatch(remedy);
  });

  it('that has crashed is not started again from what code has been given since', { tags: ['P-625'], timeout: 60_000 }, async () => {
    folders = [];
    const mark = join(base, 'has-run');
    const script = file(join(given, 'server.mjs'), `import ${JSON.stringify(fixtureServer('calls.mjs'))};`);
    const opened = openUpstreams([fixtureConfig('x', [], { args: [script, join(base, 'calls')] })]);
    await opened.upstreams.start();
    folders = [given];
    file(script, `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(mark)}, 'ran\\n');`);
    process.kill(opened.server().state.pid ?? expect.fail('it does not run'), 'SIGKILL');
    await opened.until(() => opened.log.some((line) => remedy.test(line)));
    await expect(opened.call('echo')).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(linesOf(mark)).toEqual([]);
  });
});

describe('a program by its name', { tags: ['P-626'] }, () => {
  it('is looked for outside alone: by servers and scripts, and by what opens a browser', async () => {
    for (const name of ['node', 'python3', 'xdg-open']) file(join(given, 'bin', name));
    mkdirSync(join(outside, 'bin'));
    vi.stubEnv('PATH', `${join(given, 'bin')}:${join(outside, 'bin')}`);
    expect(baseEnvironment().PATH).toBe(join(outside, 'bin'));
    const noted: string[] = [];
    const env = { PATH: `${join(given, 'bin')}:${join(outside, 'bin')}:/bin` };
    const said = new ServerProcess({ command: 'sh', args: ['-c', 'echo "$PATH" >&2'], env, onStderrLine: (line) => noted.push(line) });
    await said.ended;
    await expect.poll(() => noted).toEqual([`${join(outside, 'bin')}:/bin`]);
    const child = launchDetached(['xdg-open', 'https://x.example'], { PATH: process.env.PATH });
    await expect(new Promise((resolve) => child.once('error', resolve))).resolves.toMatchObject({ code: 'ENOENT' });
  });

  it('and so is the type checker', () => {
    const at = join(given, 'node_modules/pyright');
    file(join(at, 'package.json'), JSON.stringify({ name: 'pyright', version: '1.1.0' }));
    file(join(at, 'langserver.index.js'));
    mkdirSync(join(at, 'dist'));
    const find = () => findTypeChecker({ configDir: given, path: '', cwd: outside, own: outside });
    expect(find()).toBeUndefined();
    folders = [];
    expect(find()?.folder).toBe(at);
  });
});

describe('a file that says where a Jupyter server is', { tags: ['P-625'] }, () => {
  it('is believed outside alone', async () => {
    const url = 'http://127.0.0.1:45999/';
    const text = JSON.stringify({ url, token: 'secret', pid: process.pid, root_dir: outside });
    file(join(given, 'runtime/jpserver-1.json'), text);
    vi.stubEnv('JUPYTER_RUNTIME_DIR', join(given, 'runtime'));
    expect(await checkJupyter()).toMatchObject([{ found: expect.stringContaining('no server of yours runs') }]);
    const { findServerOfUser } = await loadLab();
    const find = (env: Record<string, string>) => findServerOfUser(url, env);
    expect(await find({ JUPYTER_RUNTIME_DIR: join(given, 'runtime') })).toBeUndefined();
    expect(await find({ JUPYTER_DATA_DIR: given })).toBeUndefined();
    mkdirSync(join(outside, 'runtime'));
    symlinkSync(join(given, 'runtime/jpserver-1.json'), join(outside, 'runtime/jpserver-1.json'));
    expect(await find({ JUPYTER_DATA_DIR: outside })).toBeUndefined();
    folders = [];
    expect(await find({ JUPYTER_DATA_DIR: outside })).toBe(url);
  });
});

describe('a skill', { tags: ['P-625'] }, () => {
  const place = useSkillsPlace();
  const run = async () => {
    await place.writeSkill('pdf');
    await place.write('pdf/scripts/a.mjs', 'console.log("ran")');
    return callSkills(place.serve(), 'run_skill_script', { skill_name: 'pdf', script_name: 'a' });
  };

  it('is not run from a trusted folder that code was given, or with a part that it was given, or by way of our scratch', async () => {
    expect(resultOf(await run())).toMatchObject({ output: 'ran\n' });
    await place.write('pdf/scripts/lib/part.mjs', '');
    const parts = ['pdf/scripts', 'pdf/scripts/lib', 'pdf/scripts/a.mjs'].map((part) => join(place.root, part));
    for (const folder of [place.root, join(place.root, 'pdf'), place.base, ...parts]) {
      folders = [folder];
      expect(faultOf(await run())).toMatchObject({
        code: 'denied',
        text: expect.stringMatching(/are not run: code in a sandbox may write/),
      });
    }
    folders = [given];
    vi.stubEnv('TMPDIR', given);
    await expect(run().then((result) => Promise.reject(new Error(faultOf(result).text)))).rejects.toThrow(
      /folder for temporary files.*TMPDIR/,
    );
  });
});

describe('a skill outside, whose start leads there', { tags: ['P-702'] }, () => {
  const place = useSkillsPlace();
  const scripts = { 'a.py': 'print(1)', 'a.js': 'console.log(1)', 'a.sh': '#!/bin/bash\ntrue', 'dot.sh': '#!/bin/sh\n# reads\n. P/be\n' };
  const run = async (script: string, env: Record<string, string>) => {
    await place.writeSkill('pdf');
    for (const [name, text] of Object.entries(scripts)) await place.write(`pdf/scripts/${name}`, text.replace('P', given));
    return callSkills(place.serve({ folders: [place.source({ env })] }), 'run_skill_script', { skill_name: 'pdf', script_name: script });
  };
  const ways: [string, string, () => Record<string, string>][] = [
    ['PYTHONPATH', 'a.py', () => ({ PYTHONPATH: given })],
    ['HOME', 'a.py', () => ({ HOME: join(given, 'home') })],
    ['PYTHONUSERBASE', 'a.py', () => ({ PYTHONUSERBASE: join(given, 'base') })],
    ['NODE_OPTIONS', 'a.js', () => ({ NODE_OPTIONS: `--require ${join(given, 'x.js')}` })],
    ['BASH_ENV', 'a.sh', () => ({ BASH_ENV: join(given, 'be') })],
    ['a script that it reads', 'dot.sh', () => ({})],
    [
      'a link on its path',
      'a.py',
      () => {
        symlinkSync(file(join(given, 'bin/python3')), join(outside, 'python3'));
        return { PATH: `${outside}:/usr/bin:/bin` };
      },
    ],
    [
      'a project that the user has installed to edit',
      'a.py',
      () => {
        file(join(outside, 'lib/python3.11/site-packages/dev.pth'), `${given}/src\n`);
        return { PYTHONUSERBASE: outside };
      },
    ],
  ];
  it.each(ways)('by %s, runs nothing', async (_, script, toEnv) => {
    const result = await run(script, toEnv());
    expect(faultOf(result)).toMatchObject({ code: 'denied', text: expect.stringMatching(remedy) });
  });

  it('by what it has of our own environment, runs without that', async () => {
    vi.stubEnv('XDG_CONFIG_HOME', given);
    vi.stubEnv('PATH', `${join(given, 'bin')}:${process.env.PATH}`);
    await place.write('pdf/scripts/env.js', 'console.log(process.env.XDG_CONFIG_HOME, process.env.PATH.includes("/given/"))');
    expect(resultOf(await run('env.js', {}))).toMatchObject({ output: 'undefined false\n' });
  });
});

describe('a command line that is recorded', { tags: ['P-703'] }, () => {
  it('is started by the same rule', async () => {
    const env = { HOME: join(base, 'home'), XDG_STATE_HOME: join(base, 'state') };
    const processes = { own: process.pid, startOf: startOfProcess };
    const record = createWrittenFolders(join(base, 'state/notebridge'), { uid: process.getuid?.() }, processes);
    await record.add(given);
    const mark = join(base, 'has-run');
    const script = file(join(given, 'server.mjs'), `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(mark)}, '');`);
    const starts: [string[], string][] = [
      [['node', script], base],
      [['node', './server.mjs'], given],
      [['env', `NODE_OPTIONS=--import=${script}`, 'node', '-e', '0'], base],
    ];
    for (const [line, cwd] of starts) {
      const { ending, stderr } = await runProgram(['record', join(base, 'r.jsonl'), '--', ...line], { env, cwd });
      expect([ending, stderr], line.join(' ')).toEqual([
        1,
        expect.stringMatching(/is not started: code in a sandbox may write to .*grants files --withdraw /),
      ]);
    }
    expect(linesOf(mark)).toEqual([]);
  });
});

describe('notebridge grants files', { tags: ['P-627'] }, () => {
  it('lists what was given, takes it back with a warning, and refuses what was not', async () => {
    const env = { HOME: join(base, 'home'), XDG_STATE_HOME: join(base, 'state') };
    const record = createWrittenFolders(
      join(base, 'state/notebridge'),
      { uid: process.getuid?.() },
      { own: process.pid, startOf: startOfProcess },
    );
    await record.add(given);
    await record.add(outside);
    const grants = (...args: string[]) => runProgram(['grants', 'files', ...args], { env });
    const listed = await grants();
    expect([listed.ending, listed.stdout]).toEqual([0, expect.stringMatching(/\/given\n.*\/outside\n.*grants files --withdraw/)]);
    const release = await record.hold(given, join(given, 'one.ipynb'));
    const kept = await grants('--withdraw', given);
    expect([kept.ending, kept.stderr]).toEqual([
      1,
      expect.stringMatching(/given" is not taken back: a kernel may still write there.* stop ".*\/given\/one\.ipynb"/),
    ]);
    expect(record.folders).toEqual([given, outside]);
    await release();
    const taken = await grants('--withdraw', given, '--json');
    expect([taken.ending, taken.stderr]).toEqual([
      0,
      expect.stringMatching(/given counts as yours alone again.*what code has written.*Look at it first/),
    ]);
    expect(JSON.parse(taken.stdout)).toEqual({ folders: [outside] });
    const wrong = await grants('--withdraw', given);
    expect([wrong.ending, wrong.stderr]).toEqual([2, expect.stringMatching(/is none of the folders.*\/outside/s)]);
    expect(record.folders).toEqual([outside]);
  });
});

describe('a server without "cwd"', { tags: ['P-626'] }, () => {
  it('begins in an empty folder of ours', async () => {
    const noted = join(base, 'noted');
    const script = `pwd > ${noted}; ls -A >> ${noted}; exec ${process.execPath} ${fixtureServer('calls.mjs')} ${join(base, 'calls')}`;
    const config = { ...defaultConfig(outside), servers: [fixtureConfig('x', [], { command: '/bin/sh', args: ['-c', script] })] };
    const parts = { logger: silentLogger, redactor: new Redactor(), serverInfo: { name: 'test', version: '1' }, env: {} };
    const run = async (stateDir: string) => {
      const servers = new ConfigServers({ ...parts, config, stateDir });
      await servers.start();
      expect(servers.get('it')?.state.status).toBe('running');
      await servers.close();
      return linesOf(noted);
    };
    expect(await run(join(base, 'state'))).toEqual([join(base, 'state/empty')]);
    expect(statSync(join(base, 'state/empty')).mode & 0o777).toBe(0o500);
    expect((await run('/dev/null/state'))[0]).toBe('/');
  });
});
