// @module-tag deep

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHome, programFile, runProgram } from '../support/program.js';
import { installedServer, isAlive, ServedHub } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';

let folder: string;
let config: string[];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-call-'));
  const file = join(folder, 'mcp.json');
  const numbers = '{"big":12345678901234567890,"point":1.0,"list":[1,{"a":null}]}';
  const servers = {
    exact: { command: process.execPath, args: ['-e', exactServer, numbers] },
    everything: installedServer('everything'),
    fs: installedServer('filesystem', [folder]),
    memory: installedServer('memory', [], { env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } }),
    calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')] },
    values: { command: process.execPath, args: [fixtureServer('values.mjs')] },
  };
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  writeFileSync(join(folder, 'hello.txt'), 'hello\nworld\n');
  config = ['--config', file];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Answers every call with a text that no JSON parser of ours has touched. */
const exactServer = `
  const initialized = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'exact', version: '1' } };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const results = { initialize: initialized, 'tools/list': { tools: [{ name: 'numbers', inputSchema: { type: 'object' } }] } };
    const result = method === 'tools/call' ? '{"content":[],"structuredContent":' + process.argv[1] + '}' : JSON.stringify(results[method] ?? {});
    process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":' + result + '}\\n');
  });`;

const call = (args: string[], input = '') => runProgram(['call', ...args, ...config], { input });

