// @module-tag deep
// @module-tag P-263

/** `%pip` in Pyodide: real wheels from an index on loopback, by way of the host. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { KernelHarness } from './support/kernel-harness.js';
import { openNodeHarness } from './support/node-harness.js';
import { plain, runCell } from './support/run-cell.js';
import { makeWheel, PackageIndex } from './support/wheels.js';

const startMs = 60_000;
const index = new PackageIndex();
let harness: KernelHarness;

beforeAll(async () => {
  await index.open();
  harness = await openNodeHarness({
    allowNet: [`index.example:${index.port}`],
    relaySeam: { lookup: async () => ['127.0.0.1'], mayConnect: (address) => address === '127.0.0.1' },
  });
  await harness.kernel.start();
  index.addWheel({ name: 'plain', version: '1.0' });
  index.addWheel({ name: 'plain', version: '1.10' });
  index.addWheel({ name: 'plain', version: '1.9' });
  index.addWheel({ name: 'plain', version: '2.0rc1' });
  index.addWheel({
    name: 'needy',
    version: '1.0',
    needs: [
      'Plain >=1.0,<1.10',
      'never; sys_platform == "win32"',
      'never ; python_version < "3.8"',
      'more; extra == "all"',
      'emscripten-only; sys_platform == "emscripten"',
    ],
  });
  index.addWheel({ name: 'more', version: '3', needs: ['needy[all]'] });
  index.addWheel({ name: 'emscripten-only', version: '0.1' });
}, startMs);
afterAll(async () => {
  await harness?.close();
  await index.close();
});
beforeEach(() => {
  index.asked.length = 0;
});

const url = (path = 'simple') => `http://index.example:${index.port}/${path}`;
const run = (...lines: string[]) => runCell(harness, lines.join('\n'));
const pip = (text: string, path?: string) => run(`%pip install --index-url ${url(path)} ${text}`);
const failure = async (text: string) => plain((await pip(text)).error?.evalue ?? '');
const isThere = async (name: string) => (await run(`import importlib.util as u; u.find_spec("${name}") is not None`)).result;

describe('code installs', () => {
  test('the newest pure wheel that fits, with what it needs here', async () => {
    const { stdout, error } = await pip('needy');
    expect(error?.traceback).toBeUndefined();
    expect(stdout).toMatch(/Installed needy 1\.0, plain 1\.9, emscripten-only 0\.1, until this Python is restarted/);
    expect((await run('import needy, plain, importlib.metadata as m', 'needy.version, plain.version, m.version("needy")')).result).toBe(
      "('1.0', '1.9', '1.0')",
    );
    expect(index.asked.join()).not.toMatch(/never|more/);
  });

  test(
    'an extra brings what it asks for, also where packages need one another',
    async () => {
      expect((await pip('"needy[all]"')).stdout).toMatch(/There already|Installed needy/);
      await harness.kernel.restart();
      expect((await pip('"needy[all]" plain')).stdout).toMatch(/needy 1\.0, plain 1\.9, .*more 3|needy 1\.0.*more 3.*/);
      expect((await run('import more', 'more.version')).result).toBe("'3'");
    },
    startMs,
  );

  test('another version instead, and says that what was imported stays', async () => {
    await run('import plain');
    expect((await pip('plain==1.0')).stdout).toMatch(/Installed plain 1\.0[^]*Another version was there \(plain\)/);
    expect((await run('%pip list')).stdout).toMatch(/^plain==1\.0$/m);
    expect((await pip('plain')).stdout).toMatch(/There already: plain/);
    expect((await pip('-U plain')).stdout).toMatch(/Installed plain 1\.10/);
    expect((await pip('--pre -q plain>=2.0rc0')).stdout).toMatch(/Installed plain 2\.0rc1/);
  });

  test('an index of HTML serves !pip, python -m pip and micropip', async () => {
    index.addWheel({ name: 'by-html', version: '1' });
    index.add('by-html', { wheel: makeWheel({ name: 'by-html', version: '9' }), python: '>=99' });
    expect((await pip('by_html', 'html')).stdout).toMatch(/Installed by-html 1,/);
    for (const [at, begin] of ['!pip', '!pip3', '!python -m pip', '!python3 -m pip'].entries()) {
      index.addWheel({ name: `by-shell${at}`, version: '1' });
      expect((await run(`${begin} install -i ${url()} by-shell${at}`)).stdout, begin).toMatch(/Installed/);
    }
    index.addWheel({ name: 'by-micropip', version: '1' });
    const { error } = await run('import micropip', `await micropip.install("by-micropip", index_urls="${url()}")`, 'import by_micropip');
    expect(error).toBeUndefined();
  });
});

