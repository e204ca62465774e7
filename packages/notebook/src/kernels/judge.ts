import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EnvironmentFacts } from '@notebridge/sandbox/environment';
import { shellWord } from '@notebridge/system/starts/shell-word';
import type { FoundKernel, KernelProblem } from './found-kernel.js';
import type { InterpreterFacts, InterpreterLook } from './interpreter-look.js';

/** Whether a Python can be used: why not, or how it is launched. */
export type JudgedPython = Pick<FoundKernel, 'version' | 'problem' | 'launch'>;

export interface MachineFacts {
  /** Where a new environment may be made: the notebook's folder. */
  readonly folder: string;
  readonly hasUv: boolean;
}

/** ipykernel 6 and jupyter_client 7 run on it, and our helper too. */
const leastPython = [3, 8] as const;
const leastClient = [7, 0] as const;

/** Judges the Python of an environment by what its files say. `python`: by which of its names it was found. */
export function judgeEnvironment(facts: EnvironmentFacts, machine: MachineFacts, python = facts.python): JudgedPython {
  return toJudged(facts.version, python, findFaultOfEnvironment(facts, machine));
}

/** Judges a Python by what it says of itself. `path` is where it was found. */
export function judgeLook(path: string, look: InterpreterLook, machine: MachineFacts): JudgedPython {
  if ('fault' in look) {
    const fix = `${shellWord(path)} --version   # shows the fault; make it anew, or choose another`;
    return toJudged('', path, { reason: `it does not start: ${look.fault}`, fix });
  }
  return toJudged(look.version, look.executable || path, findFaultOfLook(path, look, machine));
}

function toJudged(version: string, python: string, problem: KernelProblem | undefined): JudgedPython {
  return { version, ...(problem ? { problem } : { launch: { python } }) };
}

function findFaultOfEnvironment(facts: EnvironmentFacts, { folder, hasUv }: MachineFacts): KernelProblem | undefined {
  if (!facts.hasPython) {
    const gone = facts.home === undefined ? '' : `; it was made of the one in ${facts.home}`;
    return { reason: `its Python is not there any more${gone}`, fix: renewCommand(facts.folder, hasUv) };
  }
  if (facts.version !== '' && isOlder(facts.version, leastPython)) return tooOld(facts.version, hasUv);
  if (facts.ipykernel !== undefined) return undefined;
  const { python, hasPip } = facts;
  const condaPrefix = facts.kind === 'conda' ? facts.folder : undefined;
  const fix = installCommand({ python, hasPip, condaPrefix, folder, hasUv });
  return { reason: 'it has no ipykernel', fix, ...(hasUv && facts.kind === 'venv' ? { uvEnvironment: facts.folder } : {}) };
}

function findFaultOfLook(path: string, look: InterpreterFacts, { folder, hasUv }: MachineFacts): KernelProblem | undefined {
  if (isOlder(look.version, leastPython)) return tooOld(look.version, hasUv);
  const { executable, hasPip, isManaged } = look;
  const facts = { python: executable || path, hasPip, isManaged, folder, hasUv };
  if (look.ipykernel === null) {
    const uv = hasUv && existsSync(join(look.prefix, 'pyvenv.cfg')) ? { uvEnvironment: look.prefix } : {};
    return { reason: 'it has no ipykernel', fix: installCommand(facts), ...uv };
  }
  if (look.jupyterClient === null || isOlder(look.jupyterClient, leastClient)) {
    const reason = `its jupyter_client ${look.jupyterClient === null ? 'is missing' : `(${look.jupyterClient}) is older than 7`}`;
    return { reason, fix: `${installCommand(facts)} --upgrade jupyter_client` };
  }
  return undefined;
}

/** Of a program that a kernelspec names. */
export function missingProgram(program: string, specName: string): KernelProblem {
  const where = dirname(program) === '.' ? 'not on PATH' : 'not there any more';
  return {
    reason: `its program ${JSON.stringify(program.slice(0, 200))} is ${where}`,
    fix: `jupyter kernelspec remove ${shellWord(specName)}   # or install the program again`,
  };
}

function tooOld(version: string, hasUv: boolean): KernelProblem {
  const fix = hasUv
    ? 'uv venv --python 3.12 .venv && uv pip install --python .venv ipykernel'
    : 'Make an environment with a newer Python: python3.12 -m venv .venv && .venv/bin/python -m pip install ipykernel';
  return { reason: `Python ${version} is too old; ${leastPython.join('.')} or newer is needed`, fix };
}

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}

/** What decides how a package gets into a Python. */
interface InstallFacts {
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
function installCommand({ python, hasPip, condaPrefix, isManaged, folder, hasUv }: InstallFacts): string {
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
function renewCommand(folder: string, hasUv: boolean): string {
  if (hasUv) return `uv venv --clear ${shellWord(folder)} && uv pip install --python ${shellWord(folder)} ipykernel`;
  const own = join(folder, process.platform === 'win32' ? 'Scripts' : 'bin', 'python');
  return `python3 -m venv --clear ${shellWord(folder)} && ${shellWord(own)} -m pip install ipykernel`;
}
