// @module-tag deep

/** Python that begins with the memory of another one: what must not be that one's, and what happens without. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { toLogger } from '@notebridge/protocol/util/logger';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNodeKernel } from '../../src/kernel/node-kernel.js';
import { fingerprintOf, packSnapshot, unpackSnapshot } from '../../src/kernel/snapshot-file.js';
import { type BuiltKernel, buildKernel } from './support/built-kernel.js';
import { runCell } from './support/run-cell.js';

let built: BuiltKernel;
let folder: string;
let fingerprint: Uint8Array;
/** Taken far away. */
let snapshotUrl: URL;

beforeAll(async () => {
  built = await buildKernel();
  folder = mkdtempSync(join(tmpdir(), 'notebridge-snapshot-'));
  const { workerUrl, pythonUrl, indexUrl, stdlibUrl } = built.files;
  const taking = `import { takeSnapshot } from ${JSON.stringify(new URL('pyodide-files.js', built.folder).href)};
const files = Object.entries(${JSON.stringify({ workerUrl, pythonUrl, indexUrl, stdlibUrl })}).map(([name, url]) => [name, new URL(url)]);
console.log((await takeSnapshot(Object.fromEntries(files), new URL(${JSON.stringify(pathToFileURL(folder + sep))}))).href);`;
  const { PATH = '' } = process.env;
  const env = { PATH, TZ: 'Asia/Kolkata' };
  snapshotUrl = new URL(execFileSync(process.execPath, ['--input-type=module', '-e', taking], { env, encoding: 'utf8' }).trim());
  fingerprint = await fingerprintOf({ indexUrl: indexUrl.href, pythonUrl: pythonUrl.href, stdlibUrl: stdlibUrl.href });
}, 120_000);
afterAll(() => {
  built?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

interface Started {
  printed: { [name: string]: unknown };
  /** Why it did not begin with the snapshot. */
  slow: unknown[];
}

/** A fresh Python, and the JSON that `code` prints there first. */
async function start(code: string, snapshot: URL): Promise<Started> {
  const slow: unknown[] = [];
  const logger = toLogger((level, _message, { reason }) => slow.push(`${level}: ${reason}`));
  const kernel = createNodeKernel({ sandbox: 'off', logger, files: { ...built.files, snapshotUrl: snapshot } });
  try {
    const { stdout, error } = await runCell({ kernel }, code);
    expect(error?.traceback.join('\n')).toBeUndefined();
    return { printed: JSON.parse(stdout), slow };
  } finally {
    await kernel.close();
  }
}

const chances = `import json, os, random, secrets, ssl, tempfile, uuid
print(json.dumps({
    "hash": hash("abc"),
    "random": random.random(), "shuffled": random.sample(range(1000), 8), "own": random.Random().random(),
    "secret": secrets.token_hex(8), "urandom": os.urandom(8).hex(), "openssl": ssl.RAND_bytes(8).hex(),
    "file": tempfile.mktemp(), "uuid4": str(uuid.uuid4()), "uuid1": str(uuid.uuid1()), "node": uuid.getnode(),
}))`;

describe('Python that begins with a snapshot', { tags: ['P-622'] }, () => {
  test('is left to its own chance, but for the seed of hash()', async () => {
    const starts = await Promise.all([1, 2, 3].map(() => start(chances, snapshotUrl)));
    expect(starts.flatMap(({ slow }) => slow)).toEqual([]);
    for (const name of Object.keys(starts[0]?.printed ?? {}))
      expect([name, new Set(starts.map(({ printed }) => JSON.stringify(printed[name]))).size]).toEqual([name, name === 'hash' ? 1 : 3]);
  }, 120_000);

  test('has seeded state in no module but those that are renewed', async () => {
    const { printed } = await start(
      `import gc, json, sys
loaded = dict(sys.modules)
gc.unfreeze()
generators = [one for one in gc.get_objects() if isinstance(one, loaded["_random"].Random)]
holders = [f"{module}.{name}" for module, held in loaded.items() for name, value in vars(held).items() if any(value is one for one in generators)]
seeding = [name for name in loaded if name.partition(".")[0] in ("_random", "numpy", "random", "secrets", "tempfile", "uuid")]
print(json.dumps({"generators": len(generators), "holders": holders, "seeding": sorted(seeding),
    "names": loaded["tempfile"]._name_sequence, "node": loaded["uuid"]._node, "last": loaded["uuid"]._last_timestamp}))`,
      snapshotUrl,
    );
    expect(printed).toEqual({
      generators: 1,
      holders: ['random._inst'],
      // The others make their generators when they are first asked.
      seeding: ['_random', 'random', 'tempfile', 'uuid'],
      names: null,
      node: null,
      last: null,
    });
  }, 60_000);

  test('has the time zone, the paths and the variables of a usual start, wherever the snapshot was taken', async () => {
    const code = `import json, os, sys, time
new_year = time.localtime(0)
print(json.dumps([time.tzname, time.timezone, time.altzone, time.daylight, time.strftime("%Z %z", new_year), sys.path, dict(os.environ)]))`;
    const missing = new URL('missing', snapshotUrl);
    expect((await start(code, snapshotUrl)).printed).toEqual((await start(code, missing)).printed);
  }, 60_000);

  test('has no path of where the snapshot was taken in its memory', () => {
    const memory = Buffer.from(unpackSnapshot(fingerprint, readFileSync(snapshotUrl)));
    expect(memory.includes('/lib/notebridge/notebridge_kernel')).toBe(true);
    for (const path of [
      fileURLToPath(built.folder),
      fileURLToPath(new URL('../../../../', import.meta.url)),
      process.cwd(),
      process.execPath,
    ])
      expect([path, memory.includes(path)]).toEqual([path, false]);
  });
});

describe('a snapshot that cannot be used', { tags: ['P-622'] }, () => {
  const code = 'import json; print(json.dumps({"hash": hash("abc")}))';
  const files: { [name: string]: { make: (whole: Buffer) => Uint8Array; reason: RegExp } } = {
    'of other files': { make: (whole) => Buffer.concat([Buffer.alloc(32), whole.subarray(32)]), reason: /^debug: .*made of other files/ },
    'cut off': { make: (whole) => whole.subarray(0, whole.length - 100), reason: /^debug: .*not whole/ },
    'that Pyodide refuses': {
      make(whole) {
        const memory = unpackSnapshot(fingerprint, whole);
        // The id of another build of Pyodide.
        memory[16] = Number(memory[16]) ^ 1;
        return packSnapshot(fingerprint, memory);
      },
      reason: /^debug: .*build id mismatch/,
    },
  };
  test.each(Object.entries(files))(
    '%s costs time, and is said in the log',
    async (name, { make, reason }) => {
      const url = new URL(`file-${name.replaceAll(' ', '-')}`, snapshotUrl);
      writeFileSync(url, make(readFileSync(snapshotUrl)));
      const [usual, other] = await Promise.all([start(code, snapshotUrl), start(code, url)]);
      expect(other.slow).toEqual([expect.stringMatching(reason)]);
      expect(other.printed.hash).not.toBe(usual.printed.hash);
    },
    60_000,
  );

  test('since it is not there is no fault', async () => {
    const { slow, printed } = await start(code, new URL('missing', snapshotUrl));
    expect(slow).toEqual([expect.stringMatching(/^debug: .*ENOENT/)]);
    expect(printed.hash).toEqual(expect.any(Number));
  }, 60_000);
});