describe('code is refused', () => {
  test('an index that is not allowed, with the options that would allow it', async () => {
    const { error } = await run('%pip install another');
    expect(plain(error?.evalue ?? '')).toMatch(/--allow-net pypi\.org --allow-net files\.pythonhosted\.org$/);
    expect((await run('%pip install -i https://other.example:8443/simple another')).error?.evalue).toMatch(
      /--allow-net other\.example:8443$/,
    );
  });

  test('a package that is not pure is refused, with the ways out', async () => {
    index.add('numpy', { wheel: 'numpy-2.0-cp314-cp314-manylinux_2_28_x86_64.whl' }, { wheel: 'numpy-2.0.tar.gz' });
    expect(await failure('numpy')).toMatch(/no pure wheel[^]*--kernel PATH[^]*-m pip install numpy$/);
    expect((await run('%pip install pandas')).error?.evalue).toMatch(/no pure wheel[^]*-m pip install pandas$/);
    index.add('only-source', { wheel: 'only-source-2.0.tar.gz' });
    expect(await failure('only-source')).toMatch(/comes as source/);
  });

  test.each([
    ['wrong-hash', { sha256: 'b'.repeat(64) }, /not what the index says/],
    ['no-hash', { sha256: null }, /no pure wheel/],
    ['yanked', { yanked: true }, /has no file/],
    ['too-new', { python: '>=99' }, /no pure wheel/],
  ] as const)('a package is refused for what the index says of it: %s', async (name, said, expected) => {
    index.add(name, { wheel: makeWheel({ name, version: '1' }), ...said });
    expect(await failure(name)).toMatch(expected);
    expect(await isThere(name.replace('-', '_'))).toBe('False');
  });

  test.each(['../../home/evil.py', '/tmp/evil.py', 'a/../../../../tmp/evil.py', 'a//b.py', '..\\evil.py', 'x.data/purelib/../evil.py'])(
    'a wheel that holds %j',
    async (path) => {
      const name = `evil${Buffer.from(path).toString('hex').slice(0, 12)}`;
      index.add(name, { wheel: makeWheel({ name, version: '1', files: { [path]: 'evil = 1\n' } }) });
      expect(await failure(name)).toMatch(/outside of itself/);
      expect((await run('import glob', 'glob.glob("/**/*evil.py", recursive=True)')).result).toBe('[]');
    },
  );

  test('one of several that is missing: then none is installed', async () => {
    index.addWheel({ name: 'good', version: '1' });
    expect(await failure('good nosuch')).toMatch(/no package 'nosuch'/);
    // One line: nothing in the cell's own code is at fault.
    expect((await pip('nosuch')).error?.traceback.map(plain)).toEqual([
      expect.stringMatching(/^InstallError: There is no package 'nosuch'/),
    ]);
    expect(await isThere('good')).toBe('False');
  });

  test('requirements that exclude one another, and what is none', async () => {
    index.addWheel({ name: 'one', version: '1', needs: ['plain<1.5'] });
    index.addWheel({ name: 'two', version: '1', needs: ['plain>=1.9'] });
    expect(await failure('one two')).toMatch(/fits plain<1\.5 and plain>=1\.9; the newest of those is 2\.0rc1/);
    for (const text of ['https://example.org/a.whl', './a.whl', '"plain @ file:///etc/passwd"', 'plain>>1', 'plain=='])
      expect(await failure(text), text).toMatch(/%pip install:/);
    expect(await failure('--target /tmp plain')).toMatch(/--target is not known here/);
    expect((await run('%pip uninstall plain')).error?.evalue).toMatch(/this notebook has: %pip install/);
  });

  test('an index that answers nonsense', async () => {
    index.add('nonsense', { wheel: { filename: 'nonsense-1-py3-none-any.whl', bytes: Buffer.from('no zip') } });
    expect(await failure('nonsense')).toMatch(/is no wheel/);
    expect((await run(`%pip install -i ${url('files/nothing')} another`)).error?.evalue).toMatch(/no package|answered/);
  });
});

test('a package that is missing names the ways to have it', async () => {
  expect((await run('import networkx')).error?.traceback.join('\n')).toMatch(
    /--kernel PATH[^]*%pip install networkx, with --allow-net pypi\.org/,
  );
  expect((await run('import numpy')).error?.traceback.join('\n')).not.toMatch(/%pip/);
});
