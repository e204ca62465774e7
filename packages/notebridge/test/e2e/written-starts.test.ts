/** Servers that lie outside of what code was given to write to, and name something there: as code, or as data. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assertStartsOutside } from '@notebridge/system/processes/start-outside';
import { heedWritten } from '@notebridge/system/processes/written-rule';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { coreAndDeep } from '../support/core-and-deep.js';
import { fixtureConfig } from '../support/upstreams.js';

let base: string;
let given: string;
let outside: string;
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
  rmSync(base, { recursive: true, force: true });
});

function file(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  chmodSync(path, 0o755);
}

const remedy = /code in a sandbox may write to ".*\/given".*notebridge grants files --withdraw .*\/given/;

const inCore = (_: unknown, index: number): boolean => index % 3 === 0;

describe('a server', () => {
  /** `P`: the folder that was given, `O`: one outside, with a link `O/link` to it, `B`: the one above both. */
  const filled = (text: string) => text.replace(/[PBO](?=[/: ";\n]|$)/g, (name) => ({ P: given, B: base })[name] ?? outside);
  const startOf = (line: readonly string[], rest: { env?: Record<string, string>; cwd?: string } = {}) => {
    for (const name of ['b.py', 'x', 'noexec', 'a b.sh', 'x.so', 'k/__main__.py', 'pl/M.pm', 'two words/x']) file(join(given, name));
    for (const name of ['noexec', 'data.db', 'notes.txt']) {
      file(join(given, name));
      chmodSync(join(given, name), 0o644);
    }
    if (!existsSync(join(outside, 'link'))) symlinkSync(given, join(outside, 'link'));
    const [command = '', ...args] = line.map(filled);
    const env = Object.fromEntries(Object.entries(rest.env ?? {}).map(([name, value]) => [name, filled(value)]));
    return fixtureConfig('x', [], { command, args, env, cwd: rest.cwd === undefined ? undefined : filled(rest.cwd) });
  };

  const lines = [
    ['python', '-X', 'dev', 'P/b.py'],
    ['python', '-W', 'ignore', 'P/k'],
    ['nice', '-n', '5', 'sh', 'O/link/noexec'],
    ['timeout', '9', 'P/x'],
    ['taskset', '1', 'P/x'],
    ['flock', 'O/lock', 'P/x'],
    ['env', '-u', 'X', 'nice', 'P/x'],
    ['env', '-S', 'sh P/noexec'],
    ['env', 'LD_PRELOAD=P/x.so', 'server'],
    ['/lib64/ld-linux-x86-64.so.2', '/bin/sh', 'P/x'],
    ['bash', '-lc', 'exec P/x'],
    ['bash', '-c', 'cd P && ./x'],
    ['sh', '-c', 'exec "P/a b.sh"'],
    ['python', '-c', "exec(open('P/b.py').read())"],
    ['npx', '-y', 'P/k'],
    ['npx', '-y', 'file:P/k'],
    ['npx', '-y', 'foo@file:P/k'],
    ['python', '-m', 'pip', 'install', 'x@file://P/k'],
    ['ipython', 'P/notes.txt'],
    ['npx', '-p', 'P/k', 'server'],
    ['npm', '--silent', 'exec', 'P/k'],
    ['bash', '-c', 'exec npx -y P/k'],
    ['uvx', '--from', 'P/k', 'server'],
    ['uv', 'run', '--with=P/k', 'server'],
    ['pipx', 'run', '--spec', 'P/k', 'server'],
    ['deno', 'run', '-A', 'P/b.py'],
    ['node', '--env-file=P/noexec', 'O/server.mjs'],
    ['perl', '-IP/pl', 'O/server.pl'],
    ['perl', '-Mlib=P/pl', 'O/server.pl'],
    ['python', '-Xpycache_prefix=P/k', 'O/server.py'],
    ['python', '-c', 'import runpy, sys; runpy.run_path(sys.argv[1])', 'P/k'],
    ['uv', '--cache-dir=P/k', 'run', 'server'],
    ['bash', '-e', '-x', 'P/noexec'],
  ];
  for (const { cells, tags } of coreAndDeep(lines, inCore))
    it.each(cells.map((line) => [line.join(' '), line] as const))('is not started as %s', { tags: [...tags, 'P-625'] }, (_, line) => {
      expect(() => assertStartsOutside(startOf(line))).toThrow(remedy);
    });

  /** Nothing of these names is there, or may be run, at that moment: code that is running could put it there at the next. */
  const absent = [
    ['python', 'P/run'],
    ['node', 'P/dist/server'],
    ['node', 'P/v2.0'],
    ['node', '-r', 'P/hook', 'O/server.mjs'],
    ['node', 'O/gone'],
    ['sh', 'P/new/folder/run.txt'],
    ['sh', '-c', 'P/run'],
    ['sh', '-c', 'exec "$1"', 'x', 'P/run'],
    ['bash', '-c', '. P/run'],
    ['timeout', '-k', '5', '9', 'P/run'],
    ['setsid', 'P/run'],
    ['env', '-u', 'X', 'P/run'],
    ['sudo', '-E', 'timeout', '9', 'P/run'],
    ['flock', 'O/lock', 'P/run'],
    ['xargs', '-n1', 'P/run'],
    ['script', '-qc', 'P/run', '/dev/null'],
    ['make', '-f', 'P/mk'],
    ['ssh', '-FP/ssh.conf', 'host'],
    ['awk', '-f', 'P/notes.txt'],
    ['sqlite3', '-init', 'P/notes.txt', ':memory:'],
    ['nice', 'git', '--git-dir=P/repo', 'status'],
    ['gdb', '-batch', '-x', 'P/run'],
    ['server', '--config', 'P/notes.txt'],
    ['server', '--app=P/new/folder/app.py'],
    ['gunicorn', '--chdir', 'P', 'app:app'],
    ['mvn', '-f', 'P/project.xml', 'exec:java'],
    ['conda', 'run', '-p', 'P/env', 'server'],
    ['uvx', '--from', 'server @ file://P/k', 'server'],
    ['node', '--import', 'file://localhostP/hook', 'O/server.mjs'],
    ['node', '--import=FILE:B/giv%65n/hook', 'O/server.mjs'],
    ['setpriv', 'bash', 'P/start.inc'],
    ['setpriv', 'P/k:run'],
    ['tini', '--', 'P/run.x'],
    ['socat', '-', 'EXEC:P/run'],
    ['rbash', 'P/start.inc'],
    ['perl5.36.0', 'P/start.inc'],
    ['docker', '--context', 'x', 'compose', '--file=P/services.json', 'up'],
    ['task', '--dir', 'P', 'serve'],
    ['psql', '-f', 'P/notes.txt'],
    ['ed', '-s', 'P/notes.txt'],
    ['uv', 'pip', 'install', 'P/k'],
    ['python', '-m', 'pip', 'install', 'P/k'],
    ['find', '/etc', '-exec', 'P/run', ';'],
    ['env', '-Ssh P/start.inc'],
    ['node', '--snapshot-blob=P/start.blob', 'O/server.mjs'],
    ['java', '-javaagent:P/agent', 'server'],
    ['php', '-d', 'auto_prepend_file=P/first', 'O/x'],
    ['sh', '-c', 'shift; . "$1"', 'x', 'y', 'P/start.inc'],
    ['sh', '-c', 'cat P/start.inc | sh'],
  ];
  for (const { cells, tags } of coreAndDeep(absent, inCore))
    it.each(cells.map((line) => [line.join(' '), line] as const))(
      'is not started as %s, whatever is there',
      { tags: [...tags, 'P-625'] },
      (_, line) => {
        symlinkSync(join(given, 'server.js'), join(outside, 'gone.js'));
        expect(() => assertStartsOutside(startOf(line))).toThrow(remedy);
      },
    );

  it.each([
    ['env', '-C', 'B', './given/run'],
    ['sh', '-c', 'cd B && exec given/run'],
    ['sh', '-c', 'cd "$1"; cd ..; exec "./given/run"', 'x', 'O'],
    ['bash', '-c', 'ROOT=B; exec $ROOT/given/run'],
    ['bash', '-c', 'export ROOT=B\nexec "${ROOT}"/given/run'],
    ['bash', '-c', 'exec B/"given"/run'],
    ['bash', '-c', 'PATH=P/bin:$PATH exec tool'],
    ['env', 'PATH=P/bin:/usr/bin', 'tool'],
    ['python', '-c', 'import sys; sys.path.insert(0, "B/given")'],
    ['env', '-iC', 'B', 'given/run'],
    ['env', '--ch=B', 'given/run'],
    ['unshare', '--wd=B', 'given/run'],
    ['chroot', 'B', '/given/run'],
    ['sh', '-c', 'cd -- B && exec given/run'],
    ['sh', '-c', 'for X in B; do exec $X/given/run; done'],
    ['sh', '-c', 'set -- B; exec $1/given/run'],
    ['sh', '-c', 'exec ${X:-P/run.txt}'],
    ['sh', '-c', 'exec B/giv\\\nen/run.txt'],
    ['bash', '-c', 'f() { . B/giv?n/run.txt; }; f'],
    ['bash', '-c', "cat <<E\ndon't\nE\n. B/giv''en/run.txt"],
    ['node', '-e', 'require("B/" + "given/run")'],
    ['bash', '-co', 'pipefail', "exec B/giv''en/run.txt"],
    ['bash', '-c', '--', "exec B/giv''en/run.txt"],
    ['git', '-c', 'core.sshCommand=B/"given"/run.txt', 'fetch'],
    ['git', '-c', 'include.path=P/notes.txt', 'fetch'],
    ['find', 'P', '-name', 'x', '-exec', '{}', ';'],
    ['sqlite3', ':memory:', '.read P/notes.txt'],
    ['nsenter', '--wd=P', 'sh', 'notes.txt'],
    ['python', '-m', 'cProfile', 'P/notes.txt'],
    ['env', 'PATH=O/bin:/usr/bin', 'tool'],
    ['sh', '-c', 'export PATH=O/bin:$PATH; tool'],
  ])('is not started by a detour: %s %s %s', { tags: ['P-625'] }, (...line) => {
    mkdirSync(join(outside, 'bin'));
    symlinkSync(join(given, 'x'), join(outside, 'bin/tool'));
    expect(() => assertStartsOutside(startOf(line))).toThrow(remedy);
  });

  it.each([
    ['begins there, or directly above', ['sh', '-c', 'exec "$(find . -name run)"'], 'B'],
    ['has a path by its own working directory', ['sh', '/proc/self/cwd/given/start.inc'], 'B'],
    ['has a path that is longer than any', ['sh', `${'./'.repeat(2040)}given/start.inc`], 'B'],
  ])('is not started where it %s', { tags: ['P-625'] }, (_, line, cwd) => {
    expect(() => assertStartsOutside(startOf(line, { cwd }))).toThrow(remedy);
    expect(() => assertStartsOutside(startOf(line, { cwd: 'O' }))).not.toThrow();
  });

  it('is not started by a link of its name that the system takes', { tags: ['P-625'] }, () => {
    for (const name of ['one', 'two']) mkdirSync(join(outside, name));
    writeFileSync(join(outside, 'one/tool'), '');
    symlinkSync(join(given, 'x'), join(outside, 'two/tool'));
    for (const PATH of ['O/one:O/two', 'two'])
      expect(() => assertStartsOutside(startOf(['tool'], { env: { PATH }, cwd: 'O' })), PATH).toThrow(remedy);
    putScript('bare', 'exec P/run\n');
    expect(() => assertStartsOutside(startOf(['O/bare']))).toThrow(remedy);
    expect(() => assertStartsOutside(startOf(['bash', '-c', '. O/bare && server']))).toThrow(remedy);
    putScript('quoted', 'X="\n# "; exec B/giv""en/run "\n#"\n');
    expect(() => assertStartsOutside(startOf(['sh', 'O/quoted']))).toThrow(remedy);
  });

  const putScript = (name: string, text: string): void => {
    file(join(outside, name));
    writeFileSync(join(outside, name), filled(text));
  };
  it.each([
    ['a Python there', '#!P/.venv/bin/python\nimport server\n'],
    ['env', '#!/usr/bin/env -S P/.venv/bin/python -u\n'],
    ['a shell', `#!/bin/sh\n'''exec' P/.venv/bin/python "$0" "$@"\n' '''\n`],
    ['a script of one', '#!O/again\n'],
  ])('is not started by a script outside that is run by %s', { tags: ['P-625'] }, (_, text) => {
    putScript('bin/console', text);
    putScript('again', '#!P/interpreter\n');
    for (const line of [['O/bin/console'], ['timeout', '9', 'O/bin/console'], ['bash', '-c', 'exec O/bin/console']])
      expect(() => assertStartsOutside(startOf(line))).toThrow(remedy);
    expect(() => assertStartsOutside(startOf(['console'], { env: { PATH: 'O/bin' } }))).toThrow(remedy);
    expect(() => assertStartsOutside(startOf(['server', 'O/bin/console']))).not.toThrow();
  });

  it('is started by an installed script that computes its paths from where it begins', { tags: ['P-624'] }, () => {
    putScript('shims/python', '#!/usr/bin/env bash\nFROM=$(cd "$PWD" && pwd)\nexec "${0%/*}/../real" "$@"\n');
    putScript('server.py', "import os\nROOT = os.path.join(os.getcwd(), '..')\n");
    for (const cwd of ['O', 'B']) {
      expect(() => assertStartsOutside(startOf(['O/shims/python', 'O/server.py'], { cwd }))).not.toThrow();
      expect(() => assertStartsOutside(startOf(['O/shims/python', 'P/b.py'], { cwd }))).toThrow(remedy);
    }
  });

  it('is not started by a shim of pyenv whose Python takes modules from there', { tags: ['P-625'] }, () => {
    putScript('pyenv/shims/python', '#!/usr/bin/env bash\nexec "${0%/*}/../libexec/pyenv" exec "${0##*/}" "$@"\n');
    for (const version of ['3.11.9', '3.12.1']) putScript(`pyenv/versions/${version}/bin/python`, '');
    putScript('pyenv/versions/3.11.9/lib/python3.11/site-packages/x.pth', 'P/src\n');
    const start = () => assertStartsOutside(startOf(['O/pyenv/shims/python', 'O/x.py'], { cwd: 'O' }));
    expect(start).toThrow(remedy);
    putScript('pyenv/versions/3.11.9/lib/python3.11/site-packages/x.pth', '');
    expect(start).not.toThrow();
    symlinkSync(join(given, 'x'), join(outside, 'pyenv/versions/3.12.1/bin/server'));
    for (const line of [['O/pyenv/shims/server'], ['bash', '-c', 'PYENV_VERSION=3.12.1 O/pyenv/shims/server']])
      expect(() => assertStartsOutside(startOf(line))).toThrow(remedy);
  });

  it('is not started by a Python outside that takes modules from there', { tags: ['P-625'] }, () => {
    putScript('env/bin/python', '');
    putScript('env/lib/python3.11/site-packages/x.pth', 'O/src\n');
    putScript('env/pyvenv.cfg', 'home = /usr/bin\ninclude-system-site-packages = false\n');
    putScript('console', '#!O/env/bin/python\n');
    symlinkSync('python', join(outside, 'env/bin/snake'));
    const lines = [
      ['O/env/bin/python', '-m', 'server'],
      ['nice', 'O/env/bin/python', 'O/x.py'],
      ['setpriv', 'O/env/bin/python', 'O/x.py'],
      ['O/env/bin/snake', 'O/x.py'],
      ['O/console'],
    ];
    for (const line of lines) expect(() => assertStartsOutside(startOf(line))).not.toThrow();
    putScript('env/lib/python3.11/site-packages/x.pth', 'O/src\nP/src\n');
    for (const line of lines) expect(() => assertStartsOutside(startOf(line))).toThrow(remedy);
    putScript('env/lib/python3.11/site-packages/x.pth', '');
    putScript('env/pyvenv.cfg', 'home = P/base/bin\ninclude-system-site-packages = false\n');
    for (const line of lines) expect(() => assertStartsOutside(startOf(line))).toThrow(remedy);
  });

  const above: [what: string, line: string[], cwd: string | undefined][] = [
    ['-m given.k', ['python', '-m', 'given.k'], undefined],
    ['-m given.k, without options before', ['python', '-I', '-mgiven.k'], undefined],
    ['-m uvicorn given.k:app', ['python', '-m', 'uvicorn', 'given.k:app'], undefined],
    ['-m link.k', ['python', '-m', 'link.k'], 'O'],
    ['a script in a folder below', ['python', '-X', 'dev', 'given/b.py'], undefined],
    ['a module that is not there', ['python', '-m', 'given.later.mod'], undefined],
    ['an import', ['python', '-c', 'from given import later'], undefined],
    ['one of several imports', ['python', '-c', 'import os as o, given'], undefined],
    ['-um given.k', ['python', '-um', 'given.k'], undefined],
    ['a module that another one runs', ['python', '-m', 'runpy', 'given.k'], undefined],
    ['the class of a warning', ['python', '-W', 'error::given.k.X', 'O/x.py'], undefined],
    ['its folder', ['node', '-e', 'require("./given")'], undefined],
  ];
  for (const { cells, tags } of coreAndDeep(above, inCore))
    it.each(cells)('is not started above it with %s', { tags: [...tags, 'P-625'] }, (_, line, cwd) => {
      expect(() => assertStartsOutside(startOf(line, { cwd: cwd ?? 'B' }))).toThrow(remedy);
    });

  it.each([
    ['PYTHONPATH', 'O/lib:P/lib'],
    ['PYTHONSTARTUP', 'P/b.py'],
    ['PYTHONPYCACHEPREFIX', 'P/k'],
    ['PYTHONPLATLIBDIR', 'P/k'],
    ['PYTHONOFTOMORROW', 'P/k'],
    ['GIT_SSH_COMMAND', 'B/"given"/ssh'],
    ['BASH_FUNC_x%%', "() { . B/giv''en/run.txt; }"],
    ['NODE_OPTIONS', '--max-old-space-size=99 --require P/x'],
    ['NODE_OPTIONS', '--import=file://P/x'],
    ['NODE_PATH', 'P/lib'],
    ['PERL5LIB', 'P/pl'],
    ['PERL5OPT', '-IP/pl -MM'],
    ['RUBYLIB', 'P'],
    ['LD_PRELOAD', 'O/one.so P/x.so'],
    ['LD_LIBRARY_PATH', 'O/link/lib'],
    ['BASH_ENV', 'P/x'],
    ['ENV', 'P/x'],
    ['HOME', 'P/home'],
    ['SERVER_PLUGIN', 'P/b.py'],
    ['SERVER_START', 'P/run'],
  ])('is not started with %s=%s', { tags: ['P-625'] }, (name, value) => {
    expect(() => assertStartsOutside(startOf(['server'], { env: { [name]: value } }))).toThrow(remedy);
  });

  it.each([
    [['node', 'O/named.mjs', 'P']],
    [['npx', '-y', 'server-filesystem', 'P', 'P/k']],
    [['npx', '-y', '@modelcontextprotocol/server-filesystem', 'P']],
    [['my-server', '--db', 'P/new.sqlite', '--out=P/two words/new.csv.gz', 'sqlite:///P/data.db?mode=ro']],
    [['uv', 'run', '--no-sync', 'server', '--db=P/data.db', 'P']],
    [['docker', 'run', '-i', '--rm', '-v', 'P:/data', '-v', 'P/k:/k', 'image']],
    [['uvx', 'mcp-server-git', '-r', 'P']],
    [['java', '-jar', 'O/server.jar', 'P']],
    [['npm', '--prefix', 'O', 'run', 'start', '--', 'P']],
    [['bash', '-c', 'export DATA_DIR=P; npx -y server']],
    [['python', '-m', 'mcp_server_git', '--project', 'P']],
    [['uvx', '--from', 'git+https://x.org/y', 'serena', '--project', 'P']],
    [['docker', 'compose', '-f', 'O/compose.yaml', 'run', 'server']],
    [['python', '-m', 'server', 'P', 'P/notes.txt']],
    [['bash', '-c', 'exec server --folder "P"']],
    [['deno', 'run', '--allow-read=P', 'O/server.ts', 'P']],
    [['timeout', '9', 'npx', '-y', 'server-filesystem', 'P', 'P/k']],
    [['sudo', '-E', 'npx', '-y', 'server-filesystem', 'P']],
    [['sh', '-c', 'exec server "$@"', 'x', 'P/data.db']],
    [['bash', '-c', 'cd O && exec ./server P/notes.txt']],
    [['bash', '-c', 'exec "${NODE:-node}" O/server.mjs "$@"', 'x', 'P/data.db', 'P']],
    [['sh', '-c', 'if true; then cd O/given && exec ./server; fi']],
    [['bash', '-c', 'set -euo pipefail; cd "B/outside"; exec node server.mjs']],
    [['bash', '-c', 'source .venv/bin/activate && python3 -m server']],
  ])('gets folders and files there as data: %j', { tags: ['P-624'] }, (line) => {
    const env = { DB: 'P/data.db', OUT: 'P/two words/new.csv', ALLOWED: 'P', PATH: 'P/bin:/usr/bin' };
    expect(() => assertStartsOutside(startOf(line, { env }))).not.toThrow();
  });
});
