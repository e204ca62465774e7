// @module-tag deep

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeAgent, codeDoors } from '../support/code-mode.js';
import { installedServer } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const slow = 240_000;

describe('code that goes wrong', () => {
  let folder: string;
  let agent: CodeAgent;
  const run = (code: string, more = {}) => agent.execute({ code, ...more });
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    const servers = {
      everything: installedServer('everything'),
      calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')] },
    };
    const notebridge = { codeMode: { calls: 30, parallelCalls: 4, codeCharacters: 5000, seconds: 60, outputBytes: 65_536 } };
    const stdio = codeDoors[0];
    if (stdio === undefined) throw new Error('There is no door.');
    agent = await stdio.open({ folder, servers, notebridge });
    await run('1');
  }, slow);
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('a loop is interrupted after the seconds it was given, and variables stay', { tags: ['P-392'] }, async () => {
    await run('before = 5');
    const answer = await run('while True: pass', { timeout_seconds: 1 });
    expect(answer).toMatchObject({ status: 'timeout', isError: true, code: 'timeout' });
    expect(answer.texts.join('\n')).toContain('interrupted after 1 s');
    expect(await run('before')).toMatchObject({ status: 'ok', result: '5' });
  });

  it('code that swallows the interrupt loses its Python, and the next call has a new one', {
    tags: ['deep', 'P-392'],
    timeout: slow,
  }, async () => {
    const code = 'lost = 1\nwhile True:\n    try:\n        while True: pass\n    except BaseException:\n        pass';
    const answer = await run(code, { timeout_seconds: 1 });
    expect(answer).toMatchObject({ status: 'timeout', isError: true });
    expect(answer.texts.join('\n')).toContain('KernelRestarted');
    expect((await run('lost')).texts.join('\n')).toContain("name 'lost' is not defined");
  });

  it('cancellation that a task swallows is no way to go on', { tags: ['deep'], timeout: slow }, async () => {
    const code = 'import asyncio\nwhile True:\n    try:\n        await asyncio.sleep(60)\n    except BaseException:\n        pass';
    expect(await run(code, { timeout_seconds: 1 })).toMatchObject({ status: 'timeout', isError: true });
    expect(await run('1 + 1')).toMatchObject({ result: '2' });
  });

  it('100 MB of print are answered by their beginning and end', { tags: ['P-392'] }, async () => {
    const { status, texts } = await run('for i in range(1000):\n    print(i, "x" * 100_000)\nprint("the end")');
    expect(status).toBe('ok');
    const text = texts.join('');
    expect(text.length).toBeLessThan(25_000);
    expect(text.slice(0, 4)).toBe('0 xx');
    expect(text).toContain('characters left out here');
    expect(text.trimEnd().endsWith('the end')).toBe(true);
  });

  it.each([
    ['threads', 'import threading\nthreading.Thread(target=print).start()'],
    ['processes', 'import os\nos.fork()'],
    ['programs', 'import subprocess\nsubprocess.run(["id"])'],
    ['a shell', 'import os\nos.system("id")'],
    ['the network', 'from urllib.request import urlopen\nurlopen("http://127.0.0.1:80/")'],
    ['files of the machine', 'open("/etc/passwd").read()'],
  ])('code that wants %s gets an error', { tags: ['deep'] }, async (_, code) => {
    const answer = await run(code);
    expect(answer).toMatchObject({ status: 'error', isError: true });
    expect(answer.texts[0]).toMatch(/Error/);
    expect(await run('1 + 1')).toMatchObject({ result: '2' });
  });

  it('10,000 tool calls end at the limit, as errors of the code', { tags: ['deep', 'P-392'] }, async () => {
    const code = `
import asyncio
from generated.mcp.calls import count
found = await asyncio.gather(*(count(n=n) for n in range(10_000)), return_exceptions=True)
[sum(isinstance(one, str) for one in found), str(next(one for one in found if not isinstance(one, str)))]`;
    const { status, result, calls } = await run(code);
    expect({ status, calls }).toEqual({ status: 'ok', calls: 30 });
    expect(result).toMatch(/^\[30,[^]*30 tool calls, which is all that one may make/);
  });

  it('execute_code is nothing that code can call', { tags: ['P-394'] }, async () => {
    const code = `
import generated.mcp
from generated import client
tried = []
for name in ("execute_code", "code-mode__execute_code", "notebook__execute_code", "code-mode__search_tools"):
    try:
        tried.append(await client.call_tool(name, {"code": "1"}))
    except Exception as error:
        tried.append(type(error).__name__)
[tried, [name for name in dir(generated.mcp) if "code" in name]]`;
    const { status, result } = await run(code);
    expect(status).toBe('ok');
    expect(result).toMatch(/^\[\['\w*Error', '\w*Error', '\w*Error', '\w*Error'\], \[\]\]$/);
  });

  it('a name that is not there is told with what is near', { tags: ['deep'] }, async () => {
    expect((await run('from generated.mcp.everythin import echo')).texts[0]).toContain("Did you mean 'everything'?");
    expect((await run('from generated.mcp.everything import ecko')).texts[0]).toContain("Did you mean 'echo'?");
    expect((await run('from generated.mcp.calls import echo\nawait ecko()')).texts[0]).toContain('NameError');
  });

  it('bindings that one session has changed are whole in the others', { tags: ['deep', 'P-388'], timeout: slow }, async () => {
    const change = 'import generated.mcp.calls as calls\nasync def fake(**_): return "fake"\ncalls.echo = fake\nawait calls.echo()';
    const first = await run(change, { session: 'new' });
    expect(first.result).toBe("'fake'");
    expect((await run('import generated.mcp.calls as calls\nawait calls.echo(a=1)', { session: 'new' })).result).toBe("{'a': 1}");
    expect((await run('await calls.echo(a=1)', { session: first.session })).result).toBe("'fake'");
  });

  it('a Python that ends itself is not run again, and the answer says what had run', {
    tags: ['deep', 'P-392'],
    timeout: slow,
  }, async () => {
    const answer = await run('import os\nfrom generated.mcp.calls import echo\nawait echo()\nos._exit(3)', { session: 'new' });
    expect(answer).toMatchObject({ status: 'died', isError: true, code: 'kernel_failed', calls: 1 });
    expect(answer.texts.join('\n')).toMatch(/not run again[^]*- calls\.echo: ok/);
    expect(await run('1 + 1', { session: answer.session })).toMatchObject({ status: 'ok', result: '2' });
  });

  it.each([
    [{}, '"code" is missing'],
    [{ code: 'x'.repeat(5001) }, 'at most 5000 are run at once'],
    [{ code: '1', run_id: 'x' }, 'give one of the two'],
    [{ code: '1', sesion: 'x' }, 'did you mean "session"?'],
    [{ code: '1', timeout_seconds: 61 }, 'from 1 to 60'],
    [{ code: '1', kernel: 'fresh', session: 'new' }, 'give one of the two'],
    [{ code: '1', notebook: 'selected', kernel: 'fresh' }, 'has a kernel of its own'],
    [{ code: 1 }, '"code" must be a text'],
  ])('arguments of number %$ are refused', { tags: ['deep'] }, async (args, text) => {
    const answer = await agent.execute(args);
    expect(answer).toMatchObject({ isError: true, code: 'invalid_arguments' });
    expect(answer.texts[0]).toContain(text);
  });
});
