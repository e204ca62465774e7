// @module-tag P-209

import { Listeners } from '@notebridge/protocol/util/listeners';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { emitPython } from '../../../bindings/src/python/emit-python.js';
import type { CodeAsker, KernelTools, ToolCall, ToolCallOptions, ToolPackage } from '../../src/kernel/kernel-tools.js';
import { until } from '../host/support/until.js';
import { type JupyterHarness, openJupyterHarness } from './support/jupyter-harness.js';
import { plain, runCell } from './support/run-cell.js';

/** A Python takes seconds to load, on a machine that does other things too. */
const startMs = 120_000;

/** A real package of bindings, of one server that does what the test says. */
class Tools implements KernelTools {
  readonly listeners = new Listeners<ToolPackage>();
  readonly calls: (ToolCall & ToolCallOptions)[] = [];
  package: ToolPackage = { state: 'coming' };
  answer: (call: ToolCall & ToolCallOptions) => Promise<string> = echo;

  start(): void {}

  onPackage(listener: (next: ToolPackage) => void): () => void {
    return this.listeners.add(listener);
  }

  call(call: ToolCall, options: ToolCallOptions): Promise<string> {
    const whole = { ...call, ...options };
    this.calls.push(whole);
    return this.answer(whole);
  }

  async offer(...names: string[]): Promise<void> {
    const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
    const tools = names.map((name) => ({ name, inputSchema }));
    const emitted = await emitPython({ servers: [{ name: 'calls', description: undefined, tools }], skills: false, hubUrl: undefined });
    this.give({ state: 'there', version: emitted.contentHash, files: emitted.files });
  }

  give(next: ToolPackage): void {
    this.package = next;
    this.listeners.emit(next);
  }
}

const success = (result: unknown) => JSON.stringify({ success: true, result, error: null, is_error: false });
const echo = async ({ body }: ToolCall) => success((JSON.parse(body) as { arguments: { text: string } }).arguments.text);
const never = ({ signal }: ToolCallOptions): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }));

