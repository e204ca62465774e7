/** What a Python kernel does behind our seam: one body for Pyodide in a process of Node and in a Worker of Chromium, and for ipykernel. */
import { printJson } from '@notebridge/protocol/exact-json';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DisplayDataOutput } from '../../src/model/output.js';
import { describeInterrupts } from './interrupt-behaviour.js';
import type { KernelHarness } from './support/kernel-harness.js';
import { interruptWhen, plain, type Ran, runCell } from './support/run-cell.js';

export function describeKernel<Harness extends KernelHarness>(open: () => Promise<Harness>, more?: (get: () => Harness) => void): void {
  let harness: Harness;
  const run = (source: string, signal?: AbortSignal): Promise<Ran> => runCell(harness, source, signal);

  beforeAll(async () => {
    harness = await open();
    await harness.kernel.start();
  }, 180_000);
  beforeEach(async () => {
    if (harness.kernel.state !== 'dead') await run('import asyncio, os, sys, time');
  });
  afterAll(() => harness?.close());

  test('is Python, ready for the first cell', () => {
    expect(harness.kernel.state).toBe('idle');
    expect(harness.kernel.info).toMatchObject({ language: 'python', version: expect.stringMatching(/^3\.\d+\.\d+/) });
  });

  describe('what a cell shows', () => {
    test('streams come while the cell runs, in order', async () => {
      // It ends because they were seen.
      const { status, stdout, stderr } = await interruptWhen(
        harness,
        [
          'try:',
          "    print('first'); print('oh', file=sys.stderr); print('half', end='')",
          '    time.sleep(100)',
          "except KeyboardInterrupt: print(' a line')",
        ].join('\n'),
        (outputs) => ['half', 'oh'].every((text) => outputs.some((output) => String(output.text).includes(text))),
      );
      expect(status).toBe('ok');
      expect(stdout).toBe('first\nhalf a line\n');
      expect(stderr).toBe('oh\n');
    });

    test('the last expression is the result, unless a semicolon ends it or it is None', async () => {
      expect((await run('1 + 1')).result).toBe('2');
      for (const source of ['1 + 1;', '1 + 1; # said', 'None', 'x = 5', 'for x in []: x', '', '# nothing'])
        expect((await run(source)).outputs, source).toEqual([]);
      expect((await run('"a;b"')).result).toBe("'a;b'");
    });

    test('earlier results and inputs have their names', async () => {
      const { executionCount } = await run('6 * 7');
      const { result } = await run(`(_, _${executionCount}, Out[${executionCount}], In[${executionCount}])`);
      expect(result).toBe("(42, 42, 42, '6 * 7')");
    });

    test('a value shows every form it has', async () => {
      const { outputs } = await run(
        [
          'class Rich:',
          '    def __repr__(self): return "Rich()"',
          '    def _repr_html_(self): return "<b>rich</b>"',
          '    def _repr_markdown_(self): return "**rich**"',
          '    def _repr_svg_(self): return "<svg/>"',
          '    def _repr_png_(self): return b"\\x89PNG", {"width": 7}',
          '    def _repr_jpeg_(self): return None',
          '    def _repr_latex_(self): return "$x$"',
          '    def _repr_json_(self): return {"a": [1]}',
          'Rich()',
        ].join('\n'),
      );
      expect(outputs).toMatchObject([
        {
          output_type: 'execute_result',
          data: {
            'text/plain': 'Rich()',
            'text/html': '<b>rich</b>',
            'text/markdown': '**rich**',
            'image/svg+xml': '<svg/>',
            'image/png': 'iVBORw==',
            'text/latex': '$x$',
            'application/json': { a: [1] },
          },
          metadata: { 'image/png': { width: 7 } },
        },
      ]);
      expect(outputs[0]).not.toHaveProperty(['data', 'image/jpeg']);
    });

    test('IPython.display works as in other notebooks', async () => {
      const { outputs, stdout } = await run(
        [
          'import struct, zlib',
          'from IPython.display import HTML, IFrame, Image, Javascript, Markdown, SVG, display',
          'def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))',
          'png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))',
          'png += chunk(b"IDAT", zlib.compress(b"\\0\\xff\\0\\0")) + chunk(b"IEND", b"")',
          'print("before")',
          'display(HTML("<i>h</i>"), Markdown("# m"), SVG("<svg/>"), Javascript("1"), IFrame("net.html", 9, 7))',
          'Image(png, width=20)',
        ].join('\n'),
      );
      // A kernel sends the text of one print in as many parts as it likes.
      expect([outputs[0]?.output_type, stdout]).toEqual(['stream', 'before\n']);
      const shown = outputs.filter((output) => output.output_type !== 'stream');
      expect(shown.map((output) => 'data' in output && Object.keys(output.data as object).find((type) => type !== 'text/plain'))).toEqual([
        'text/html',
        'text/markdown',
        'image/svg+xml',
        'application/javascript',
        'text/html',
        'image/png',
      ]);
      expect(shown[4]).toMatchObject({ data: { 'text/html': expect.stringMatching(/<iframe[^>]* src="net\.html"/) } });
      expect(shown[5]).toMatchObject({ output_type: 'execute_result', metadata: { 'image/png': { width: 20 } } });
    });

    test('numbers keep their digits', { tags: ['P-659'] }, async ({ skip }) => {
      skip(harness.roundsNumbers === true, 'a page has numbers as JavaScript has them');
      const value = '{"id":1915883588174806058,"one":1.0,"tiny":1e-07,"few":[2,0.5]}';
      const show = `display({'application/json': ${value}, 'text/plain': 'x'}, raw=True, display_id='digits')`;
      const shown = await run(`from IPython.display import display, update_display\n${show}`);
      const anew = await run(`update_display({'application/json': ${value}}, raw=True, display_id='digits')`);
      const result = await run(
        `class Json:\n    def _repr_mimebundle_(self, **_): return {'application/json': ${value}, 'text/plain': 'x'}\nJson()`,
      );
      const all = [shown.outputs[0], anew.updates[0]?.output, result.outputs[0]];
      for (const output of all) expect(printJson((output as DisplayDataOutput).data['application/json'])).toBe(value);
    });

    test('a display can be shown anew, and output cleared', async () => {
      const { outputs, updates, cleared } = await run(
        'from IPython.display import clear_output\nh = display("one", display_id="d")\nh.update("two")\nclear_output(wait=True)\nclear_output()',
      );
      expect(outputs).toMatchObject([{ output_type: 'display_data', data: { 'text/plain': "'one'" } }]);
      expect(updates).toMatchObject([{ displayId: 'd', output: { data: { 'text/plain': "'two'" } } }]);
      expect(cleared).toEqual([true, false]);
    });

    test('names are completed', async () => {
      await run('import os');
      const code = '"🎈"; os.path.isd + 1';
      const { matches, start, end } = await harness.kernel.complete(code, 17);
      expect(matches.map((match) => code.slice(0, start) + match + code.slice(end))).toContain('"🎈"; os.path.isdir + 1');
    });
  });

  describe('errors', () => {
    test('have a name, a text and a traceback with the lines of the cells', async () => {
      await run('def half(x):\n    y = 2\n    return y / x\n');
      const { status, error, executionCount } = await run('import json\nhalf(0)');
      expect(status).toBe('error');
      expect(error).toMatchObject({ ename: 'ZeroDivisionError', evalue: 'division by zero' });
      const text = plain(error?.traceback.join('\n') ?? '');
      expect(text).toMatch(/-+> 2 half\(0\)/);
      expect(text).toMatch(/-+> 3 +return y \/ x/);
      expect(text).not.toMatch(/notebridge/);
      expect(await run('1')).toMatchObject({ status: 'ok', executionCount: executionCount + 1 });
    });

    test('an error of syntax is an error of the cell', async () => {
      const { status, error } = await run('x = 1\ny = (x +');
      expect(status).toBe('error');
      expect(error?.ename).toMatch(/SyntaxError$/);
      expect(plain(error?.traceback.join('\n') ?? '')).toMatch(/line 2\n.*y = \(x \+\n +\^\nSyntaxError: /s);
    });
  });

  test('the magic %time measures, and leaves the result and the names', async () => {
    const line = await run('%time total = sum(range(10))\ntotal');
    expect(line).toMatchObject({ result: '45', stdout: expect.stringMatching(/^CPU times: .*\nWall time: .*s\n$/) });
    expect((await run('%matplotlib inline\nx = 7\nx %3')).result).toBe('1');
  });

  test('await stands at the top level, also in loops and comprehensions', async () => {
    const source =
      'async def twice(x):\n    await asyncio.sleep(0.01)\n    return 2 * x\nfor i in range(2): await twice(i)\n[await twice(i) for i in range(3)]';
    expect((await run(source)).result).toBe('[0, 2, 4]');
    expect((await run('async with asyncio.timeout(1): x = await twice(4)\nx')).result).toBe('8');
  });

  describeInterrupts(() => harness);

  describe('cells', () => {
    test('run one at a time, in order, and count', async () => {
      const states: string[] = [];
      const stop = harness.kernel.onState((state) => states.push(state));
      const { executionCount } = await run('order = []');
      const sources = ['await asyncio.sleep(0.05)\norder.append(1)', '1 / 0', 'order.append(3)', 'order'];
      const all = await Promise.all(sources.map((source) => run(source)));
      stop();
      expect(all.map((ran) => ran.status)).toEqual(['ok', 'error', 'ok', 'ok']);
      expect(all.map((ran) => ran.executionCount - executionCount)).toEqual([1, 2, 3, 4]);
      expect(all[3]?.result).toBe('[1, 3]');
      expect(new Set(states)).toEqual(new Set(['busy', 'idle']));
    });

    test('leave the queue when their signal is aborted', async () => {
      const controller = new AbortController();
      let say = (): void => {};
      const begun = new Promise<void>((resolve) => {
        say = resolve;
      });
      const first = interruptWhen(harness, 'ran = "first"\nprint("begun")\nawait asyncio.sleep(100)', () => {
        say();
        return false;
      });
      const second = run('ran = "second"', controller.signal);
      controller.abort();
      expect(await second).toMatchObject({ status: 'interrupted', executionCount: 0, outputs: [] });
      await begun;
      await harness.kernel.interrupt();
      expect(await first).toMatchObject({ status: 'interrupted' });
      expect((await run('ran')).result).toBe("'first'");
    });
  });

  more?.(() => harness);

  test('what a task shows when its cell has ended comes to that cell', { tags: ['P-657'] }, async () => {
    const code = [
      'go, done = asyncio.Event(), asyncio.Event()',
      'async def late():',
      '    await go.wait()',
      "    print('late'); print('oh', file=sys.stderr); display('shown'); done.set()",
      'task = asyncio.create_task(late())',
    ];
    const first = await run(code.join('\n'));
    expect(first.outputs).toEqual([]);
    const second = await run("print('before'); go.set(); await done.wait(); print('after')");
    expect(second.stdout).toBe('before\nafter\n');
    expect(second.stderr).toBe('');
    expect(first.outputs.map(({ output_type }) => output_type).sort()).toEqual(['display_data', 'stream', 'stream']);
    expect(JSON.stringify(first.outputs)).toMatch(/late.*oh|oh.*late/);
    // While nothing runs.
    const shown = new Promise<void>((resolve) => {
      void harness.kernel.execute("asyncio.get_running_loop().call_later(0.05, print, 'a timer')", {
        onOutput: (output) => String(output.text).includes('a timer') && resolve(),
      });
    });
    await shown;
  });

  test('restart ends the running cell and those behind it, forgets the variables and counts from 1', async () => {
    let see = () => {};
    const seen = new Promise<void>((resolve) => {
      see = resolve;
    });
    const running = harness.kernel.execute('lost = 1\nprint("on")\nawait asyncio.sleep(100)', { onOutput: see });
    const behind = run('lost');
    await seen;
    await harness.kernel.restart();
    expect(await running).toMatchObject({ status: 'interrupted' });
    expect(await behind).toMatchObject({ status: 'interrupted', executionCount: 0 });
    expect(await run('lost')).toMatchObject({ executionCount: 1, status: 'error', error: { ename: 'NameError' } });
  });

  test('a kernel that dies says so, and comes back by a restart', async () => {
    const dies = (source: string, reason: RegExp) =>
      Promise.all([
        expect(run(source)).rejects.toMatchObject({ code: 'kernel_died', message: expect.stringMatching(reason) }),
        expect(run('1')).rejects.toMatchObject({ code: 'kernel_died' }),
      ]);
    // The pause lets the second cell into the queue first.
    await dies('import os, time\ntime.sleep(0.2)\nos._exit(3)', /ended itself with status 3|ended with code 3/);
    expect(harness.kernel.state).toBe('dead');
    await expect(run('1')).rejects.toMatchObject({ code: 'kernel_dead', message: expect.stringMatching(/Restart it/) });
    await harness.kernel.restart();
    expect(await run('1')).toMatchObject({ executionCount: 1, result: '1' });
  });

  test('a closed kernel runs nothing', async () => {
    await harness.kernel.close();
    await harness.kernel.close();
    expect(harness.kernel.state).toBe('dead');
    await expect(run('1')).rejects.toMatchObject({ code: 'kernel_closed' });
  });
}
