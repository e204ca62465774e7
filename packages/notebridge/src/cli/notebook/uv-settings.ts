import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { findCodePlaces } from '@notebridge/kit/code-places';
import type { Environment } from '../../processes/environment.js';
import { writtenBy } from '../../processes/written-rule.js';

/**
 * How uv is started in this folder, so that it takes no settings from where code in a sandbox could write: they name Pythons, and packages to
 * install. Its variables that lead there are left out; where one of its files lies there, it reads none.
 */
export function uvSettings(env: Environment, cwd: string): { options: string[]; env: Environment } {
  const home = env.HOME || homedir();
  const names = ['uv.toml', 'pyproject.toml', '.python-version', '.python-versions'];
  const inFolders = foldersUpFrom(cwd).flatMap((folder) => names.map((name) => join(folder, name)));
  const ofUser = names.map((name) => join(env.XDG_CONFIG_HOME || join(home, '.config'), 'uv', name));
  const isFree = [...inFolders, ...ofUser].every((path) => writtenBy(path) === undefined);
  const kept = Object.entries(env).filter(([name, text = '']) => !name.startsWith('UV_') || !leadsThere(text, name, cwd));
  return { options: isFree ? [] : ['--no-config'], env: Object.fromEntries(kept) };
}

function leadsThere(text: string, name: string, cwd: string): boolean {
  const named = /_(FILE|DIR|DIRECTORY|CONSTRAINT|OVERRIDE|PROJECT|FIND_LINKS)$/.test(name) ? [resolve(cwd, text)] : [];
  return [...named, ...findCodePlaces({ argv: [], env: { [name]: text }, cwd })].some((path) => writtenBy(path) !== undefined);
}

function foldersUpFrom(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersUpFrom(above)];
}
