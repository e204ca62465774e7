/** Which paths lie in a folder that code in a sandbox was given to write to: by whatever way to it, and whatever became of it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { heedWritten, writtenBy } from '@notebridge/system/processes/written-rule';
import { findWritten, folderIdentityOf } from '@notebridge/system/starts/find-written';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** A namespace in which something can be mounted, where there can be one. */
const mounting = [
  ['unshare', '--mount'],
  ['unshare', '--user', '--map-root-user', '--mount'],
].find(([program = '', ...args]) => spawnSync(program, [...args, 'mount', '--bind', '/tmp', '/tmp']).status === 0);

let base: string;
/** The folder that code was given to write to. */
let given: string;
let outside: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-written-')));
  [given, outside] = [join(base, 'given'), join(base, 'outside')];
  for (const folder of [given, outside]) mkdirSync(folder);
  heedWritten(base, () => [given]);
});
afterEach(() => {
  heedWritten(base, () => []);
  rmSync(base, { recursive: true, force: true });
});

describe('the rule', { tags: ['P-623'] }, () => {
  it('means what the system would find: links to links, what is above them, what is not there yet', () => {
    symlinkSync(given, join(outside, 'one'));
    symlinkSync('one/deep', join(outside, 'two'));
    symlinkSync('two', join(outside, 'three'));
    symlinkSync(outside, join(given, 'out'));
    for (const path of ['three', 'three/x', 'two/../y', 'one/not/there', '../given', '../given/out/z'])
      expect(writtenBy(`${outside}/${path}`), path).toBe(given);
    for (const path of ['', 'four', '../given2', 'x/../../outside']) expect(writtenBy(`${outside}/${path}`), path).toBeUndefined();
    symlinkSync('loop', join(outside, 'loop'));
    expect(writtenBy(join(outside, 'loop/x'))).toBeUndefined();
  });

  it.skipIf(mounting === undefined)('knows a folder that is mounted under another name, and a part of it', () => {
    mkdirSync(join(given, 'part'));
    const rule = new URL('../../../system/dist/starts/find-written.js', import.meta.url).href;
    const ask = `import { findWritten } from ${JSON.stringify(rule)};
      console.log(JSON.stringify([${JSON.stringify(outside)}, ${JSON.stringify(base)}].map((path) => findWritten(path + '/x', [${JSON.stringify(given)}]) ?? null)));`;
    for (const mounted of [given, join(given, 'part')]) {
      const [program = '', ...args] = mounting ?? [];
      const script = 'mount --bind "$1" "$2" && exec "$3" --input-type=module -e "$4"';
      const said = execFileSync(program, [...args, 'sh', '-c', script, 'sh', mounted, outside, process.execPath, ask], {
        encoding: 'utf8',
      });
      expect(JSON.parse(said)).toEqual([given, null]);
    }
  });

  it('knows a folder that was moved away from its path: by the link that was left there, or by itself', () => {
    mkdirSync(join(base, 'code/given'), { recursive: true });
    const [path, identity] = [join(base, 'code/given'), folderIdentityOf(join(base, 'code/given'))];
    renameSync(join(base, 'code'), join(base, 'disk'));
    symlinkSync(join(base, 'disk'), join(base, 'code'));
    for (const record of [path, { path, identity }])
      for (const name of ['code/given/x', 'disk/given/x']) expect(findWritten(join(base, name), [record]), name).toBe(path);
    renameSync(join(base, 'disk/given'), join(outside, 'renamed'));
    symlinkSync(join(outside, 'renamed'), join(base, 'to-renamed'));
    for (const name of ['outside/renamed', 'outside/renamed/not/there', 'to-renamed/x'])
      expect(findWritten(join(base, name), [{ path, identity }]), name).toBe(path);
    expect(findWritten(join(outside, 'x'), [{ path, identity }])).toBeUndefined();
  });

  it('does not take a new folder for one that was removed', () => {
    const identity = folderIdentityOf(given);
    rmSync(given, { recursive: true });
    for (const name of ['one', 'two', 'three']) mkdirSync(join(outside, name));
    for (const name of ['one', 'two', 'three']) expect(findWritten(join(outside, name), [{ path: given, identity }])).toBeUndefined();
  });

  it.skipIf(mounting === undefined)('knows a folder that an overlay shows, and a part of it, also by a link', () => {
    mkdirSync(join(given, 'part'));
    symlinkSync(join(given, 'part'), join(base, 'layer'));
    const rule = new URL('../../../system/dist/starts/find-written.js', import.meta.url).href;
    const ask = `import { findWritten } from ${JSON.stringify(rule)};
      console.log(JSON.stringify(['/ov/shown/x', ''].map((path) => findWritten(${JSON.stringify(outside)} + path, [${JSON.stringify(given)}]) ?? null)));`;
    const [program = '', ...args] = mounting ?? [];
    const script =
      'mount -t tmpfs none "$2" && mkdir -p "$2/other" "$2/ov/shown" && mount -t overlay none -o "lowerdir=$2/other:$1" "$2/ov/shown" && exec "$3" --input-type=module -e "$4"';
    for (const lower of [given, join(given, 'part'), join(base, 'layer')]) {
      const said = execFileSync(program, [...args, 'sh', '-c', script, 'sh', lower, outside, process.execPath, ask], { encoding: 'utf8' });
      expect(JSON.parse(said)).toEqual([given, null]);
    }
  });

  it('refuses everything where the record cannot be read', () => {
    heedWritten(base, () => {
      throw new Error('not readable');
    });
    expect(() => writtenBy(outside)).toThrow('not readable');
  });
});
