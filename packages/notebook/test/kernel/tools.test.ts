// @module-tag deep

import { Listeners } from '@notebridge/protocol/util/listeners';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KernelTools, ToolCall, ToolCallOptions, ToolPackage } from '../../src/kernel/kernel-tools.js';
import { until } from '../host/support/until.js';
import type { KernelHarness } from './support/kernel-harness.js';
import { openNodeHarness } from './support/node-harness.js';
import { runCell } from './support/run-cell.js';

const startMs = 60_000;

/** Tools that do what the test says, and remember what was asked. */
class Tools implements KernelTools {
  readonly listeners = new Listeners<ToolPackage>();
  readonly calls: (ToolCall & ToolCallOptions)[] = [];
  starts = 0;
  package: ToolPackage = { state: 'coming' };
  answer: (call: ToolCall & ToolCallOptions) => Promise<string> = async ({ body }) => body;

  start(): void {
    this.starts++;
  }

  onPackage(listener: (next: ToolPackage) => void): () => void {
    return this.listeners.add(listener);
  }

  call(call: ToolCall, options: ToolCallOptions): Promise<string> {
    const whole = { ...call, ...options };
    this.calls.push(whole);
    return this.answer(whole);
  }

  offer(next: ToolPackage): void {
    this.package = next;
    this.listeners.emit(next);
  }

  offerVersion(version: string): void {
    const init = `import os\n__path__ = [os.path.realpath(folder) for folder in __path__]\nversion = "${version}"\n`;
    const files = new Map([
      ['__init__.py', init],
      ['part/late.py', `version = "${version}"\n`],
    ]);
    this.offer({ state: 'there', version: version.repeat(12), files });
  }
}

const never = ({ signal }: ToolCallOptions): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }));

