// @module-tag P-453

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findTypeChecker } from './type-checker-program.js';
import { heedWritten } from './written-rule.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'notebridge-test-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A package of this name, as npm lays it down; returns its folder. */
function install(place: string, name = 'pyright', version = '1.1.414'): string {
  const at = join(folder, place, 'node_modules', name);
  mkdirSync(join(at, 'dist'), { recursive: true });
  writeFileSync(join(at, 'package.json'), JSON.stringify({ name, version }));
  writeFileSync(join(at, 'langserver.index.js'), '');
  return at;
}

function command(place: string, target: string, name = 'pyright-langserver'): string {
  mkdirSync(join(folder, place), { recursive: true });
  symlinkSync(target, join(folder, place, name));
  return join(folder, place);
}

const find = (more: Partial<Parameters<typeof findTypeChecker>[0]> = {}) => {
  mkdirSync(join(folder, 'app/dist'), { recursive: true });
  return findTypeChecker({ configDir: undefined, path: undefined, cwd: join(folder, 'work'), own: join(folder, 'app/dist'), ...more });
};

describe('findTypeChecker', () => {
  it('finds none where there is none', () => {
    expect(find()).toBeUndefined();
  });

  it('finds what is installed beside Notebridge, above it, or beside the config file', () => {
    const beside = install('config', 'basedpyright', '1.40.0');
    expect(find({ configDir: join(folder, 'config') })).toEqual({ name: 'basedpyright', version: '1.40.0', folder: beside });
    const above = install('.');
    expect(find({ configDir: join(folder, 'config') })).toEqual({ name: 'pyright', version: '1.1.414', folder: above });
    expect(find()?.folder).toBe(above);
  });

  it('finds a command on the PATH that npm has linked, and no other program of that name', () => {
    const real = install('global');
    const path = command('bin', join(real, 'langserver.index.js'));
    expect(find({ path: [join(folder, 'nothing'), path].join(delimiter) })?.folder).toBe(real);
    mkdirSync(join(folder, 'other'));
    writeFileSync(join(folder, 'other/pyright-langserver'), '#!/bin/sh\n', { mode: 0o755 });
    expect(find({ path: join(folder, 'other') })).toBeUndefined();
  });

  it('takes nothing from the working directory, from node_modules/.bin, or from a relative folder', () => {
    const real = install('global');
    const entry = join(real, 'langserver.index.js');
    install('work');
    const paths = [command('work/bin', entry), command('some/node_modules/.bin', entry), 'bin', '.', ''];
    expect(find({ path: paths.join(delimiter) })).toBeUndefined();
  });

  it('takes nothing that others may have written', () => {
    const real = install('.');
    chmodSync(real, 0o777);
    expect(find()).toBeUndefined();
    chmodSync(real, 0o755);
    chmodSync(join(real, 'langserver.index.js'), 0o666);
    expect(find()).toBeUndefined();
  });

  it('takes nothing from a folder that code in a sandbox may write to', () => {
    install('given');
    const path = command('bin', join(install('global'), 'langserver.index.js'));
    const places = { configDir: join(folder, 'given'), path };
    expect(find(places)?.folder).toContain('given');
    try {
      heedWritten('type checkers', () => [join(folder, 'given')]);
      expect(find(places)?.folder).toContain('global');
      heedWritten('type checkers', () => ['given', 'global'].map((name) => join(folder, name)));
      expect(find(places)).toBeUndefined();
    } finally {
      heedWritten('type checkers', () => []);
    }
  });

  it('takes no package of another name, and none that is broken', () => {
    const real = install('.');
    writeFileSync(join(real, 'package.json'), '{"name": "something"}');
    expect(find()).toBeUndefined();
    writeFileSync(join(real, 'package.json'), '{');
    expect(find()).toBeUndefined();
  });
});