describe('call, where no hub runs', () => {
  it('starts the server for the call, prints its text plainly, and ends it', { tags: ['P-012'] }, async () => {
    expect(await call(['everything', 'echo', '{"message":"hi"}'])).toEqual({ ending: 0, stdout: 'Echo: hi\n', stderr: '' });
    expect(await call(['fs', 'read_text_file', `path=${folder}/hello.txt`])).toEqual({ ending: 0, stdout: 'hello\nworld\n', stderr: '' });
  });

  it('prints nothing for a tool that gave no blocks, and an empty list for one that gave that', async () => {
    const give = async (result: JsonObject): Promise<string> =>
      (await call(['values', 'give', JSON.stringify({ result: JSON.stringify(result) })])).stdout.trim();
    expect(await give({ content: [] })).toBe('');
    expect(await give({ content: [], structuredContent: { result: [] } })).toBe('[]');
  });

  it('takes arguments from words, by the types of the tool, from stdin and from a file', async () => {
    expect((await call(['everything', 'get-sum', 'a=2', 'b=40'])).stdout).toContain('42');
    expect((await call(['everything', 'echo', '-'], '{"message":"piped"}')).stdout).toBe('Echo: piped\n');
    writeFileSync(join(folder, 'args.json'), '{"message":"filed"}');
    expect((await call(['everything', 'echo', `@${join(folder, 'args.json')}`])).stdout).toBe('Echo: filed\n');
    // A text that looks like a number stays one where a text is wanted.
    expect((await call(['everything', 'echo', 'message=42'])).stdout).toBe('Echo: 42\n');
    const several = await call(['fs', 'read_multiple_files', `paths=${folder}/hello.txt`, `paths=${folder}/args.json`]);
    expect(several.stdout).toMatch(/hello[^]*filed/);
  });

  it('keeps what a tool stores, over two calls', async () => {
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
    expect(await call(['memory', 'create_entities', JSON.stringify({ entities })])).toMatchObject({ ending: 0, stderr: '' });
    const { stdout } = await call(['memory', 'read_graph']);
    expect(JSON.parse(stdout)).toMatchObject({ entities });
  });

  it('prints structured results as JSON, numbers to the letter', async () => {
    const { stdout } = await call(['exact', 'numbers']);
    expect(stdout).toBe('{\n  "big": 12345678901234567890,\n  "point": 1.0,\n  "list": [\n    1,\n    {\n      "a": null\n    }\n  ]\n}\n');
  });

  it('--json prints the whole answer on one line', async () => {
    const { stdout } = await call(['everything', 'echo', 'message=x', '--json']);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    const answer = JSON.parse(stdout) as JsonObject;
    expect(answer).toMatchObject({ success: true, result: 'Echo: x', error: null, is_error: false, error_code: null });
    expect(Object.keys(answer)).toEqual(expect.arrayContaining(['meta', 'call_id', 'duration_ms']));
  });

  it('describes an image, and saves it with --output', async () => {
    const shown = await call(['everything', 'get-tiny-image']);
    expect(shown.stdout).toMatch(/\[image, image\/png, \d\.\d kB; save it with --output FILE\]/);
    const file = join(folder, 'tiny.png');
    expect(await call(['everything', 'get-tiny-image', '--output', file])).toMatchObject({ ending: 0 });
    expect(readFileSync(file).subarray(1, 4).toString()).toBe('PNG');
  });

  it.each([
    [['nope', 'x'], 1, 'There is no server "nope". There are: exact, everything, fs, memory, calls, values.'],
    [['everythin', 'x'], 1, 'There is no server "everythin". Did you mean "everything"?'],
    [['calls', 'ecko'], 1, '"ecko" of "calls" gave no result (tool_not_found): "calls" has no tool "ecko".'],
    [['fs', 'read_text_file', 'path=/etc/passwd'], 1, '"read_text_file" of "fs" failed: Access denied'],
    [['calls', 'echo', '{broken'], 2, 'The arguments in the argument are no JSON'],
    [['calls', 'echo', '[1]'], 2, 'The arguments in the argument are [1]'],
    [['everything', 'get-sum', 'a=two', 'b=1'], 2, '"a" is "two", but must be number'],
    [['everything'], 2, "missing required argument 'tool'"],
  ])('%j fails with exit code %i and says why', { tags: ['P-013'] }, async (args, code, message) => {
    const { ending, stdout, stderr } = await call(args);
    expect({ ending, stdout }).toEqual({ ending: code, stdout: '' });
    expect(stderr.split('\n')[0]).toContain(`notebridge: ${code === 2 && args.length < 2 ? '' : message.slice(0, 10)}`);
    expect(stderr).toContain(message);
  });

  it.each([
    [['everything', 'get-sum', 'a=2'], 'It lacks "b" (number).', 'The sum of 2 and 1 is 3'],
    [['everything', 'echo'], 'It lacks "message" (string).', 'Echo: TEXT'],
    [['everything', 'get-annotated-message', '{"includeImage":false}'], 'It lacks "messageType" (string).', 'Error:'],
  ])('%j names what it lacks, with an example that works', async (args, lacks, answer) => {
    const { ending, stdout, stderr } = await call(args);
    expect({ ending, stdout }).toEqual({ ending: 1, stdout: '' });
    const [, next = ''] = stderr.trim().split('\n');
    expect(next).toContain(lacks);
    const [, line = ''] = /For example: (node .*)$/.exec(next) ?? [];
    const { home, env } = createHome();
    const ran = await promisify(execFile)('sh', ['-c', `${line} ${config.join(' ')}`], { env });
    rmSync(home, { recursive: true, force: true });
    expect(ran.stdout).toContain(answer);
  });

  it('names the nearest tool', async () => {
    expect((await call(['fs', 'read_text_fil'])).stderr).toContain('Did you mean "read_text_file"? See what it has with: node ');
  });

  it('Ctrl-C cancels the call at the server', { tags: ['P-013'] }, async () => {
    const { home, env } = createHome();
    const countFile = join(folder, 'count');
    const child = spawn(process.execPath, [programFile, 'call', 'calls', 'wait', 'key=stop', ...config], { env, stdio: 'pipe' });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = once(child, 'close');
    await vi.waitUntil(() => linesOf(countFile).includes('wait stop'), { timeout: 45_000 });
    child.kill('SIGINT');
    expect((await ended)[0]).toBe(1);
    expect(linesOf(countFile)).toContain('cancelled stop');
    expect(stderr).toBe('notebridge: The call was cancelled.\n');
    rmSync(home, { recursive: true, force: true });
  });
});

