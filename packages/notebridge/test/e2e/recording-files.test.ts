// @module-tag deep

import { appendFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Program, type ProgramOptions, runProgram } from '../support/program.js';
import { recordedLines, recordedMethods, recordingFolder } from '../support/recordings.js';
import { installedServer, ServedHub } from '../support/served-hub.js';
import { findSmallDisk } from '../support/small-disk.js';

const disk = findSmallDisk();
if (disk.why !== undefined) process.stdout.write(`Skipped: ${disk.why}\n`);
const every = installedServer('everything') as { command: string; args: string[] };
const behind = ['--', every.command, ...every.args];

let folder: string;
let file: string;
beforeEach(() => {
  folder = recordingFolder();
  file = join(folder, 'bug.jsonl');
});

const isEcho = (message: string) => ({ result: { content: [{ text: `Echo: ${message}` }] } });

/** Records a session that says this to server-everything. */
async function record(message: string, { args = [], env = {} }: ProgramOptions = {}): Promise<Program> {
  await using program = await Program.open({ args: ['record', file, ...args, ...behind], env });
  expect(await program.callTool('echo', { message })).toMatchObject(isEcho(message));
  return program;
}

/** What a replay answers to the same call. */
async function replayed(message: string, from = file): Promise<unknown> {
  await using program = await Program.open({ args: ['replay', from] });
  return await program.callTool('echo', { message });
}

describe('secrets', () => {
  const spoken = [
    'Authorization: Bearer spoken-key-1',
    'https://me:spoken-key-2@example.org/?access_token=spoken-key-3',
    '{"api_key":"spoken-key-4"}',
    'ghp_spokenkey50123456789abcdef',
  ].join('\n');

  it('a secret of the config, of headers, of URLs or of a page reaches the agent, and not the file', { tags: ['P-414'] }, async () => {
    const secrets = { env: 'value-of-the-env', header: 'value-of-a-header', query: 'value-in-a-url' };
    const config = join(folder, 'mcp.json');
    const remote = { url: `http://127.0.0.1:9/mcp?key=${secrets.query}`, headers: { 'X-Any': `Bearer ${secrets.header}` } };
    const mcpServers = { every: { ...every, env: { PLAIN_TOKEN: secrets.env } }, remote };
    writeFileSync(config, JSON.stringify({ mcpServers }));
    await using program = await Program.open({ args: ['record', file, '--config', config, '--standalone'] });
    const { url, token } = await program.address();
    expect(url).toContain(token);
    expect(token.length).toBeGreaterThan(16);
    const message = `${Object.values(secrets).join(' ')} ${spoken}`;
    expect(await program.callTool('every__echo', { message })).toMatchObject(isEcho(message));
    expect(JSON.stringify(await program.callTool('every__get-env'))).toContain(secrets.env);
    const large = `${secrets.header} ${'x'.repeat(2_000_000)} ${secrets.env}`;
    expect(await program.callTool('every__echo', { message: large })).toMatchObject(isEcho(large));
    await program.close();
    const text = readFileSync(file, 'utf8');
    for (const secret of [...Object.values(secrets), token, 'spoken-key', 'spokenkey']) expect(text).not.toContain(secret);
    expect(text).toContain('every__get-env');
    expect(text.split('[redacted').length).toBeGreaterThan(10);
    expect(recordedMethods(file, 'server:every')).toContain('tools/call');
  });

  it('a secret of the environment is known by name or by --secret-env; what was redacted is still found by the replay', {
    tags: ['P-414'],
  }, async () => {
    const env = { MY_API_KEY: 'value-by-its-name', ODD: 'value-by-option', HARMLESS: 'value-that-stays' };
    const message = Object.values(env).join(' ');
    await record(message, { args: ['--secret-env', 'ODD'], env });
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('[redacted: MY_API_KEY] [redacted: ODD] value-that-stays');
    expect(text).not.toMatch(/value-by/);
    expect(await replayed(message)).toMatchObject({
      result: { content: [{ text: 'Echo: [redacted: MY_API_KEY] [redacted: ODD] value-that-stays' }] },
    });
    const { ending, stderr } = await runProgram(['record', join(folder, 'b.jsonl'), '--secret-env', 'NONE', ...behind]);
    expect(ending).toBe(2);
    expect(stderr).toContain('--secret-env "NONE": there is no such variable.');
  });

  it('a secret of a hub is not in what it records', { tags: ['P-414'] }, async () => {
    const args = ['--notebook', 'none', '--record', file];
    await using hub = await ServedHub.start({ servers: { every }, args });
    const { ownerToken } = hub;
    await hub.call('every', 'echo', { message: `${ownerToken} ${spoken}` }, ownerToken);
    await hub[Symbol.asyncDispose]();
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('Echo: [redacted]');
    expect(text).not.toMatch(new RegExp(`${ownerToken}|spoken-?key`));
  });
});

