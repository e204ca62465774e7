// @module-tag P-627

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTrustedFolders, createWrittenFolders } from '../../../notebridge/src/assembly/trusted-folders.js';
import { startOfProcess } from '../processes/living-process.js';
import { findWritten, folderIdentityOf } from '../starts/find-written.js';
import { folderRecordFile, readWrittenFolders } from './folder-record.js';

const processes = { own: process.pid, startOf: startOfProcess };
const rules = { uid: process.getuid?.() };
let base: string;
let stateDir: string;
let project: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-record-')));
  [stateDir, project] = [join(base, 'state'), join(base, 'project')];
  mkdirSync(project);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const put = (value: unknown): void => {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  writeFileSync(folderRecordFile(stateDir), typeof value === 'string' ? value : JSON.stringify(value), { mode: 0o600 });
};
const written = () => createWrittenFolders(stateDir, rules, processes);
const trusted = () => createTrustedFolders(stateDir, rules);

describe('the record of folders that code may write to', () => {
  it('is there for other processes, by real path, for the user alone; and is withdrawn and given again', async () => {
    expect(written().folders).toEqual([]);
    symlinkSync(project, join(base, 'link'));
    await written().add(join(base, 'link'));
    expect(readWrittenFolders(stateDir, rules)).toEqual([{ path: project }, { path: project, identity: folderIdentityOf(project) }]);
    expect(statSync(folderRecordFile(stateDir)).mode & 0o777).toBe(0o600);
    await Promise.all([written().add(project), written().add(base), trusted().add(project)]);
    expect(written().folders).toEqual([base, project]);
    await written().remove(join(base, 'link'));
    expect([written().folders, trusted().folders]).toEqual([[base], [project]]);
    await written().add(project);
    expect(written().folders).toEqual([base, project]);
  });

  it('has each folder that was trusted before there was one, but for those that were never given; later trust is no such right', async () => {
    put({ folders: [project, homedir(), dirname(homedir()), '/'] });
    expect(written().folders).toEqual([project]);
    await trusted().add(base);
    expect(written().folders).toEqual([project]);
    await written().remove(project);
    expect([written().folders, trusted().has(project)]).toEqual([[], true]);
  });

  it('keeps a folder while a kernel of a living process may write there, whatever became of others', async () => {
    const notebook = join(project, 'one.ipynb');
    const [release, other] = [await written().hold(project, notebook), await written().hold(project, notebook)];
    await release();
    await expect(written().remove(project)).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringContaining(`notebridge stop "${notebook}"`),
    });
    expect(written().folders).toEqual([project]);
    await other();
    const killed = createWrittenFolders(stateDir, rules, { own: process.pid, startOf: () => '1' });
    await killed.hold(project, notebook);
    await written().remove(project);
    expect(written().folders).toEqual([]);
  });

  it('knows a folder again that was renamed, also beside another one of its old name, and forgets both names at once', async () => {
    await written().add(project);
    const renamed = join(base, 'renamed');
    renameSync(project, renamed);
    mkdirSync(project);
    await written().add(project);
    await written().add(project);
    const known = written().known;
    expect(known.filter(({ identity }) => identity !== undefined)).toHaveLength(2);
    expect([renamed, join(renamed, 'x'), project].map((path) => findWritten(path, known))).toEqual([project, project, project]);
    await written().remove(renamed);
    expect([written().folders, written().known]).toEqual([[], []]);
  });

  it('is empty where there can be no state', () => {
    expect(readWrittenFolders('/dev/null/.local/state/notebridge', rules)).toEqual([]);
  });

  it.each([
    ['open to others', () => chmodSync(folderRecordFile(stateDir), 0o644)],
    ['no JSON', () => put('{')],
    ['no list', () => put({ folders: [], written: 'x' })],
    ['a list of other things', () => put({ folders: [], written: ['relative'] })],
  ])('is not taken for empty when it is %s', async (_, spoil) => {
    await written().add(project);
    spoil();
    expect(() => written().folders).toThrow(folderRecordFile(stateDir));
    await expect(written().add(base)).rejects.toMatchObject({ code: 'write_failed' });
    expect(existsSync(folderRecordFile(stateDir)) && readFileSync(folderRecordFile(stateDir), 'utf8')).not.toContain(`"${base}"`);
  });
});