describe('servers and tools, where no hub runs', () => {
  it('servers shows each with its state, and why one does not run', { tags: ['P-012'] }, async () => {
    const file = join(folder, 'mixed.json');
    const broken = { command: process.execPath, args: ['-e', 'console.error("no key"); process.exit(3)'] };
    writeFileSync(
      file,
      JSON.stringify({ mcpServers: { memory: installedServer('memory'), broken, off: { command: 'x', disabled: true } } }),
    );
    const { ending, stdout, stderr } = await runProgram(['servers', '--config', file]);
    expect({ ending, stderr }).toEqual({ ending: 0, stderr: '' });
    expect(stdout).toMatch(/^memory +running +\d+ s +9 +\d+ +0 +its tools$/m);
    expect(stdout).toMatch(/^broken +failed /m);
    expect(stdout).toMatch(/^off +disabled /m);
    expect(stdout).toMatch(/^broken: .*exit code 3[^]*no key/m);
    // No colours where nobody sees them.
    expect(stdout).not.toContain('\u001b');
  });

  it('tools shows all, those of one server, and one with its input', { tags: ['P-012'] }, async () => {
    const all = await runProgram(['tools', ...config]);
    expect(all.stdout).toMatch(/^memory +9 tools; agents call them memory__TOOL$/m);
    expect(all.stdout).toMatch(/^ {2}read_graph +Read the entire knowledge graph$/m);
    const one = await runProgram(['tools', 'fs', 'read_text_file', ...config]);
    expect(one.stdout).toMatch(/^fs read_text_file {3}for agents: fs__read_text_file$/m);
    expect(one.stdout).toMatch(/^ {2}path {2}string, required$/m);
    const { stdout } = await runProgram(['tools', 'fs', '--json', ...config]);
    const { tools } = JSON.parse(stdout) as { tools: JsonObject[] };
    expect(tools).toContainEqual(expect.objectContaining({ server: 'fs', name: 'read_text_file', agent_name: 'fs__read_text_file' }));
    const wrong = await runProgram(['tools', 'fs', 'read_text_fil', ...config]);
    expect(wrong).toMatchObject({ ending: 1, stdout: '' });
    expect(wrong.stderr).toContain('Did you mean "read_text_file"?');
  });

  it('say what to do where the config names no server', async () => {
    expect((await runProgram(['servers'])).stdout).toContain('names no servers. Add them under "mcpServers"');
    expect((await runProgram(['call', 'a', 'b'])).stderr).toBe(
      'notebridge: There is no server "a": no hub of yours runs, and there is no config. Add it under "mcpServers".\n',
    );
  });
});