describe('the file', () => {
  it('is for its user alone; one that is there stays, and the next gets a number, or replaces it with --force', {
    tags: ['P-415'],
  }, async () => {
    await record('first');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { stderr } = await record('second');
    expect(stderr).toContain(`"${file}" is there already; this session is recorded in "${join(folder, 'bug.2.jsonl')}".`);
    expect(stderr).toMatch(/Recorded \d+ messages, \d+ bytes, in ".*bug\.2\.jsonl"\. Look through it before you pass it on\./);
    expect(await replayed('first')).toMatchObject(isEcho('first'));
    expect(await replayed('second', join(folder, 'bug.2.jsonl'))).toMatchObject(isEcho('second'));
    const target = join(folder, 'target');
    writeFileSync(target, 'theirs');
    symlinkSync(target, join(folder, 'link.jsonl'));
    file = join(folder, 'link.jsonl');
    await record('third', { args: ['--force'] });
    expect(readFileSync(target, 'utf8')).toBe('theirs');
    expect(await replayed('third')).toMatchObject(isEcho('third'));
  });

  it('a file that kill -9 leaves replays to its last whole line, also if that was cut', { tags: ['P-416'] }, async () => {
    const program = await Program.open({ args: ['record', file, ...behind] });
    expect(await program.callTool('echo', { message: 'last' })).toMatchObject(isEcho('last'));
    await program.until(() => readFileSync(file, 'utf8').includes('Echo: last'));
    program.child.kill('SIGKILL');
    expect(await program.ended).toBe('SIGKILL');
    await program.close();
    expect(await replayed('last')).toMatchObject(isEcho('last'));
    appendFileSync(file, '{"t":99,"link":"agent","session":1,"from":"client","mess');
    await using cut = await Program.open({ args: ['replay', file] });
    expect(await cut.callTool('echo', { message: 'last' })).toMatchObject(isEcho('last'));
    expect(cut.stderr).toContain('is cut off, and left out: who recorded it was ended in the middle of it.');
  });

  it('ends at --max-size; the session goes on, and the replay says what is missing', { tags: ['P-417'] }, async () => {
    await using program = await Program.open({ args: ['record', file, '--max-size', '64k', ...behind] });
    const message = 'x'.repeat(10_000);
    for (let time = 0; time < 10; time++) expect(await program.callTool('echo', { message })).toMatchObject(isEcho(message));
    await program.close();
    const why = 'The recording has reached 65536 bytes (--max-size); what came after';
    expect(program.stderr.split(why)).toHaveLength(2);
    const { size } = statSync(file);
    expect(size).toBeLessThanOrEqual(65_536);
    expect(program.stderr).toContain(`, ${size} bytes, in "${file}"`);
    await using again = await Program.open({ args: ['replay', file] });
    expect(await again.callTool('echo', { message })).toMatchObject(isEcho(message));
    expect(again.stderr).toContain(why);
  });

  it.each(['0', '1023', '257M', '1G', 'many', '-1'])('has no --max-size of %s', async (size) => {
    const { ending, stderr } = await runProgram(['record', file, `--max-size=${size}`, ...behind]);
    expect(ending).toBe(2);
    expect(stderr).toContain('from 1k to 256M');
  });

  it.skipIf(disk.launch === undefined)(
    'a file on a disk that is full ends with one warning; every call is answered',
    { tags: ['P-417'] },
    async () => {
      const mounted = join(folder, 'disk');
      mkdirSync(mounted);
      const small = join(mounted, 'bug.jsonl');
      await using program = await Program.open({ launch: disk.launch?.(mounted, '64k') ?? [], args: ['record', small, ...behind] });
      const message = 'x'.repeat(10_000);
      for (let time = 0; time < 10; time++) expect(await program.callTool('echo', { message })).toMatchObject(isEcho(message));
      const seen = join(`/proc/${program.child.pid}/root`, small);
      expect(recordedLines(seen).length).toBeGreaterThan(5);
      const left = readFileSync(seen);
      expect(left.at(-1)).toBe(0x0a);
      writeFileSync(file, left);
      expect(await program.close()).toBe(0);
      expect(
        program.stderr.match(/\(ENOSPC\)\. Free some space, then try again\. Recording has stopped; the session goes on\./g),
      ).toHaveLength(1);
      expect(program.stderr).toContain(` ${left.length} bytes, in "${small}"`);
      expect(await replayed(message)).toMatchObject(isEcho(message));
      const device = await runProgram(['record', '/dev/full', ...behind]);
      expect(device).toMatchObject({ ending: 2, stderr: expect.stringContaining('"/dev/full" is no file. Choose a name for a new one.') });
    },
  );
});

