import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { owner, type Principal } from '@notebridge/protocol/core/principal';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { folderOfSaver, SavedSkillStore } from './saved-skill-store.js';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const files = (code: string) => ({ document: `# ${code}`, code, tests: '' });
const skill = (name: string, code = '1') => ({ name, description: name, tags: [], saver: 'owner', files: files(code), overwrites: true });

it('a skill of a writer that was killed is as it was, and what it left goes with the next change', { tags: ['P-435'] }, async () => {
  const store = new SavedSkillStore({ stateDir });
  const [record] = [await store.save(skill('one'))];
  const folder = join(stateDir, 'skills', folderOfSaver('owner'));
  // All that a writer has done before it has changed the index.
  await mkdir(join(folder, 'f'.repeat(32), 'one', 'scripts'), { recursive: true });
  writeFileSync(join(folder, 'f'.repeat(32), 'one', 'scripts', 'run.py'), 'half');
  const other = new SavedSkillStore({ stateDir });
  expect(await other.open(other.all()[0] ?? record)).toEqual(files('1'));
  await other.save(skill('two'));
  expect(readdirSync(folder).sort()).toEqual(
    other
      .all()
      .map(({ hash }) => hash)
      .sort(),
  );
});

it('is saved by several hubs at once, and none is lost', { tags: ['P-435'] }, async () => {
  const stores = [1, 2, 3].map(() => new SavedSkillStore({ stateDir }));
  await Promise.all(stores.flatMap((store, at) => [0, 1, 2, 3].map((n) => store.save(skill(`s${at}-${n}`)))));
  for (const store of stores) {
    expect(store.seenBy(owner)).toHaveLength(12);
    for (const record of store.all()) expect(await store.open(record)).toEqual(files('1'));
  }
});

it('a skill that was saved anew since the index was read is opened as it is now', async () => {
  const [store, other] = [new SavedSkillStore({ stateDir }), new SavedSkillStore({ stateDir })];
  const before = await store.save(skill('one'));
  await other.save(skill('one', '2'));
  expect(await store.open(before)).toEqual(files('2'));
  await other.remove(before);
  await expect(store.open(before)).rejects.toMatchObject({ code: 'skill_changed' });
});

it('a skill that was trusted is not opened as what was saved in its place', { tags: ['P-463'] }, async () => {
  const [store, other] = [new SavedSkillStore({ stateDir }), new SavedSkillStore({ stateDir })];
  await store.trust(await store.save(skill('one')), true);
  const guest = { kind: 'grant', grantId: 'g' } as Principal;
  // Seen by all, and opened after its saver has changed it.
  const [seen] = store.seenBy(guest);
  if (seen === undefined) throw new Error('It is seen by nobody.');
  await other.save(skill('one', 'evil'));
  await expect(store.open(seen)).rejects.toMatchObject({ code: 'skill_changed' });
  expect(store.seenBy(guest)).toEqual([]);
  // Nor is it trusted as it is now by who has looked at what it was.
  await expect(store.trust(seen, true)).rejects.toMatchObject({ code: 'skill_changed' });
});

it('is one of at most so many', async () => {
  const store = new SavedSkillStore({ stateDir });
  for (let n = 0; n < 100; n++) await store.save(skill(`s${n}`));
  await expect(store.save(skill('more'))).rejects.toMatchObject({ code: 'limit_reached' });
  await store.save(skill('s1', 'other'));
  await store.save({ ...skill('more'), saver: 'grant:g' });
});
