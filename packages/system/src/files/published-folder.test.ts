import { spawnSync } from 'node:child_process';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processExists } from '../processes/living-process.js';
import { findWritten } from '../starts/find-written.js';
import { type PublishOptions, publishFolder } from './published-folder.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'notebridge-published-'));
  path = join(folder, 'generated');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const filesOf = (version: string, more: Record<string, string> = {}): Map<string, string> =>
  new Map(Object.entries({ 'a.txt': version, 'deep/er/b.txt': `b of ${version}`, 'mark.json': 'ours', ...more }));
/** Sixteen digits and more, as a hash has. */
const hashOf = (version: string): string => Buffer.from(version.padEnd(20, '.')).toString('hex');
const publish = (
  version: string,
  { asLink = false, files = filesOf(version), ...more }: Partial<PublishOptions> & { files?: Map<string, string> } = {},
) =>
  publishFolder(path, files, {
    contentHash: hashOf(version),
    marker: { file: 'mark.json', isOurs: (text) => text === 'ours' },
    asLink,
    writtenBy: () => undefined,
    processes: { own: process.pid, exists: processExists },
    ...more,
  });
const text = (file = 'a.txt'): Promise<string> => readFile(join(path, file), 'utf8');
const faultOf = async (publishing: Promise<unknown>): Promise<BridgeError> => {
  const error = await publishing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof BridgeError)) throw new Error(`expected a BridgeError, got ${String(error)}`);
  return error;
};
/** A number that no process has any more. */
const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

