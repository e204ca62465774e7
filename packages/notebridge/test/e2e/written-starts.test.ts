/** Servers that lie outside of what code was given to write to, and name something there: as code, or as data. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { heedWritten } from '../../src/processes/written-rule.js';
import { assertOutside } from '../../src/upstreams/assert-outside.js';
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

describe('a server', () => {
  /** `P`: the folder that was given, `O`: one outside, with a link `O/link` to it. */
  const filled = (text: string) => text.replace(/[PO](?=[/: "]|$)/g, (name) => (name === 'P' ? given : outside));
  const startOf = (line: readonly string[], rest: { env?: Record<string, string>; cwd?: string } = {}) => {
    for (const name of ['b.py', 'x', 'noexec', 'a b.sh', 'x.so', 'k/__main__.py', 'pl/M.pm']) file(join(given, name));
    for (const name of ['noexec', 'data.db', 'notes.txt']) {
      file(join(given, name));
      chmodSync(join(given, name), 0o644);
    }
    symlinkSync(given, join(outside, 'link'));
    const [command = '', ...args] = line.map(filled);
    const env = Object.fromEntries(Object.entries(rest.env ?? {}).map(([name, value]) => [name, filled(value)]));
    return fixtureConfig('x', [], { command, args, env, cwd: rest.cwd === undefined ? undefined : filled(rest.cwd) });
  };

  const lines = [
    ['python', '-X', 'dev', 'P/b.py'],
    ['python', '-W', 'ignore', 'P/k'],
    ['python', '-E', 'P/k'],
    ['nice', '-n', '5', 'P/x'],
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
    ['npx', '-p', 'P/k', 'server'],
    ['npm', '--silent', 'exec', 'P/k'],
    ['bash', '-c', 'exec npx -y P/k'],
    ['uvx', '--from', 'P/k', 'server'],
    ['uv', 'run', '--with=P/k', 'server'],
    ['pipx', 'run', '--spec', 'P/k', 'server'],
    ['deno', 'run', '-A', 'P/b.py'],
    ['node', '--env-file=P/noexec', 'O/server.mjs'],
    ['perl', '-IP/pl', 'O/server.pl'],
    ['perl', '-I', 'P/pl', 'O/server.pl'],
  ];
  it.each(lines.map((line) => [line.join(' '), line] as const))('is not started as %s', { tags: ['P-625'] }, (_, line) => {
    expect(() => assertOutside(startOf(line))).toThrow(remedy);
  });

  it.each([
    ['-m given.k', ['python', '-m', 'given.k'], undefined],
    ['-m given.k, without options before', ['python', '-I', '-mgiven.k'], undefined],
    ['-m uvicorn given.k:app', ['python', '-m', 'uvicorn', 'given.k:app'], undefined],
    ['-m link.k', ['python', '-m', 'link.k'], 'O'],
    ['a script in a folder below', ['python', '-X', 'dev', 'given/b.py'], undefined],
  ])('is not started above it with %s', { tags: ['P-625'] }, (_, line, cwd) => {
    expect(() => assertOutside(startOf(line, { cwd: cwd ?? base }))).toThrow(remedy);
  });

  it.each([
    ['PYTHONPATH', 'O/lib:P/lib'],
    ['PYTHONSTARTUP', 'P/b.py'],
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
  ])('is not started with %s=%s', { tags: ['P-625'] }, (name, value) => {
    expect(() => assertOutside(startOf(['server'], { env: { [name]: value } }))).toThrow(remedy);
  });

  it.each([
    [['node', 'O/named.mjs', 'P']],
    [['npx', '-y', 'server-filesystem', 'P', 'P/k']],
    [['npx', 'server-filesystem', 'P']],
    [['uvx', 'mcp-server-sqlite', '--db-path', 'P/data.db']],
    [['uv', 'run', '--no-sync', 'server', '--db=P/data.db', 'P']],
    [['docker', 'run', '-i', '--rm', '-v', 'P:/data', 'image']],
    [['python', '-m', 'server', 'P', 'P/notes.txt']],
    [['bash', '-c', 'exec server --folder "P"']],
    [['deno', 'run', '--allow-read=P', 'O/server.ts', 'P']],
  ])('gets folders and files there as data: %j', { tags: ['P-624'] }, (line) => {
    const env = { DB: 'P/data.db', ALLOWED: 'P', PATH: 'P/bin:/usr/bin' };
    expect(() => assertOutside(startOf(line, { env }))).not.toThrow();
  });
});
