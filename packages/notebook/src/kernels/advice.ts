import { join } from 'node:path';
import { shellWord } from '@notebridge/kit/shell-word';

/** What decides how a package gets into a Python. */
export interface InstallFacts {
  readonly python: string;
  readonly hasPip: boolean;
  /** The folder of an environment of conda. */
  readonly condaPrefix?: string | undefined;
  readonly isManaged?: boolean | undefined;
  /** Where a new environment may be made. */
  readonly folder: string;
  readonly hasUv: boolean;
}

/** The command that puts ipykernel (and with it jupyter_client) into this very Python. */
export function installCommand({ python, hasPip, condaPrefix, isManaged, folder, hasUv }: InstallFacts): string {
  if (condaPrefix !== undefined) return `conda install --yes --prefix ${shellWord(condaPrefix)} ipykernel`;
  const venv = join(folder, '.venv');
  if (isManaged) {
    // What the system keeps is not for pip: an environment of the project's own is.
    if (hasUv) return `uv venv ${shellWord(venv)} && uv pip install --python ${shellWord(venv)} ipykernel`;
    const own = join(venv, process.platform === 'win32' ? 'Scripts' : 'bin', 'python');
    return `${shellWord(python)} -m venv ${shellWord(venv)} && ${shellWord(own)} -m pip install ipykernel`;
  }
  if (hasUv) return `uv pip install --python ${shellWord(python)} ipykernel`;
  const install = `${shellWord(python)} -m pip install ipykernel`;
  return hasPip ? install : `${shellWord(python)} -m ensurepip && ${install}`;
}

/** Makes an environment anew whose Python is gone. */
export function renewCommand(folder: string, hasUv: boolean): string {
  if (hasUv) return `uv venv --clear ${shellWord(folder)} && uv pip install --python ${shellWord(folder)} ipykernel`;
  const own = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin', 'python');
  return `python3 -m venv --clear ${shellWord(folder)} && ${shellWord(own)} -m pip install ipykernel`;
}
