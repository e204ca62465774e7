/** What Pyodide does beyond what every Python kernel does: its own display, tracebacks and advice. */
import { describe, expect, test } from 'vitest';
import type { KernelHarness } from './support/kernel-harness.js';
import { interruptWhen, plain, type Ran, runCell } from './support/run-cell.js';

export function describePyodide(get: () => KernelHarness): void {
  const run = (source: string, signal?: AbortSignal): Promise<Ran> => runCell(get(), source, signal);

  describe('what a cell of Pyodide shows', () => {
    test('streams come while the cell runs, also half a line and also while it computes', async () => {
      const { status, outputs, stdout, stderr } = await interruptWhen(
        get(),
        [
          'try:',
          "    print('first'); print('oh', file=sys.stderr); print('half', end='')",
          '    while True: pass',
          "except KeyboardInterrupt: print(' a line')",
        ].join('\n'),
        ({ length }) => length === 3,
      );
      expect(status).toBe('ok');
      expect(stdout).toBe('first\nhalf a line\n');
      expect(stderr).toBe('oh\n');
      expect(outputs.slice(0, 3).map((output) => output.output_type === 'stream' && output.text)).toEqual(['first\n', 'oh\n', 'half']);
    });

    test('a cell shows at once what is printed before time.sleep and before an await', async () => {
      for (const wait of ['time.sleep(100)', 'await asyncio.sleep(100)'])
        expect(await interruptWhen(get(), `print('a', end='')\n${wait}`, ({ length }) => length === 1)).toMatchObject({
          status: 'interrupted',
          stdout: 'a',
        });
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
  });

  describe('errors of Pyodide', () => {
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
      ['input("name? ")', /input\(\) (is not available|got no answer)/],
      ['breakpoint()', /no terminal for the debugger/],
      ['!ls -l', /no shell in this notebook, so '!ls -l' can't run/],
      ['%pip install numpy', /Packages can't be installed.*--kernel PATH/],
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

    test.each([
      ['import numpy', /^No module named 'numpy'$/, /--kernel PATH.*PATH\/TO\/python -m pip install numpy/],
      ['from sklearn.svm import SVC', /^No module named 'sklearn'$/, /--kernel PATH.*pip install scikit-learn/],
      ['import my_helper', /^No module named 'my_helper'$/, /--kernel PATH\/TO\/python$/],
    ])('%j names the ways to have a package', async (source, message, advice) => {
      const { error } = await run(source);
      expect(error?.evalue).toMatch(message);
      expect(plain(error?.traceback.join('\n') ?? '')).toMatch(advice);
      expect(plain(error?.traceback.join('\n') ?? '')).not.toMatch(/micropip/);
    });

    test('sys.exit ends the cell and nothing else', async () => {
      expect(await run('print(1)\nsys.exit()')).toMatchObject({ status: 'ok', stdout: '1\n' });
      expect((await run('exit(3)')).error).toMatchObject({ ename: 'SystemExit', evalue: '3' });
      expect((await run('1')).status).toBe('ok');
    });
  });

  test('the magic %%time measures a cell, also one with await', async () => {
    await run('import asyncio; total = 45');
    expect(await run('%%time\nawait asyncio.sleep(0)\ntotal + 1')).toMatchObject({ result: '46' });
  });

  test('an interrupt that meets our own first steps of a cell ends the cell, not the kernel', async () => {
    // `current_task` is what we ask first: a signal that comes with it comes before the cell.
    await run(
      [
        'import asyncio, signal',
        'real = asyncio.current_task',
        'def hooked(*given):',
        '    asyncio.current_task = real',
        '    signal.raise_signal(signal.SIGINT)',
        '    return real(*given)',
        'asyncio.current_task = hooked',
      ].join('\n'),
    );
    expect(await run('begun = 1')).toMatchObject({ status: 'interrupted', error: { ename: 'KeyboardInterrupt' } });
    expect(await run('"begun" in globals()')).toMatchObject({ status: 'ok', result: 'False' });
  });

  test('an interrupt ends one long print', async () => {
    const { status } = await get().measure('print("x" * 300_000_000)', { interruptAfterMs: 150 });
    expect(status).toBe('interrupted');
  });

  test('code that breaks JavaScript ends the kernel, which says so', async () => {
    const source = 'deep = []\nfor i in range(10**6): deep = [deep]\nrepr(deep)';
    await expect(run(source)).rejects.toMatchObject({ code: 'kernel_died', message: expect.stringMatching(/Maximum call stack/) });
    expect(get().kernel.state).toBe('dead');
    await get().kernel.restart();
  });
}
