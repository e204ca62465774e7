// @module-tag deep
// @module-tag P-457

/** Files that code writes into the folder for whoever runs it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Written } from '../../src/kernel/written-files.js';
import type { KernelHarness } from './support/kernel-harness.js';
import { openNodeHarness } from './support/node-harness.js';
import { runCell } from './support/run-cell.js';

const startMs = 60_000;
const bounds = { maxFiles: 20, maxBytes: 1024 * 1024 };
let harness: KernelHarness;
beforeAll(async () => {
  harness = await openNodeHarness({ givesFiles: true });
}, startMs);
afterAll(() => harness?.close());

async function run(source: string): Promise<void> {
  const { status, error } = await runCell(harness, source);
  expect({ status, error }).toEqual({ status: 'ok', error: undefined });
}

async function take(more: Partial<typeof bounds> = {}): Promise<Written> {
  const written = await harness.kernel.takeWritten?.({ ...bounds, ...more });
  if (written === undefined) throw new Error('The kernel has answered nothing.');
  return written;
}

const names = ({ files }: Written): string[] => files.map(({ path }) => path);
const textOf = ({ files }: Written, path: string): string =>
  new TextDecoder().decode(files.find((file) => file.path === path)?.data ?? new Uint8Array(0));

beforeEach(async () => {
  await run(
    'import os, shutil\nos.path.islink("/out") and os.remove("/out")\nshutil.rmtree("/out", ignore_errors=True)\nos.makedirs("/out")',
  );
  await take();
});

test('are given whole, also from folders in it, and not again before they have changed', { tags: ['P-456'] }, async () => {
  await run('open("/out/b.txt", "w").write("bee")\nos.makedirs("/out/deep/er")\nopen("/out/deep/er/a", "w").write("aye")');
  const first = await take();
  expect(names(first)).toEqual(['b.txt', 'deep/er/a']);
  expect([textOf(first, 'b.txt'), textOf(first, 'deep/er/a')]).toEqual(['bee', 'aye']);
  expect(names(await take())).toEqual([]);
  await run(
    'with open("/out/b.txt", "a") as file: file.write("s")\nopen("/tmp/other", "w").write("x")\nos.replace("/tmp/other", "/out/deep/er/a")',
  );
  const second = await take();
  expect([textOf(second, 'b.txt'), textOf(second, 'deep/er/a')]).toEqual(['bees', 'x']);
});

test('written files of which there are too many, or too large ones, are named and counted', async () => {
  await run('for n in range(40): open(f"/out/{n:02}", "w").write("x" * 10)\nopen("/out/00", "w").write("x" * 2_000_000)');
  const written = await take({ maxFiles: 5 });
  expect(names(written)).toEqual(['01', '02', '03', '04', '05']);
  expect(written.leftOut[0]).toEqual({ path: '00', bytes: 2_000_000, why: 'bytes' });
  expect(written.leftOut[1]).toEqual({ path: '06', bytes: 10, why: 'files' });
  expect([written.leftOut.length, written.more]).toEqual([10, 25]);
});

test('are not looked for among ten thousand, nor down a hundred folders', async () => {
  await run('for n in range(10_000): open(f"/out/{n}", "w").close()\nos.makedirs("/out/" + "/".join(["d"] * 100))');
  const written = await take();
  expect(written.files).toHaveLength(20);
  expect(written.unseen).toBe(10_001 - 2000);
  await run('shutil.rmtree("/out")\nos.makedirs("/out/" + "/".join(["d"] * 100))\nopen("/out/" + "d/" * 50 + "x", "w").close()');
  expect(await take()).toMatchObject({ files: [], unseen: 0, leftOut: [{ path: Array(9).fill('d').join('/'), why: 'depth' }] });
});

test('are no links, devices or what lies behind them, and the folder is no link', async () => {
  await run(`
os.symlink("/lib", "/out/lib")
os.symlink("/etc/passwd", "/out/passwd")
os.symlink("/out", "/out/loop")
open("/out/real", "w").write("real")`);
  const written = await take();
  expect(names(written)).toEqual(['real']);
  expect(written.leftOut.map(({ path, why }) => [path, why])).toEqual([
    ['lib', 'kind'],
    ['loop', 'kind'],
    ['passwd', 'kind'],
  ]);
  await run('shutil.rmtree("/out")\nos.symlink("/lib", "/out")');
  expect(await take()).toMatchObject({ files: [], leftOut: [{ path: '', why: 'kind' }] });
  await run('os.remove("/out")');
  expect(await take()).toMatchObject({ files: [], leftOut: [] });
  await run('open("/out/again", "w").write("x")');
  expect(names(await take())).toEqual(['again']);
});

test('written files that have holes are as large as they say', async () => {
  await run('with open("/out/hole", "wb") as file:\n    file.seek(200_000_000)\n    file.write(b"x")\nkept = []');
  expect(await take()).toMatchObject({ files: [], leftOut: [{ path: 'hole', bytes: 200_000_001, why: 'bytes' }] });
  await run('os.remove("/out/hole")');
});

test('are each of one moment, whatever code in the background writes', async () => {
  await run(`
import asyncio
async def change():
    while True:
        for letter in "abcdefgh":
            with open("/out/letters", "w") as file:
                file.write(letter * 100_000)
            await asyncio.sleep(0)
task = asyncio.ensure_future(change())
await asyncio.sleep(0.01)`);
  const seen = new Set<string>();
  for (let time = 0; time < 20; time++) {
    const written = await take();
    // It was not its turn since the last time.
    if (written.files.length === 0) continue;
    const text = textOf(written, 'letters');
    expect(new Set(text).size).toBe(1);
    expect(text).toHaveLength(100_000);
    seen.add(text.slice(0, 1));
  }
  expect(seen.size).toBeGreaterThan(1);
  await run('task.cancel()');
});

test(
  'a kernel without the folder has no written files',
  async () => {
    const plain = await openNodeHarness();
    try {
      expect((await runCell(plain, 'open("/out/x", "w")')).error?.ename).toBe('FileNotFoundError');
      expect(await plain.kernel.takeWritten?.(bounds)).toEqual({ files: [], leftOut: [], more: 0, unseen: 0 });
    } finally {
      await plain.close();
    }
  },
  startMs,
);