describe('tools of the host', () => {
  const tools = new Tools();
  let harness: KernelHarness;
  beforeAll(async () => {
    harness = await openNodeHarness({ tools });
  }, startMs);
  afterEach(() => {
    tools.calls.length = 0;
    tools.answer = async ({ body }) => body;
  });
  afterAll(() => harness.close());
  const run = (...lines: string[]) => runCell(harness, ['from notebridge_kernel.tools import channel', ...lines].join('\n'));

  test('the first import waits until the package is there', { timeout: startMs }, async () => {
    const running = run('import generated', 'print("imported")', 'generated.version');
    await until(() => harness.kernel.state === 'busy', startMs);
    expect(tools.starts).toBe(1);
    tools.offerVersion('a');
    expect(await running).toMatchObject({ status: 'ok', result: "'a'" });
  });

  test('code that has imported a version keeps all of it, and a reload sees the new one', async () => {
    tools.offerVersion('b');
    expect(await run('from generated.part import late', '[generated.version, late.version]')).toMatchObject({ result: "['a', 'a']" });
    expect(await run('import importlib', 'importlib.reload(generated).version')).toMatchObject({ result: "'b'" });
    for (const version of ['c', 'd', 'e', 'f']) tools.offerVersion(version);
    const { result } = await run('import os', '" ".join(sorted(os.listdir("/lib/notebridge_tools")))');
    expect(result).toBe(`'${[...'cdef'].map((name) => `.generated-${name.repeat(12)}`).join(' ')} generated'`);
  });

  test('texts cross to the letter, with and without await', async () => {
    const odd = '{"arguments":{"a":1.0,"b":12345678901234567890,"c":1e400,"d":"\\ud800 é 🎈\\n"}}';
    const { result } = await run(
      `odd = ${JSON.stringify(odd)}`,
      '[await channel().call("s", "t", odd) == odd, channel().call_sync("s", "t", odd) == odd]',
    );
    expect(result).toBe('[True, True]');
    expect(tools.calls.map(({ server, tool, body }) => ({ server, tool, body }))).toEqual(
      Array(2).fill({ server: 's', tool: 't', body: odd }),
    );
  });

  test('twenty megabytes come whole', async () => {
    tools.answer = async () => JSON.stringify('x'.repeat(20_000_000));
    expect(await run('len(await channel().call("s", "t", "")) + len(channel().call_sync("s", "t", ""))')).toMatchObject({
      result: '40000004',
    });
  });

  test('calls run at once, and a blocking one keeps the answers of the others', async () => {
    tools.answer = async ({ tool }) => {
      if (tool === 'slow') await until(() => tools.calls.some((call) => call.tool === 'blocking'));
      return tool;
    };
    const { result } = await run(
      'import asyncio',
      'others = [asyncio.ensure_future(channel().call("s", "slow", "")) for _ in range(50)]',
      'await asyncio.sleep(0)',
      'mine = channel().call_sync("s", "blocking", "")',
      '[mine, set(await asyncio.gather(*others))]',
    );
    expect(result).toBe("['blocking', {'slow'}]");
  });

  test('events are heard in order before the answer; what comes faster than it is heard is left out', async () => {
    tools.answer = async ({ onEvent }) => {
      for (let n = 0; n < 5000; n++) onEvent?.(String(n));
      return 'end';
    };
    const { result } = await run(
      'heard, blocking = [], []',
      'async def hear(line): heard.append(int(line))',
      'answers = [await channel().call("s", "t", "", hear), channel().call_sync("s", "t", "", lambda line: blocking.append(int(line)))]',
      'first = list(range(256))',
      '[answers, heard[:256] == first, blocking[:256] == first, heard == sorted(heard), len(heard) < 5000]',
    );
    expect(result).toBe("[['end', 'end'], True, True, True, True]");
    expect(await run('await channel().call("s", "t", "")')).toMatchObject({ result: "'end'" });
  });

  test.each([['await channel().call("s", "t", "")'], ['channel().call_sync("s", "t", "")']])(
    'an interrupt ends the call: %s',
    async (code) => {
      tools.answer = never;
      const stopping = new AbortController();
      const running = runCell(harness, `from notebridge_kernel.tools import channel\n${code}`, stopping.signal);
      await until(() => tools.calls.length);
      expect(tools.calls[0]?.signal.aborted).toBe(false);
      stopping.abort();
      expect(await running).toMatchObject({ status: 'interrupted', error: { ename: 'KeyboardInterrupt' } });
      await until(() => tools.calls[0]?.signal.aborted);
      expect(await run('1 + 1')).toMatchObject({ status: 'ok', result: '2' });
    },
  );

  test.each(['await channel().call', 'channel().call_sync'])('a time-out ends the call: %s', async (call) => {
    tools.answer = never;
    const { error } = await run(`${call}("s", "t", "", timeout=0.05)`);
    expect(error?.ename).toBe('TooLate');
    await until(() => tools.calls[0]?.signal.aborted);
  });

  test('a listener that fails ends the call, with its own error', async () => {
    tools.answer = async (call) => {
      call.onEvent?.('1');
      return never(call);
    };
    const { error } = await run('async def hear(line): raise TimeoutError("mine")', 'await channel().call("s", "t", "", hear)');
    expect(error).toMatchObject({ ename: 'TimeoutError', evalue: 'mine' });
    await until(() => tools.calls[0]?.signal.aborted);
  });

  test('a fault of the host is an answer', async () => {
    tools.answer = async () => {
      throw new Error('no luck');
    };
    const { result } = await run(
      'import json',
      'answer = json.loads(await channel().call("s", "t", ""))',
      '[answer["error"], answer["error_code"]]',
    );
    expect(result).toBe("['no luck', 'internal']");
  });

  test('more than 1024 calls at once are refused, and the rest goes on', async () => {
    tools.answer = never;
    const { result } = await run(
      'import asyncio, json',
      'tasks = [asyncio.ensure_future(channel().call("s", "t", "")) for _ in range(1025)]',
      'done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)',
      'codes = [json.loads(task.result())["error_code"] for task in done]',
      'for task in rest: task.cancel()',
      'codes',
    );
    expect(result).toBe("['limit_reached']");
    await until(() => tools.calls.every(({ signal }) => signal.aborted));
  });

  test('the import says why there is nothing', async () => {
    tools.offer({ state: 'none', reason: 'nothing is configured' });
    const { error } = await run('import sys', 'del sys.modules["generated"]', 'import generated');
    expect(error).toMatchObject({ ename: 'ModuleNotFoundError', evalue: "No module named 'generated': nothing is configured" });
    tools.offerVersion('z');
    expect(await run('import generated', 'generated.version')).toMatchObject({ result: "'z'" });
  });

  test('a restart ends the calls, and the new Python has the package', { timeout: startMs }, async () => {
    tools.answer = never;
    const running = run('await channel().call("s", "t", "")');
    await until(() => tools.calls.length);
    await harness.kernel.restart();
    expect(await running).toMatchObject({ status: 'interrupted' });
    expect(tools.calls[0]?.signal.aborted).toBe(true);
    expect(await run('import generated', 'generated.version')).toMatchObject({ result: "'z'" });
  });
});