describe('tools of the host in a kernel of Jupyter', { timeout: 2 * startMs }, () => {
  const tools = new Tools();
  let harness: JupyterHarness;
  beforeAll(async () => {
    harness = await openJupyterHarness({ tools });
    await harness.kernel.start();
  }, 5 * startMs);
  afterEach(() => {
    tools.calls.length = 0;
    tools.answer = echo;
  });
  afterAll(() => harness?.close());
  const run = (...lines: string[]) => runCell(harness, lines.join('\n'));

  test('the first import waits until the package is there, and a reload sees the next one', async () => {
    const running = run('from generated.mcp.calls import echo', 'import generated', 'await echo(text="é 🎈")');
    await until(() => harness.kernel.state === 'busy', startMs);
    await tools.offer('echo');
    expect(await running).toMatchObject({ status: 'ok', result: expect.stringContaining('é 🎈') });
    expect(tools.calls).toMatchObject([{ server: 'calls', tool: 'echo', body: expect.stringContaining('arguments') }]);
    await tools.offer('echo', 'second');
    const reload = 'import importlib\nimportlib.reload(generated)\nfrom generated.mcp.calls import second\n';
    // The files come after the cell that asks for them, or before.
    await until(async () => (await run(`${reload}await second(text="2")`)).status === 'ok', startMs);
  });

  test('tools are called without await, many at once, and from a process that the code starts', async () => {
    expect(await run('echo.sync(text="blocking")')).toMatchObject({ result: expect.stringContaining('blocking') });
    const many = 'import asyncio\nlen(await asyncio.gather(*(echo(text=str(n)) for n in range(50))))';
    expect(await run(many)).toMatchObject({ result: '50' });
    const child =
      'import subprocess, sys\nprint(subprocess.run([sys.executable, "-c", "from generated.mcp.calls import echo; print(echo.sync(text=\'child\'))"], capture_output=True, text=True))';
    expect(await run(child)).toMatchObject({ stdout: expect.stringContaining('child') });
  });

  test('progress is heard, then the answer', async () => {
    tools.answer = async ({ onEvent }) => {
      for (let progress = 1; progress <= 3; progress++) onEvent?.(JSON.stringify({ event: 'progress', progress, total: 3 }));
      return success('end');
    };
    const { result } = await run(
      'heard = []',
      'answer = await echo(text="", on_progress=lambda p: heard.append(p.progress))',
      '[answer, heard]',
    );
    expect(result).toBe("['end', [1, 2, 3]]");
  });

  test('whoever has the cell run can be asked in its calls; nobody by what an earlier cell has left behind', {
    tags: ['P-374'],
  }, async () => {
    const asker: CodeAsker = { can: { roots: {} }, ask: async () => ({ roots: [] }) };
    const execute = (...lines: string[]) => harness.kernel.execute(lines.join('\n'), { onOutput: () => {}, asker });
    const askers = () => tools.calls.splice(0).map((call) => call.asker);
    await execute('await echo(text="1")', 'echo.sync(text="2")', 'await asyncio.create_task(echo(text="3"))');
    expect(askers()).toEqual([asker, asker, asker]);
    await execute(
      'begin, done = asyncio.Event(), asyncio.Event()',
      'async def later():',
      '    await begin.wait()',
      '    await echo(text="late")',
      '    done.set()',
      'task = asyncio.create_task(later())',
    );
    await execute('begin.set()', 'await done.wait()', 'await echo(text="mine")');
    expect(tools.calls.map(({ body }) => body)).toEqual([expect.stringContaining('late'), expect.stringContaining('mine')]);
    expect(askers()).toEqual([undefined, asker]);
    // A thread belongs to the cell that began it.
    const thread = (...work: string[]) => [
      'import threading',
      'def work():',
      ...work,
      'thread = threading.Thread(target=work)',
      'thread.start()',
    ];
    await execute(...thread('    echo.sync(text="x")'), 'thread.join()');
    expect(askers()).toEqual([asker]);
    await execute('go = threading.Event()', ...thread('    go.wait()', '    echo.sync(text="late")'));
    await execute('go.set()', 'thread.join()');
    expect(askers()).toEqual([undefined]);
  });

  test.each(['await echo(text="x")', 'echo.sync(text="x")'])('an interrupt cancels the call: %s', async (code) => {
    tools.answer = never;
    const stopping = new AbortController();
    const running = runCell(harness, code, stopping.signal);
    await until(() => tools.calls.length, startMs);
    stopping.abort();
    expect(await running).toMatchObject({ status: 'interrupted' });
    await until(() => tools.calls[0]?.signal.aborted, startMs);
    expect(await run('1 + 1')).toMatchObject({ result: '2' });
  });

  test.each(['await echo(text="x")', 'echo.sync(text="x")'])('a ToolError shows the line of the cell and the reason: %s', async (code) => {
    tools.answer = async () =>
      JSON.stringify({ success: false, result: null, error: 'The disk is full.', is_error: true, error_code: 'tool_failed' });
    const { error, executionCount } = await run('def work():', '    return 1', `work(), ${code}`);
    expect(error).toMatchObject({ ename: 'ToolError', evalue: 'echo (calls): The disk is full.' });
    const text = plain(error?.traceback.join('\n') ?? '');
    expect(text).toBe(
      [
        '-'.repeat(75),
        `ToolError${'Traceback (most recent call last)'.padStart(66)}`,
        `Cell In[${executionCount}], line 3`,
        `----> 3 work(), ${code}`,
        'ToolError: echo (calls): The disk is full.',
      ].join('\n'),
    );
  });

  test('another program on this machine has no token', async () => {
    const { result } = await run('import os', 'os.environ["NOTEBRIDGE_URL"]');
    const url = (result ?? '').replaceAll("'", '');
    const answer = await fetch(`${url}/api/v1/mcp/proxy/calls/tools/echo`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(401);
    expect((await fetch(`${url}/package`)).status).toBe(404);
    expect(tools.calls).toEqual([]);
  });

  test('the import says why there is nothing, in a fresh kernel too', async () => {
    tools.give({ state: 'none', reason: 'nothing is configured' });
    await harness.kernel.restart();
    const { error } = await run('import generated');
    expect(error).toMatchObject({ ename: 'ModuleNotFoundError', evalue: "No module named 'generated': nothing is configured" });
    await tools.offer('echo');
    await until(async () => (await run('from generated.mcp.calls import echo', 'await echo(text="again")')).status === 'ok', startMs);
  });
});