describe('publishFolder', () => {
  it('writes a plain folder that every user can read, with its parents, whatever the umask', { tags: ['deep'] }, async () => {
    path = join(folder, 'new', 'place', 'generated');
    const old = process.umask(0o077);
    try {
      expect(await publish('one')).toBe('written');
    } finally {
      process.umask(old);
    }
    expect(await text('deep/er/b.txt')).toBe('b of one');
    expect((await lstat(path)).isDirectory()).toBe(true);
    expect((await stat(path)).mode & 0o777).toBe(0o755);
    expect((await stat(join(path, 'deep', 'er'))).mode & 0o777).toBe(0o755);
    expect((await stat(join(path, 'a.txt'))).mode & 0o777).toBe(0o644);
    expect(await readdir(join(folder, 'new', 'place'))).toEqual(['generated']);
  });

  it.each([true, false])('touches nothing where all is as it should be (as a link: %s)', { tags: ['deep'] }, async (asLink) => {
    await publish('one', { asLink });
    const before = await stat(join(path, 'a.txt'));
    await mkdir(join(path, '__pycache__'));
    await writeFile(join(path, '__pycache__', 'a.pyc'), '');
    expect(await publish('one', { asLink })).toBe('unchanged');
    expect((await stat(join(path, 'a.txt'))).ino).toBe(before.ino);
    expect(await readdir(path)).toContain('__pycache__');
  });

  it('replaces all of a plain folder, and keeps it plain', { tags: ['deep'] }, async () => {
    await publish('one', { files: filesOf('one', { 'gone.txt': 'x' }) });
    expect(await publish('two', { asLink: true })).toBe('written');
    expect(await text()).toBe('two');
    expect((await readdir(path)).sort()).toEqual(['a.txt', 'deep', 'mark.json']);
    expect((await lstat(path)).isSymbolicLink()).toBe(false);
    expect(await readdir(folder)).toEqual(['generated']);
  });

  it('swaps a link, and readers of the old folder keep it', { tags: ['P-088'] }, async () => {
    await publish('one', { asLink: true });
    const old = await realpath(path);
    await publish('two', { asLink: false });
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(await text()).toBe('two');
    expect(await readFile(join(old, 'a.txt'), 'utf8')).toBe('one');
    // It leads beside itself, so that it holds wherever the folder is mounted.
    expect(await readlink(path)).not.toContain('/');
  });

  it('goes back to a folder that is still there', { tags: ['deep'] }, async () => {
    await publish('one', { asLink: true });
    const first = await realpath(path);
    await publish('two', { asLink: true });
    await publish('one', { asLink: true });
    expect(await realpath(path)).toBe(first);
  });

  it.each([true, false])('restores what was changed or removed (as a link: %s)', { tags: ['deep'] }, async (asLink) => {
    await publish('one', { asLink });
    await writeFile(join(path, 'a.txt'), 'edited');
    expect(await publish('one', { asLink })).toBe('written');
    expect(await text()).toBe('one');
    await rm(join(path, 'deep'), { recursive: true });
    await publish('one', { asLink });
    expect(await text('deep/er/b.txt')).toBe('b of one');
  });

  it('takes an empty folder, and follows a link of the user to a folder elsewhere', { tags: ['deep'] }, async () => {
    await mkdir(join(folder, 'elsewhere'));
    await symlink('elsewhere', path);
    await publish('one');
    expect(await readlink(path)).toBe('elsewhere');
    expect(await readFile(join(folder, 'elsewhere', 'a.txt'), 'utf8')).toBe('one');
  });

  it('refuses a folder with files of others, a file, and a link to nothing, and leaves them alone', { tags: ['P-089'] }, async () => {
    await mkdir(path);
    await writeFile(join(path, 'thesis.txt'), 'years of work');
    const refused = await faultOf(publish('one'));
    expect(refused.code).toBe('bad_usage');
    expect(refused.message).toContain('it holds files that were not generated');
    expect(await text('thesis.txt')).toBe('years of work');

    await writeFile(join(path, 'mark.json'), 'of another program');
    expect((await faultOf(publish('one'))).code).toBe('bad_usage');

    path = join(folder, 'a-file');
    await writeFile(path, 'text');
    expect((await faultOf(publish('one'))).message).toContain('it is no folder');
    expect(await readFile(path, 'utf8')).toBe('text');

    path = join(folder, 'a-link');
    await symlink('nowhere', path);
    expect((await faultOf(publish('one'))).message).toContain('a link to nothing');
    expect((await readdir(folder)).sort()).toEqual(['a-file', 'a-link', 'generated']);
  });

  it.each([true, false])(
    'leaves the old one whole and nothing beside it when writing fails (as a link: %s)',
    { tags: ['P-088'] },
    async (asLink) => {
      await publish('one', { asLink });
      const before = (await readdir(folder)).sort();
      const files = filesOf('two', { ['x'.repeat(300)]: 'the name is too long for any file system' });
      const failed = await faultOf(publish('two', { asLink, files }));
      expect(failed.code).toBe('write_failed');
      expect(failed.message).toContain('the name is too long (ENAMETOOLONG)');
      expect(await text()).toBe('one');
      expect((await readdir(folder)).sort()).toEqual(before);
    },
  );

  it('removes what killed writers left, not what running ones make', { tags: ['P-088'] }, async () => {
    const left = `.generated-new-${deadPid()}-0123456789ab`;
    // Of a process before us that had our number, as in a container.
    const before = `.generated-new-${process.pid}-0123456789ab`;
    const running = `.generated-new-${process.ppid}-0123456789ab`;
    const others = ['.generated-new-1-x', '.generated-notes', 'generated-new-7-0123456789ab'];
    for (const name of [left, before, running, ...others]) await mkdir(join(folder, name));
    await writeFile(join(folder, left, 'half'), '');
    await publish('one');
    expect((await readdir(folder)).sort()).toEqual([...others, running, 'generated'].sort());
  });

  it('puts back the folder that a writer moved aside before it was killed', { tags: ['P-088'] }, async () => {
    await publish('one');
    await rename(path, join(folder, `.generated-old-${deadPid()}-0123456789ab`));
    expect(await publish('one')).toBe('unchanged');
    expect(await text()).toBe('one');
    expect(await readdir(folder)).toEqual(['generated']);
  });

  it('follows no link that leads elsewhere, be it the folder, in it, or an old one beside it', { tags: ['P-171'] }, async () => {
    const elsewhere = join(folder, 'elsewhere');
    await mkdir(elsewhere);
    path = join(folder, 'shared', 'generated');
    await publish('one', { asLink: true });
    const [version = ''] = (await readdir(join(folder, 'shared'))).filter((name) => name.startsWith('.'));
    for (const name of ['b.txt', 'er']) await writeFile(join(elsewhere, name), 'precious');
    const then = new Date(1_000_000_000_000);
    await utimes(elsewhere, then, then);
    await rm(join(path, 'deep'), { recursive: true });
    await symlink(elsewhere, join(path, 'deep'));
    await publish('one', { asLink: true }).catch(() => {});
    await rm(join(folder, 'shared', version), { recursive: true });
    await symlink(elsewhere, join(folder, 'shared', version));
    await publish('two', { asLink: true }).catch(() => {});
    await publish('one', { asLink: true }).catch(() => {});
    expect([(await readdir(elsewhere)).sort(), (await stat(elsewhere)).mtimeMs]).toEqual([['b.txt', 'er'], then.getTime()]);
    path = join(folder, 'link');
    await mkdir(join(folder, 'empty'), { mode: 0o700 });
    await symlink(join(folder, 'empty'), path);
    expect((await faultOf(publish('one', { asLink: true }))).message).toContain('it is a link to elsewhere');
    expect(await readdir(join(folder, 'empty'))).toEqual([]);
  });

  it('keeps the last old folders, and more only while they are young', { tags: ['deep'] }, async () => {
    for (const version of ['one', 'two', 'three', 'four', 'five', 'six', 'seven']) await publish(version, { asLink: true });
    const current = await readlink(path);
    const old = (await readdir(folder)).filter((name) => name.startsWith('.') && name !== current);
    expect(old).toHaveLength(6);
    const hourAgo = new Date(Date.now() - 3_600_000);
    for (const name of old) await utimes(join(folder, name), hourAgo, hourAgo);
    await publish('eight', { asLink: true });
    // Seven is the youngest; of the aged ones three are left.
    expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toHaveLength(5);
  });

  it('says why a folder cannot be made', { tags: ['deep'] }, async () => {
    await writeFile(join(folder, 'file'), '');
    path = join(folder, 'file', 'generated');
    expect((await faultOf(publish('one'))).code).toBe('write_failed');
    await chmod(folder, 0o755);
  });
});

