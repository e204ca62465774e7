/** What a Python kernel of ours does, wherever it runs: one body for a process of Node and for a Worker of Chromium. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { describeInterrupts } from './interrupt-behaviour.js';
import type { KernelHarness } from './support/kernel-harness.js';
import { plain, type Ran, runCell } from './support/run-cell.js';

export function describeKernel<Harness extends KernelHarness>(open: () => Promise<Harness>, more?: (get: () => Harness) => void): void {
  let harness: Harness;
  const run = (source: string, signal?: AbortSignal): Promise<Ran> => runCell(harness, source, signal);

  beforeAll(async () => {
    harness = await open();
    await harness.kernel.start();
  });
  beforeEach(async () => {
    if (harness.kernel.state !== 'dead') await run('import asyncio, os, sys, time');
  });
  afterAll(() => harness?.close());

  test('is Python, ready for the first cell', () => {
    expect(harness.kernel.state).toBe('idle');
    expect(harness.kernel.info).toMatchObject({ language: 'python', version: expect.stringMatching(/^3\.\d+\.\d+/) });
  });

  describe('what a cell shows', () => {
    test('streams come while the cell runs, also half a line and also while it computes', async () => {
      const { outputs, atMs, elapsedMs, stdout, stderr } = await run(
        [
          "print('first'); print('oh', file=sys.stderr); print('half', end='')",
          'end = time.monotonic() + 1.2',
          'while time.monotonic() < end: pass',
          "print(' a line')",
        ].join('\n'),
      );
      expect(stdout).toBe('first\nhalf a line\n');
      expect(stderr).toBe('oh\n');
      expect(outputs.slice(0, 3).map((output) => output.output_type === 'stream' && output.text)).toEqual(['first\n', 'oh\n', 'half']);
      expect(elapsedMs - (atMs[2] ?? elapsedMs)).toBeGreaterThan(300);
    });

    test('what is printed before time.sleep and before an await is seen at once', async () => {
      const { atMs, elapsedMs } = await run("print('a', end='')\ntime.sleep(0.4)\nprint('b', end='')\nawait asyncio.sleep(0.4)");
      expect(elapsedMs - (atMs[0] ?? elapsedMs)).toBeGreaterThan(600);
      expect(elapsedMs - (atMs[1] ?? elapsedMs)).toBeGreaterThan(200);
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

    test('a form that fails or is wrong is said on stderr, and the others show', async () => {
      const { outputs, stderr, status } = await run(
        [
          'class Odd:',
          '    def __repr__(self): return "Odd() \\ud800"',
          '    def _repr_html_(self): return 1 / 0',
          '    def _repr_json_(self): return float("nan")',
          '    def _repr_mimebundle_(self, include=None, exclude=None): return {"text/latex": 5, "text/markdown": "m"}',
          'Odd()',
        ].join('\n'),
      );
      expect(status).toBe('ok');
      expect(stderr).toMatch(/_repr_html_ failed: ZeroDivisionError/);
      expect(stderr).toMatch(/text\/latex: a int/);
      expect(outputs.at(-1)).toMatchObject({ data: { 'text/plain': 'Odd() \\ud800', 'text/markdown': 'm' } });
    });

    test('wide containers are laid out over lines', async () => {
      expect((await run('{"numbers": list(range(30)), "t": (1,)}')).result).toMatch(
        /^\{'numbers': \[0,\n {13}1,\n[^]*29\],\n 't': \(1,\)\}$/,
      );
      expect((await run('list(range(5000))')).result).toMatch(/999,\n \.\.\.\]$/);
      expect((await run('a = [1]; a.append(a); a')).result).toBe('[1, [...]]');
    });

    test('IPython.display works as in other notebooks', async () => {
      const { outputs } = await run(
        [
          'import struct, zlib',
          'from IPython.display import HTML, Image, Markdown, SVG, display',
          'def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))',
          'png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))',
          'png += chunk(b"IDAT", zlib.compress(b"\\0\\xff\\0\\0")) + chunk(b"IEND", b"")',
          'print("before")',
          'display(HTML("<i>h</i>"), Markdown("# m"), SVG("<svg/>"))',
          'Image(png, width=20)',
        ].join('\n'),
      );
      expect(outputs.map((output) => ('data' in output ? Object.keys(output.data as object)[0] : output.output_type))).toEqual([
        'stream',
        'text/html',
        'text/markdown',
        'image/svg+xml',
        'image/png',
      ]);
      expect(outputs[4]).toMatchObject({ output_type: 'execute_result', metadata: { 'image/png': { width: 20 } } });
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
      const { matches, start, end } = await harness.kernel.complete('os.path.isd', 11);
      expect({ start, end }).toEqual({ start: 0, end: 11 });
      expect(matches).toContain('os.path.isdir');
    });
  });

  describe('errors', () => {
    test('show the frames of cells, with the lines around, and libraries in one line', async () => {
      const first = await run('def half(x):\n    y = 2\n    return y / x\n');
      const second = await run('import json\nclass Half(dict):\n    def items(self):\n        half(0)\njson.dumps(Half(a=1), indent=1)');
      expect(second.status).toBe('error');
      expect(second.error).toMatchObject({ ename: 'ZeroDivisionError', evalue: 'division by zero' });
      const text = plain(second.error?.traceback.join('\n') ?? '');
      expect(text).toMatch(/^-{75}\nZeroDivisionError +Traceback \(most recent call last\)\n/);
      expect(text).toContain(`<cell ${second.executionCount}> line 5\n`);
      expect(text).toContain(
        `<cell ${first.executionCount}> line 3, in half\n      1 def half(x):\n      2     y = 2\n----> 3     return y / x`,
      );
      expect(text).toMatch(/^File \/lib\/python\d+\.zip\/json\/\w+\.py line \d+, in \w+ \(and \d+ more\)$/m);
      expect(text).not.toMatch(/notebridge/);
      expect(text).toMatch(/\nZeroDivisionError: division by zero$/);
    });

    test('a SyntaxError has its caret and the name of the cell', async () => {
      const { error, executionCount } = await run('x = 1\ny = (x +');
      expect(error?.ename).toBe('SyntaxError');
      expect(plain(error?.traceback.join('\n') ?? '')).toBe(
        `  <cell ${executionCount}> line 2\n    y = (x +\n        ^\nSyntaxError: '(' was never closed`,
      );
    });

    test('causes, groups, notes, deep recursion and errors without text are shown whole', async () => {
      const { error } = await run(
        'try:\n    {}["k"]\nexcept KeyError as e:\n    e.add_note("a note")\n    raise ValueError("no k") from e',
      );
      const text = plain(error?.traceback.join('\n') ?? '');
      expect(text).toMatch(
        /KeyError: 'k'\na note\n\nThe above exception was the direct cause of the following exception:\n\n-+\nValueError/,
      );
      expect(plain((await run('raise ExceptionGroup("g", [OSError(1)])')).error?.traceback.at(-1) ?? '')).toMatch(
        /g \(1 sub-exception\)\n +OSError: 1/,
      );
      expect(plain((await run('def f(): f()\nf()')).error?.traceback.join('\n') ?? '')).toMatch(/skipping \d+ similar frames/);
      const odd = 'class Odd(Exception):\n    def __str__(self): raise OSError\nraise Odd';
      expect((await run(odd)).error).toMatchObject({ ename: 'Odd', evalue: "<Odd whose text can't be had>" });
    });

    test.each([
      ['input("name? ")', /input\(\) is not available/],
      ['breakpoint()', /no terminal for the debugger/],
      ['!ls -l', /no shell in this notebook, so '!ls -l' can't run/],
      ['%pip install numpy', /Packages can't be installed/],
      ['!pip install numpy', /Packages can't be installed/],
      ['files = !ls', /no shell/],
      ['%%bash\nls', /%%bash is not available/],
      ['%timeit 1', /%timeit is not available/],
      ['len?', /Use help\(len\)/],
      ['os.system("ls")', /no shell/],
      ['import subprocess\nsubprocess.run(["ls"])', /does not support processes/],
      ['asyncio.run(asyncio.sleep(0))', /Write: await main\(\)/],
    ])('%j says what to do instead', async (source, message) => {
      const { status, error, stderr } = await run(source);
      expect(status).toBe('error');
      expect(error?.evalue).toMatch(message);
      expect(stderr).toBe('');
    });

    test('sys.exit ends the cell and nothing else', async () => {
      expect(await run('print(1)\nsys.exit()')).toMatchObject({ status: 'ok', stdout: '1\n' });
      expect((await run('exit(3)')).error).toMatchObject({ ename: 'SystemExit', evalue: '3' });
      expect((await run('1')).status).toBe('ok');
    });
  });

  test('%time and %%time measure, and leave the result and the names', async () => {
    const line = await run('%time total = sum(range(10))\ntotal');
    expect(line).toMatchObject({ result: '45', stdout: expect.stringMatching(/^CPU times: .*\nWall time: .*s\n$/) });
    expect(await run('%%time\nawait asyncio.sleep(0)\ntotal + 1')).toMatchObject({ result: '46' });
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
      const first = run('await asyncio.sleep(0.1)\nran = "first"');
      const second = run('ran = "second"', controller.signal);
      controller.abort();
      expect(await second).toMatchObject({ status: 'interrupted', executionCount: 0, outputs: [] });
      await first;
      expect((await run('ran')).result).toBe("'first'");
    });
  });

  more?.(() => harness);

  test('restart ends the running cell and those behind it, forgets the variables and counts from 1', async () => {
    const running = run('lost = 1\nprint("on")\nawait asyncio.sleep(100)');
    const behind = run('lost');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await harness.kernel.restart();
    expect(await running).toMatchObject({ status: 'interrupted', stdout: 'on\n' });
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
    await dies('import os, time\ntime.sleep(0.2)\nos._exit(3)', /ended itself with status 3/);
    expect(harness.kernel.state).toBe('dead');
    await expect(run('1')).rejects.toMatchObject({ code: 'kernel_dead', message: expect.stringMatching(/Restart it/) });
    await harness.kernel.restart();
    expect(await run('1')).toMatchObject({ executionCount: 1, result: '1' });
    await dies('import time\ntime.sleep(0.2)\ndeep = []\nfor i in range(10**6): deep = [deep]\nrepr(deep)', /Maximum call stack/);
    expect(harness.kernel.state).toBe('dead');
  });

  test('a closed kernel runs nothing', async () => {
    await harness.kernel.close();
    await harness.kernel.close();
    expect(harness.kernel.state).toBe('dead');
    await expect(run('1')).rejects.toMatchObject({ code: 'kernel_closed' });
  });
}
