import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { expect, it, onTestFinished } from 'vitest';
import { createTrustedFolders } from './trusted-folders.js';

it('keeps a folder by its real path, in a file of the user alone, until it is taken back', { tags: ['P-211'] }, async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-trusted-')));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [state, mine, theirs, link] = ['state', 'mine', 'theirs', 'link'].map((name) => join(base, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const folder of [mine, theirs]) mkdirSync(folder);
  symlinkSync(mine, link);
  const open = () => createTrustedFolders(state, { uid: ownUserId() });
  await open().add(link);
  expect([open().folders, open().has(mine), open().has(link), open().has(theirs)]).toEqual([[mine], true, true, false]);
  // The link leads to another folder by now, which nobody has trusted.
  rmSync(link);
  symlinkSync(theirs, link);
  expect(open().has(link)).toBe(false);
  const file = join(state, 'trusted-folders.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  chmodSync(file, 0o666);
  expect(open().has(mine)).toBe(false);
  await expect(open().add(theirs)).rejects.toMatchObject({ code: 'write_failed' });
  chmodSync(file, 0o600);
  await open().remove(mine);
  expect([open().folders, open().has(mine)]).toEqual([[], false]);
});
