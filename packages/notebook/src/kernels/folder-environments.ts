import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type EnvironmentFacts, readEnvironment } from '@notebridge/sandbox/environment';
import { writtenFolderOf } from '@notebridge/sandbox/written-folders';
import { realPathOf } from '@notebridge/system/starts/seen-files';
import { readSmallFile } from '@notebridge/system/starts/small-file';
import { homeOf, type Variables } from './jupyter-folders.js';

/** An environment of the project that a notebook lies in. */
export interface FolderEnvironment {
  /** The folder of the project, by its real path: what a person trusts. */
  readonly project: string;
  readonly environment: EnvironmentFacts;
}

export interface FolderFindings {
  readonly environments: readonly FolderEnvironment[];
  /** A project of uv whose environment was not made yet. */
  readonly uvProject?: string;
}

const names = ['.venv', 'venv', 'env', '.conda', 'envs/default'];
const maxLevels = 8;
/** All may write, and remove only what is their own. */
const sharedMode = 0o1002;

/**
 * The environments in the notebook's folder, or in the nearest folder above it that has any. The search ends at the top of a repository,
 * at the home folder, and where a folder is not the user's own. Reads files and runs nothing.
 */
export function findFolderEnvironments(folder: string, env: Variables = process.env): FolderFindings {
  const home = realPathOf(homeOf(env));
  let project = realPathOf(folder);
  for (let level = 0; project !== undefined && level < maxLevels; level++) {
    if (!isOwn(project)) break;
    const environments = environmentsIn(project, env);
    const uvProject =
      existsSync(join(project, 'uv.lock')) && !environments.some(({ environment }) => basename(environment.folder) === '.venv');
    if (environments.length > 0 || uvProject) return { environments, ...(uvProject ? { uvProject: project } : {}) };
    const above = dirname(project);
    if (above === project || project === home || existsSync(join(project, '.git'))) break;
    project = realPathOf(above);
  }
  return { environments: [] };
}

function environmentsIn(project: string, env: Variables): FolderEnvironment[] {
  const folders = names.map((name) => join(project, name));
  // A name is no place: code that may write it would choose among all environments of the user.
  const named = writtenFolderOf(project) === undefined ? condaEnvironmentNamedIn(project, env) : undefined;
  const all = named === undefined ? folders : [...folders, named];
  return all.flatMap((folder) => {
    const environment = readEnvironment(folder);
    return environment ? [{ project, environment }] : [];
  });
}

/** `environment.yml` names an environment of conda, which lies elsewhere: conda keeps a list of all. */
function condaEnvironmentNamedIn(project: string, env: Variables): string | undefined {
  const texts = ['environment.yml', 'environment.yaml'].map((name) => readSmallFile(join(project, name)));
  const name = /^name:\s*['"]?([\w.-]+)['"]?\s*(?:#.*)?$/m.exec(texts.find((text) => text !== undefined) ?? '')?.[1];
  if (name === undefined || name === 'base') return undefined;
  const known = readSmallFile(join(homeOf(env), '.conda', 'environments.txt'), 1024 * 1024) ?? '';
  return known.split(/\r?\n/).find((folder) => basename(folder) === name && existsSync(folder));
}

/** What another user may write to is nobody's project: /tmp and the like. */
function isOwn(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return false;
  // Shared by its mode, whoever it belongs to: root's /tmp too.
  if ((found.mode & sharedMode) === sharedMode) return false;
  return process.getuid === undefined || found.uid === process.getuid();
}