describe('publishFolder below a folder where code may write', { tags: ['P-710'] }, () => {
  const given = () => join(folder, 'given');
  const inGiven = (at: string, more: Partial<PublishOptions> = {}) => {
    path = join(given(), at);
    return publish('one', { writtenBy: (asked) => findWritten(asked, [given()]), ...more });
  };
  beforeEach(async () => {
    folder = await realpath(folder);
    for (const name of ['given', 'elsewhere']) await mkdir(join(folder, name));
  });

  it.each([true, false])('follows no link out, on the way or in its place (live: %s)', async (asLink) => {
    await symlink(join(folder, 'elsewhere'), join(given(), 'out'));
    for (const at of ['out', 'out/generated', 'out/deep/er/generated']) {
      const fault = await faultOf(inGiven(at, { asLink }));
      expect(fault.message, at).toMatch(/link to elsewhere|leads out of that folder/);
      expect(fault.message).toContain(path);
    }
    expect(await readdir(join(folder, 'elsewhere'))).toEqual([]);
  });

  it.each([true, false])('writes there as ever, into folders that it makes (live: %s)', async (asLink) => {
    expect(await inGiven('deep/er/generated', { asLink })).toBe('written');
    expect(await inGiven('deep/er/generated', { asLink })).toBe('unchanged');
    expect(await text()).toBe('one');
    await symlink(given(), join(folder, 'project'));
    path = join(folder, 'project/more');
    expect(await publish('two', { asLink, writtenBy: (asked) => findWritten(asked, [given()]) })).toBe('written');
    expect(await readFile(join(given(), 'more/a.txt'), 'utf8')).toBe('two');
  });

  it('may be that folder itself', async () => {
    expect(await inGiven('')).toBe('written');
    expect(await readFile(join(given(), 'a.txt'), 'utf8')).toBe('one');
  });
});
