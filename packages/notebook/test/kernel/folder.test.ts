// @module-tag deep

/** The notebook's folder as code in Pyodide has it: a real kernel, in the sandbox where one works, and a real folder. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { walkByHandles } from '@notebridge/system/files/handle-walk';
import { walkByPath } from '@notebridge/system/files/path-walk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../host/support/until.js';
import type { KernelHarness } from './support/kernel-harness.js';
import { openNodeHarness } from './support/node-harness.js';
import { plain, runCell } from './support/run-cell.js';

const startMs = 60_000;
let base: string;
let folder: string;
let harness: KernelHarness;
/** While it is set, the host answers nothing from this question on. */
let heldFrom = 1;
let held: Promise<void> | undefined;
let asked = 0;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-pyodide-folder-')));
  folder = join(base, 'in');
  mkdirSync(join(folder, 'sub'), { recursive: true });
  writeFileSync(join(base, 'secret'), 'a key');
  writeFileSync(join(folder, 'data.csv'), 'a,b\n1,2\n');
  writeFileSync(join(folder, 'helper.py'), 'def fail():\n    return 1 / 0\n');
  writeFileSync(join(folder, 'sub', 'näme.txt'), 'deep');
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/bad`), Buffer.from([0xff])]), '');
  symlinkSync('sub', join(folder, 'way'));
  symlinkSync(base, join(folder, 'off'));
  if (process.platform !== 'win32') execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(folder, 'pipe')]);
  const walk: typeof walkByPath = async (place, path) => {
    asked++;
    if (asked >= heldFrom) await held;
    return (process.platform === 'linux' ? walkByHandles : walkByPath)(place, path);
  };
  harness = await openNodeHarness({ folder: { folder, walk } });
  await harness.kernel.start();
}, startMs);
afterAll(async () => {
  await harness?.close();
  rmSync(base, { recursive: true, force: true });
});

const run = (...lines: string[]) => runCell(harness, ['import os, csv, glob, pathlib', ...lines].join('\n'));
const failure = async (...lines: string[]) => {
  const { error } = await run(...lines);
  return `${error?.ename}: ${error?.evalue}\n${plain(error?.traceback.at(-1) ?? '')}`;
};

describe('code reads', () => {
  test('files, lists and trees, where it begins', async () => {
    const { stdout, error } = await run(
      'print(os.getcwd(), list(csv.reader(open("data.csv"))), open("way/näme.txt").read())',
      'print(sorted(os.listdir(".")), sorted(map(str, pathlib.Path(".").glob("**/*.txt"))), glob.glob("*.csv"))',
      'print([(e.name, e.is_dir(), e.is_symlink()) for e in sorted(os.scandir("."), key=lambda e: e.name) if e.name in ("sub", "way", "off")])',
      'print(os.path.getsize("data.csv"), os.path.realpath("way"), os.path.exists("off"), os.path.exists("/notebook/none"))',
      'print([sorted(names) for _, _, names in os.walk("sub")], list(open("/notebook/sub/../data.csv"))[0])',
    );
    expect(error?.traceback).toBeUndefined();
    expect(stdout.split('\n')).toEqual([
      "/notebook [['a', 'b'], ['1', '2']] deep",
      "['data.csv', 'helper.py', 'off', 'pipe', 'sub', 'way'] ['sub/näme.txt'] ['data.csv']",
      "[('off', False, True), ('sub', True, False), ('way', True, True)]",
      '8 /notebook/sub False False',
      "[['näme.txt']] a,b",
      '',
      '',
    ]);
  });

  test('code sees what is new, and what has grown, at once', async () => {
    expect((await run('f = open("data.csv"); f.read()', 'len(os.listdir())')).result).toBe('6');
    writeFileSync(join(folder, 'new.txt'), 'new');
    appendFileSync(join(folder, 'data.csv'), '3,4\n');
    expect((await run('f.read() + open("new.txt").read()')).result).toBe("'3,4\\nnew'");
    rmSync(join(folder, 'new.txt'));
    expect(await failure('open("new.txt")')).toMatch(/^FileNotFoundError/);
  });

  test('a file in pieces, from anywhere in it, and as much as it asks for', async () => {
    const bytes = Buffer.from(Array.from({ length: 5_000_000 }, (_, at) => (at * 7919) >> 3));
    writeFileSync(join(folder, 'large.bin'), bytes);
    const { stdout } = await run(
      'import hashlib; f = open("large.bin", "rb"); print(hashlib.file_digest(f, "sha256").hexdigest())',
      'print(f.seek(-3, 2), list(f.read(9)), f.seek(1_000_000), f.read(2).hex(), len(f.read()))',
      'print(os.pread(f.fileno(), 4, 4_999_999).hex(), os.pread(f.fileno(), 4, 5_000_000), os.read(os.dup(f.fileno()), 1))',
    );
    const digest = createHash('sha256').update(bytes).digest('hex');
    expect(stdout.split('\n')).toEqual([
      digest,
      `4999997 [${[...bytes.subarray(-3)].join(', ')}] 1000000 ${bytes.subarray(1_000_000, 1_000_002).toString('hex')} 3999998`,
      `${bytes.subarray(-1).toString('hex')} b'' b''`,
      '',
    ]);
    rmSync(join(folder, 'large.bin'));
  });

  test('a list of 5,000 names, which is asked for once', async () => {
    mkdirSync(join(folder, 'many'));
    for (let n = 0; n < 5000; n++) writeFileSync(join(folder, 'many', `n${n}.txt`), '');
    asked = 0;
    expect((await run('len(os.listdir("many")), sum(entry.is_file() for entry in os.scandir("many"))')).result).toBe('(5000, 5000)');
    expect(asked).toBeLessThan(20);
    rmSync(join(folder, 'many'), { recursive: true });
  });

  test('modules of the folder, after those of the library, and sees where they fail', async () => {
    writeFileSync(join(folder, 'json.py'), 'raise SystemExit("not this one")');
    const { error } = await run('import json, helper', 'helper.fail()');
    expect(plain(error?.traceback.join('\n') ?? '')).toMatch(/\/notebook\/helper\.py line 2[^]*return 1 \/ 0[^]*ZeroDivisionError/);
    rmSync(join(folder, 'json.py'));
  });
});

describe('code is refused', () => {
  test.each([
    'open("new.txt", "w")',
    'open("data.csv", "a")',
    'open("data.csv", "r+")',
    'os.open("data.csv", os.O_RDONLY | os.O_TRUNC)',
    'os.remove("data.csv")',
    'os.mkdir("more")',
    'os.rmdir("sub")',
    'os.rename("data.csv", "other.csv")',
    'os.symlink("data.csv", "other.csv")',
    'os.chmod("data.csv", 0o777)',
    'os.utime("data.csv")',
    'os.truncate("data.csv", 0)',
    'pathlib.Path("data.csv").write_text("gone")',
  ])('no cell writes in a read-only folder, and each is told what would: %s', async (source) => {
    const before = readdirSync(folder);
    expect(await failure(source)).toMatch(/^(PermissionError|OSError)[^]*read-only for this Python[^]*\/tmp[^]*--files rw/);
    expect(readdirSync(folder)).toEqual(before);
    expect(readFileSync(join(folder, 'data.csv'), 'utf8')).toMatch(/^a,b\n1,2\n/);
  });

  test('nothing outside is given, by whatever path, and nothing that is no file', async () => {
    const outside = JSON.stringify(join(base, 'secret'));
    for (const path of [outside, '"../secret"', '"sub/../../secret"', '"/etc/passwd"', '"/notebook/../etc/passwd"', '"/proc/self/environ"'])
      expect(await failure(`open(${path})`), path).toMatch(/^FileNotFoundError/);
    for (const path of ['"off/secret"', '"off"']) expect(await failure(`open(${path})`), path).toMatch(/^FileNotFoundError[^]*off/);
    expect(await failure('open("off")')).toMatch(/off leads out of the folder of the notebook/);
    expect(await failure('open("pipe")')).toMatch(/^PermissionError[^]*pipe is no regular file/);
    expect(await failure('open(b"bad\\xff")')).toMatch(/^FileNotFoundError/);
    expect(await failure('os.listdir("data.csv")')).toMatch(/^NotADirectoryError/);
    expect(await failure('open("n" * 300)')).toMatch(/^OSError/);
  });

  test('many refusals lose no descriptor', async () => {
    const source = ['for _ in range(4200):', '    try: open("pipe")', '    except OSError: pass', 'open("data.csv").readline()'];
    expect((await run(...source)).result).toBe("'a,b\\n'");
    expect(await failure('kept = [open("data.csv") for _ in range(100)]')).toMatch(/^OSError: \[Errno 33\]/);
    expect((await run('kept = None', 'open("data.csv").readline()')).result).toBe("'a,b\\n'");
  }, 60_000);
});

test.each([
  { question: 1, of: 'looking at the file' },
  { question: 2, of: 'opening it' },
])('an interrupt ends the wait for a host that does not answer: $of', async ({ question }) => {
  // As many files as can be open now.
  const room = ['kept = f = None', 'kept = []', 'while True:', '    try: kept.append(open("data.csv"))', '    except OSError: break'];
  const count = async () => (await run(...room, 'count, kept = len(kept), None', 'count')).result;
  const before = await count();
  expect(Number(before)).toBeGreaterThan(50);
  let release = () => {};
  held = new Promise((resolve) => {
    release = resolve;
  });
  asked = 0;
  heldFrom = question;
  const running = run('try:', '    open("data.csv").read()', 'finally:', '    print("over")');
  await until(() => asked === question);
  await harness.kernel.interrupt();
  expect(await running).toMatchObject({ status: 'interrupted', stdout: 'over\n' });
  release();
  held = undefined;
  // What the host has opened for a wait that is over is closed again.
  expect((await run('open("data.csv").readline()')).result).toBe("'a,b\\n'");
  expect(await count()).toBe(before);
});

test(
  'a restart begins with nothing open, in the same folder',
  async () => {
    await run('kept = [open("data.csv") for _ in range(60)]');
    await harness.kernel.restart();
    expect((await run('len([open("data.csv") for _ in range(60)]), os.getcwd()')).result).toBe("(60, '/notebook')");
  },
  startMs,
);

test(
  'code without a folder has none, and is told which option gives it',
  async () => {
    const other = await openNodeHarness();
    try {
      const { error } = await runCell(other, 'open("data.csv")');
      expect(plain(error?.traceback.at(-1) ?? '')).toMatch(/FileNotFoundError[^]*no files of this machine[^]*--files ro/);
      expect((await runCell(other, 'import os; os.path.exists("/notebook")')).result).toBe('False');
    } finally {
      await other.close();
    }
  },
  startMs,
);
