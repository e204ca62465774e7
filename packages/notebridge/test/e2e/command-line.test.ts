import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { coreAndDeep } from '../support/core-and-deep.js';
import { ownPort } from '../support/own-port.js';
import { Program, runProgram } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-files-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('what is asked on the command line', () => {
  it('--version prints the version of the package', { tags: ['deep'] }, async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
    expect(await runProgram(['--version'])).toEqual({ ending: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('--help names the commands', { tags: ['deep'] }, async () => {
    const help = await runProgram(['--help']);
    expect(help).toMatchObject({ ending: 0, stderr: '' });
    expect(help.stdout).toMatch(/^Usage: notebridge /);
    for (const word of ['stdio', 'setup', '--version', '--help']) expect(help.stdout).toContain(word);
  });

  it.each(['stdio', 'serve'])('%s --help names every option with its variable', { tags: ['P-006'] }, async (command) => {
    const { stdout, ending } = await runProgram([command, '--help']);
    expect(ending).toBe(0);
    // Each option from its name to the next one.
    const [own = ''] = stdout.split('Global Options:');
    const [, ...described] = own.split(/^ {2}(?=-)/m);
    const options = described.map((text) => ({ name: /--([\w-]+)/.exec(text)?.[1] ?? text, text: text.replaceAll(/\s+/g, ' ') }));
    expect(options.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['config', 'port', 'notebook', 'no-browser', 'sandbox', 'help']),
    );
    for (const { name, text } of options.filter(({ name: option }) => option !== 'help'))
      expect(text).toMatch(new RegExp(`env: NOTEBRIDGE_${name.replaceAll('-', '_').toUpperCase()}\\)`));
  });

  const refused: [string[], RegExp][] = [
    [['--nope'], /unknown option '--nope'/],
    [['nope'], /no command "nope"/],
    [['my work.ipynb', '--kernel', 'auto'], /To open it in a window: .*notebridge\.js notebook 'my work\.ipynb' --kernel auto$/],
    [['--notebook', 'http://localhost:8888/lab/tree/a.ipynb?token=x'], /put "jupyter=" before its address: .*jupyter=http:.*token=…$/],
    [['stdio', 'extra'], /too many arguments/],
    [['--port'], /--port <number>' argument missing/],
    [['--port', 'x'], /--port.*'x'.*whole number from 0 to 65535/],
    [['--port', '65536'], /--port.*'65536'.*whole number from 0 to 65535/],
    [['--port', '-1'], /--port.*whole number from 0 to 65535/],
    [['--code-mode=agent-codemode'], /--code-mode.*no longer offered.*describe_tools and execute_code\. Write --code-mode alone\./],
    [['--list', 'maybe'], /--list.*'maybe'.*static, dynamic/],
    [['--log-level', 'loud'], /--log-level.*'loud'.*debug, info, warn, error/],
    [['--notebook', 'https://colab.research.google.com.evil.example/'], /--notebook.*cannot be used.*"colab"/],
    [['--notebook', 'somewhere'], /--notebook "somewhere" cannot be used/],
  ];
  for (const { cells, tags } of coreAndDeep(refused, (_, index) => index % 3 === 0))
    it.each(cells)('%j is refused in one clear line, with exit code 2', { tags: [...tags, 'P-005'] }, async (args, message) => {
      const { ending, stdout, stderr } = await runProgram(args);
      expect({ ending, stdout }).toEqual({ ending: 2, stdout: '' });
      const [first = '', ...others] = stderr.trim().split('\n');
      expect(first).toMatch(/^notebridge: /);
      expect(first).toMatch(message);
      for (const line of others) expect(line).toMatch(/^Run "node .*notebridge\.js( stdio)? --help"/);
    });

  it.each([
    [['notebook', '--kernal', 'auto'], /^Run "node .* notebook --help" to see what there is\.$/],
    [['--config', 'mcp.json', 'servers'], /^The command comes first: node .* servers --config mcp\.json$/],
  ])('%j ends with the line that helps', { tags: ['deep'] }, async (args, line) => {
    const { ending, stderr } = await runProgram(args);
    expect(ending).toBe(2);
    expect(stderr.trim().split('\n').at(-1)).toMatch(line);
  });

  it('--port that is taken names who has it', { tags: ['P-007'] }, async () => {
    const server = createServer().listen({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { ending, stdout, stderr } = await runProgram(['--port', String(port)]);
    server.close();
    expect({ ending, stdout }).toEqual({ ending: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toMatch(new RegExp(`Port ${port} is taken${process.platform === 'linux' ? ` by node \\(pid ${process.pid}\\)` : ''}`));
    expect(stderr).toContain('choose another --port');
  });

  it('--port that is free is the one that pages dial', { tags: ['deep'] }, async () => {
    const port = await ownPort();
    await using program = await Program.open({ args: ['--port', String(port)] });
    expect((await program.address()).port).toBe(port);
  });

  it('--notebook is what the open tool opens', { tags: ['deep'] }, async () => {
    const notebook = 'https://colab.research.google.com/drive/abc123?authuser=1';
    await using program = await Program.open({ args: ['stdio', '--notebook', notebook] });
    expect((await program.address()).url).toMatch(/^https:\/\/colab\.research\.google\.com\/drive\/abc123\?authuser=1#mcpProxyToken=/);
  });

  it('--allow-origin and --allow-host let in what they name, and nothing like it', { tags: ['P-037'] }, async () => {
    await using program = await Program.open({ args: ['--allow-origin', 'https://a.example', '--allow-origin', 'https://b.example'] });
    const address = await program.address();
    for (const origin of ['https://a.example.evil', 'http://a.example', 'https://A.example/', 'null', 'http://localhost']) {
      await expect(RawPage.connect({ ...address, origin })).rejects.toThrow('403');
    }
    await using _page = await RawPage.connect({ ...address, origin: 'https://b.example' });
  });
});

describe('environment variables', () => {
  it('stand in for options, and options go before them', { tags: ['P-006'] }, async () => {
    const env = { NOTEBRIDGE_LIST: 'dynamic', NOTEBRIDGE_NOTEBOOK: 'https://colab.google.com/x' };
    await using program = await Program.open({ env });
    expect((await program.request('tools/list')).result).toMatchObject({ tools: [{ name: 'open_colab_browser_connection' }] });
    expect((await program.address()).url).toMatch(/^https:\/\/colab\.google\.com\/x/);
    await using other = await Program.open({ env, args: ['--list', 'static'] });
    expect((await other.request('tools/list')).result).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: 'run_code_cell' })]),
    });
  });

  it('a variable that is wrong is refused by name', { tags: ['deep'] }, async () => {
    const { ending, stderr } = await runProgram([], { env: { NOTEBRIDGE_PORT: 'many' } });
    expect(ending).toBe(2);
    expect(stderr).toMatch(/^notebridge: .*NOTEBRIDGE_PORT/);
  });

  it('NOTEBRIDGE_NO_BROWSER is on for any value but 0 and false, and the answer says so', { tags: ['deep'] }, async () => {
    await using program = await Program.open({ env: { NOTEBRIDGE_NO_BROWSER: 'yes' } });
    const answer = await program.callTool('open_colab_browser_connection', { wait_seconds: 0 });
    expect(JSON.stringify(answer)).toContain('--no-browser');
  });
});

describe('--config', () => {
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  const files: [string, string | undefined, RegExp][] = [
    ['is not there', undefined, /does not exist/],
    ['is not JSON', '{"mcpServers": {,}}', /config-1\.json:1:\d+: /],
    [
      'has an unknown key',
      '{\n  "notebridge": { "limit": {} }\n}',
      /:2:\d+: "notebridge\.limit" is not a known key\. Did you mean "limits"\?/,
    ],
    [
      'has a wrong value',
      '{"notebridge": {"limits": {"graceMs": "soon"}}}',
      /"notebridge\.limits\.graceMs" is "soon", but must be a whole number/,
    ],
    ['names a variable that is not set', '{"mcpServers": {"a": {"command": "${NOT_SET_HERE}"}}}', /NOT_SET_HERE/],
    ['starts Notebridge itself', '{"mcpServers": {"a": {"command": "notebridge"}}}', /mcpServers\.a/],
    [
      'names a middleware that is not there',
      '{"notebridge": {"middleware": ["./nowhere.mjs"]}}',
      /Middleware ".*nowhere\.mjs" does not exist/,
    ],
  ];
  for (const { cells, tags } of coreAndDeep(files, (_, index) => index % 3 === 0))
    it.each(cells)('a file that %s ends the program with 2 and one line', { tags: [...tags, 'P-023'] }, async (_name, text, message) => {
      const file = text === undefined ? join(folder, 'absent.json') : write('config-1.json', text);
      const { ending, stdout, stderr } = await runProgram(['--config', file]);
      expect({ ending, stdout }).toEqual({ ending: 2, stdout: '' });
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(stderr).toMatch(/^notebridge: /);
      expect(stderr).toMatch(message);
    });

  it('is not read from the working directory unasked', { tags: ['P-020'] }, async () => {
    const home = join(folder, 'a-clone');
    mkdirSync(home);
    writeFileSync(join(home, 'mcp.json'), 'not json');
    await using program = new Program({ cwd: home });
    expect(await program.initialize()).toHaveProperty('result');
    expect(await program.close()).toBe(0);
  });

  it('loads middleware of the user: it sees every message, and its results reach the agent', { tags: ['P-031'] }, async () => {
    write(
      'counting.mjs',
      `let calls = 0;
       export default () => ({
         async onCallTool(context, callNext) {
           const result = await callNext(context.copy({ message: { ...context.message, arguments: { ...context.message.arguments, seen: true } } }));
           return { ...result, _meta: { ...result._meta, 'test/calls': ++calls, 'test/door': context.caller.door } };
         },
         async onMessage(context, callNext) {
           if (context.method === 'x/fails') throw new Error('secret of the middleware');
           return callNext(context);
         },
       });`,
    );
    const config = write('with-middleware.json', '{"notebridge": {"middleware": ["./counting.mjs"]}} // comments are allowed');
    await using program = await Program.open({ args: ['--config', config] });
    await using page = await RawPage.serve({
      ...(await program.address()),
      answer: ({ method }) => (method === 'tools/call' ? { result: { content: [], _meta: { page: 1.5 } } } : undefined),
    });
    expect(await program.callTool('get_cells', { a: 1 })).toMatchObject({
      result: { content: [], _meta: { page: 1.5, 'test/calls': 2, 'test/door': 'stdio' } },
    });
    expect((await page.message('tools/call')).params).toEqual({ name: 'get_cells', arguments: { a: 1, seen: true } });
    const { error } = await program.request('x/fails', {});
    expect(error).toMatchObject({ code: -32603, message: 'Internal error', data: { call_id: expect.any(String) } });
    expect(JSON.stringify(error)).not.toContain('secret');
    await program.until(() => program.stderr.includes('secret of the middleware'));
  });
});

describe('the log', () => {
  it('holds no token, whatever happened; it is for its user only', { tags: ['P-014', 'P-116'] }, async () => {
    const logDir = join(folder, 'logs', 'deep');
    await using program = await Program.open({ args: ['--log-dir', logDir, '--log-level', 'debug'] });
    const { token, port } = await program.address();
    await provoke(program, { token, port });
    await program.close();
    const text = program.stderr + readAll(logDir);
    expect(text).toContain('A connection was refused');
    expect(text).toContain('A page connected');
    // Neither the token nor any part of it that would help to guess it.
    for (let at = 0; at + 12 <= token.length; at++) expect(text).not.toContain(token.slice(at, at + 12));
    expect(text).not.toContain('mcpProxyToken');
    expect(statSync(logDir).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(logDir)) expect(statSync(join(logDir, file)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['debug', ['debug', 'info', 'warn']],
    ['info', ['info', 'warn']],
    ['warn', ['warn']],
    ['error', []],
  ])('a log of --log-level %s has the levels %j', { tags: ['deep'] }, async (level, expected) => {
    const logDir = join(folder, `logs-${level}`);
    mkdirSync(logDir);
    await using program = await Program.open({ args: ['--log-dir', logDir, '--log-level', level] });
    const { token, port } = await program.address();
    await provoke(program, { token, port });
    await program.close();
    const numbers: Record<number, string> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };
    const lines = readAll(logDir).trim().split('\n').filter(Boolean);
    const levels = new Set(lines.map((line) => numbers[(JSON.parse(line) as { level: number }).level]));
    // Whether something is worth a debug line may change; that it stays away unasked may not.
    if (level === 'debug') levels.add('debug');
    expect([...levels].sort()).toEqual(expected);
  });

  it('a log that cannot be written costs a warning, not the work', { tags: ['P-014'] }, async () => {
    writeFileSync(join(folder, 'a-file'), '');
    await using program = await Program.open({ args: ['--log-dir', join(folder, 'a-file', 'logs')] });
    expect(await program.callTool('get_cells')).toMatchObject({ result: { isError: true } });
    expect(await program.close()).toBe(0);
    expect(program.stderr).toMatch(/log directory ".*a-file.*" cannot be written.*--log-dir/);
  });
});

/** Makes the program say something of every kind about a token: a page with it, tries without and with a wrong one. */
async function provoke(program: Program, { token, port }: { token: string; port: number }): Promise<void> {
  const answer = ({ method }: Record<string, unknown>) => (method === 'initialize' ? undefined : { error: { code: 1, message: token } });
  const page = await RawPage.serve({ port, token, answer });
  page.send(`not json, but ${token}`);
  page.send({ jsonrpc: '2.0', id: token, result: {} });
  page.send({ jsonrpc: '2.0', id: token, method: token });
  await program.callTool('get_cells', { token });
  program.write(`not json either: ${token}`);
  await program.request(token, { token });
  await expect(RawPage.connect({ port, token: `${token}x` })).rejects.toThrow('403');
  await expect(RawPage.connect({ port, token, origin: `https://${token}.example` })).rejects.toThrow('403');
  const unauthorized = new WebSocket(`ws://localhost:${port}/${token}`, ['mcp']);
  await once(unauthorized, 'error');
  await page.close();
  await program.notification('notifications/tools/list_changed', 1);
}

function readAll(dir: string): string {
  return readdirSync(dir)
    .map((file) => readFileSync(join(dir, file), 'utf8'))
    .join('');
}