describe('replay of a file that is no recording', () => {
  const header = '{"notebridge":"recording","format":1,"version":"0.1.0","date":"2026-01-01T00:00:00.000Z","pid":1}\n';
  const line = '{"t":1,"link":"agent","session":1,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}\n';
  const deep = `{"t":1,"link":"agent","session":1,"from":"server","message":{"id":1,"result":${'['.repeat(200_000)}${']'.repeat(200_000)}}}\n`;

  it.each<[string, string | Buffer, string]>([
    ['nothing', '', 'line 1: the line is missing: the file is empty.'],
    ['bytes', Buffer.from([0xff, 0xfe, 0, 1, 2, 0x1b, 0x0a, 0]), 'line 1: the line is not JSON.'],
    ['another file', '{"mcpServers":{}}\n', 'line 1: the line is not the first line of a recording'],
    ['another version', header.replace('"format":1', '"format":9'), 'line 1: the line says format 9, written by Notebridge "0.1.0"'],
    ['a line broken in the middle', `${header}${line.slice(0, 50)}\n${line}`, 'line 2: the line is not JSON.'],
    ['a line that is too long', header + 'x'.repeat(81 * 1024 * 1024), 'line 2: the line is longer than 83886080 characters.'],
    ['a name that moves the cursor', header + line.replace('agent', '\\u009b2J'), 'line 2: the line needs "t" and "session"'],
    ['no connection', header, 'holds no message'],
  ])('(%s) says which line, in one line, with exit code 2', { timeout: 180_000, tags: ['P-418'] }, async (_, content, message) => {
    writeFileSync(file, content);
    const { ending, stdout, stderr } = await runProgram(['replay', file]);
    expect(stderr).toContain(message);
    expect({ ending, stdout, lines: stderr.trim().split('\n').length }).toEqual({ ending: 2, stdout: '', lines: 1 });
  });

  it('(nesting without end) ends in words, not in a crash', { tags: ['P-418'] }, async () => {
    writeFileSync(file, header + line + deep);
    const { stdout, stderr } = await runProgram(['replay', file], { input: '{"jsonrpc":"2.0","id":7,"method":"ping"}\n' });
    expect(`${stdout}${stderr}`).toMatch(/nested too deeply/);
    expect(stderr).not.toMatch(/ at .*\.js:\d+|RangeError/);
  });

  it('(none, or a folder) says so', async () => {
    for (const path of [join(folder, 'none.jsonl'), folder])
      expect(await runProgram(['replay', path])).toMatchObject({
        ending: 2,
        stderr: expect.stringMatching(/cannot be read: .*\((ENOENT|EISDIR)\)/),
      });
  });

  it('takes what a stranger wrote into messages for text: the terminal is not touched', { tags: ['P-418'] }, async () => {
    const odd = `${header.replace('0.1.0', '\\u001b[31m')}${line.replace('"ping"', '"\\u001b]0;x\\u0007\\u202e"')}{"t":2,"stopped":"\\u001b[2J"}\n`;
    writeFileSync(file, odd);
    for (const args of [[], ['--list']]) {
      const { ending, stdout, stderr } = await runProgram(['replay', file, ...args]);
      expect(ending).toBe(0);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(stdout + stderr).not.toMatch(/[\u001b\u0007\u009b\u202e]/);
    }
  });
});