describe('tools says how they are called', () => {
  const shop = { command: process.execPath, args: [fixtureServer('approvals.mjs'), 'none'] };
  const asks = (stdout: string) => [...stdout.matchAll(/^ {2}(\w+) +\(asks\)/gm)].map(([, name]) => name);

  it('the tools say which a person approves, who can be asked, and that agents call them by code', { tags: ['P-459'] }, async () => {
    const file = join(folder, 'approvals.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { shop }, notebridge: { approve: 'writes', codeMode: true } }));
    const { stdout } = await runProgram(['tools', '--config', file]);
    // The skills are a server too.
    expect(asks(stdout)).toEqual(['add', 'remove', 'plain', 'run_skill_script', 'save_skill', 'delete_skill']);
    expect(stdout).toMatch(/Code mode is on: agents are listed search_tools, describe_tools and execute_code/);
    expect(stdout).toMatch(/Calls of a tool with "\(asks\)" need a person's yes: .* else the call is refused/);
    const listed = JSON.parse((await runProgram(['tools', 'shop', '--json', '--config', file])).stdout) as { tools: JsonObject[] };
    expect(listed.tools.map(({ name, needs_approval: needed }) => [name, needed])).toEqual([
      ['read', false],
      ['add', true],
      ['remove', true],
      ['plain', true],
      ['odd', false],
    ]);
    const [one, other] = [
      await runProgram(['tools', 'shop', 'add', '--config', file]),
      await runProgram(['tools', 'shop', 'read', '--config', file]),
    ];
    expect(one.stdout).toContain("Its calls need a person's yes");
    expect(other.stdout).not.toContain('yes');
  });

  it('the tools are described as by the hub that runs', { tags: ['P-459'] }, async () => {
    await using hub = await ServedHub.start({
      servers: { shop: { ...shop, approve: 'destructive' } },
      args: ['--notebook', 'none', '--code-mode'],
    });
    const { stdout } = await hub.run('tools', 'shop');
    expect(asks(stdout)).toEqual(['remove', 'plain']);
    expect(stdout).toMatch(/agents are listed search_tools, describe_tools and execute_code/);
    expect(stdout).toMatch(/if its host can show forms, else you are: .*approvals\.$/m);
    hub.writeConfig({ shop });
    await hub.logged('The config was changed.');
    const without = await hub.run('tools', 'shop');
    expect([asks(without.stdout), without.stdout.includes('yes')]).toEqual([[], false]);
  });
});

it('a call at the hub may say nothing for longer than an idle connection of Node is kept, which is 5 s', { tags: ['P-488'] }, async () => {
  await using hub = await ServedHub.start({ servers: { everything: installedServer('everything') }, args: ['--notebook', 'none'] });
  const called = await hub.run('call', 'everything', 'trigger-long-running-operation', 'duration=6', 'steps=1');
  expect(called).toMatchObject({
    ending: 0,
    stdout: expect.stringContaining('completed'),
    stderr: expect.not.stringContaining('notebridge:'),
  });
});

describe('a hub that is not what its file says', () => {
  it('a file that a killed hub left is no obstacle', async () => {
    await using hub = await ServedHub.start({
      servers: { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'left')] } },
    });
    await hub.stop('SIGKILL');
    expect(isAlive(hub.pid)).toBe(false);
    expect(readFileSync(join(hub.stateDir, 'hub.json'), 'utf8')).toContain(hub.url);
    mkdirSync(join(hub.home, 'config', 'notebridge'), { recursive: true });
    writeFileSync(join(hub.home, 'config', 'notebridge', 'mcp.json'), readFileSync(hub.configFile));
    expect(await hub.run('call', 'calls', 'echo', '{"a":1}')).toMatchObject({ ending: 0, stdout: '{\n  "a": 1\n}\n', stderr: '' });
  });

  it('an impostor at its address never sees the token', { tags: ['P-092'] }, async () => {
    await using hub = await ServedHub.start();
    const token = hub.ownerToken;
    const file = readFileSync(join(hub.stateDir, 'hub.json'), 'utf8');
    await hub.stop();
    const seen: string[] = [];
    const impostor = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
      response.setHeader('content-type', 'application/json').end('{"status":"ok","proof":"I am your hub"}');
    });
    impostor.listen(hub.port, '127.0.0.1');
    await once(impostor, 'listening');
    expect((impostor.address() as AddressInfo).port).toBe(hub.port);
    // Its process lives: it is ours.
    writeFileSync(join(hub.stateDir, 'hub.json'), file.replace(/"pid":\d+/, `"pid":${process.pid}`), { mode: 0o600 });
    const { ending, stderr } = await hub.run('servers');
    expect(ending).toBe(0);
    expect(stderr).toBe(`notebridge: What listens at ${hub.url} is not your hub, or does not answer; it is not used.\n`);
    await hub.run('call', 'a', 'b');
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.join('\n')).not.toContain(token);
    expect(seen.join('\n')).not.toContain('authorization');
    impostor.close();
    impostor.closeAllConnections();
  });
});
