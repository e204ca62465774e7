import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type KeptPages, type KeptSlot, parseKeptSlot, readKeptPages, SlotStore } from './slot-store.js';

const digest = 'a'.repeat(43);
const tools = [{ name: 'run', inputSchema: { type: 'object' as const } }];
const slotOf = (key: string, rest: Partial<KeptSlot> = {}): KeptSlot => ({
  key,
  profile: 'colab',
  url: 'https://colab.test/',
  allowOrigins: ['https://colab.test'],
  tokens: { passes: [{ token: digest, offered: 'b'.repeat(43) }, { token: digest }], lasting: [digest] },
  tools,
  ...rest,
});

let dir: string;
const path = (): string => join(dir, 'pages.json');
const save = (pages: KeptPages): Promise<boolean> => new SlotStore({ path: path(), source: () => pages, logger: silentLogger }).save();
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-slots-'));
  await chmod(dir, 0o700);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('the places of pages on disk', () => {
  it('are read as they were saved, in their order, and pages of one kind share one list of tools', async () => {
    const pages = { port: 4000, slots: [slotOf('one'), slotOf('two'), slotOf('none', { tools: undefined })] };
    expect(await save(pages)).toBe(true);
    expect(readKeptPages(dir, path())).toEqual(pages);
    expect(JSON.parse(await readFile(path(), 'utf8'))).toMatchObject({ lists: [tools], slots: [{ list: 0 }, { list: 0 }, { list: -1 }] });
  });

  it('are none in a file that is no such list', async () => {
    for (const text of ['', '{', '[]', '{"format":2,"port":1,"slots":[]}', '{"format":1,"port":0,"slots":[]}', '{"format":1,"port":1}']) {
      await writeFile(path(), text, { mode: 0o600 });
      expect(readKeptPages(dir, path()), text).toBeUndefined();
    }
  });

  it('are not on disk where they could not be written, and are with the next save that could', async () => {
    const pages = { port: 1, slots: [slotOf('one')] };
    const target = join(dir, 'later', 'pages.json');
    const store = new SlotStore({ path: target, source: () => pages, logger: silentLogger });
    expect(await store.save()).toBe(false);
    await mkdir(join(dir, 'later'), { mode: 0o700 });
    expect(await store.save()).toBe(true);
    expect(readKeptPages(join(dir, 'later'), target)).toEqual(pages);
  });

  const { tools: _, ...entry } = slotOf('key');
  const sound = { ...entry, list: 0 };

  it.each([
    ['key', ['', 1, 'x'.repeat(4097)]],
    ['profile', ['', 1, undefined]],
    ['url', ['', 1, 'x', 'javascript:alert(1)', 'file:///etc/passwd']],
    [
      'allowOrigins',
      [undefined, 'https://colab.test', ['https://colab.test/path'], ['null'], ['ftp://colab.test'], Array(101).fill('https://a.test')],
    ],
    ['tokens', [undefined, {}, { passes: [{ token: 'short' }], lasting: [] }, { passes: [{ token: digest, offered: 1 }], lasting: [] }]],
    [
      'tokens',
      [
        { passes: [], lasting: ['short'] },
        { passes: Array(5).fill({ token: digest }), lasting: [] },
      ],
    ],
  ])('let no page in by an entry whose %s somebody has edited', (name, values) => {
    expect(parseKeptSlot(sound, [tools])).toEqual(slotOf('key'));
    for (const value of values) expect(parseKeptSlot({ ...sound, [name]: value }, [tools]), JSON.stringify(value)).toBeUndefined();
  });
});
