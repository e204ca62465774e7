/** Where a kernel was found. */
export type KernelSource =
  /** Comes with Notebridge: Pyodide. */
  | 'built in'
  /** The environment that the shell has activated (`VIRTUAL_ENV`, `CONDA_PREFIX`). */
  | 'activated'
  /** A kernelspec in one of Jupyter's data folders. */
  | 'kernelspec'
  /** An environment in the notebook's folder or one above it. */
  | 'folder'
  /** `python3` on PATH, or a Python that was named by its path. */
  | 'path';

/** Why a kernel cannot be used as it is. */
export interface KernelProblem {
  readonly reason: string;
  /** The exact command, or the step, that makes it usable. */
  readonly fix?: string;
  /** It lacks ipykernel alone, and uv is here, which can start it with one beside it and change nothing: the environment's folder. */
  readonly uvEnvironment?: string;
}

/** What a person is asked before a kernel runs for the first time. */
export interface TrustQuestion {
  /** The folder that is trusted with a yes, by its real path. */
  readonly folder: string;
  readonly question: string;
}

/** How the kernel's program is started. */
export interface KernelLaunch {
  /** A Python with jupyter_client, by absolute path. */
  readonly python: string;
  /** The kernelspec to start. Undefined: that Python's own ipykernel. */
  readonly kernelName?: string;
}

/** A kernel of this machine, whether or not it can be used. Plain JSON. */
export interface FoundKernel {
  /** What `--kernel` takes: `pyodide`, the name of a kernelspec, or the absolute path of a Python. */
  readonly id: string;
  /** For people. Comes from files on this machine: untrusted text. */
  readonly displayName: string;
  readonly language: string;
  /** Of the language; empty where it is not known before the kernel runs. */
  readonly version: string;
  readonly source: KernelSource;
  /** Of the Python, or of the folder of the kernelspec. Undefined for Pyodide. */
  readonly path?: string;
  /** Undefined: it can be used. */
  readonly problem?: KernelProblem;
  /** Has to be answered with yes before it runs, unless a person or an argument names this very kernel. Undefined: it may run unasked. */
  readonly trust?: TrustQuestion;
  /** It, or what it loads as it starts, lies in this folder, which code in a sandbox was given to write to: unless a person has switched sandboxes off, it runs in one alone. */
  readonly written?: string;
  /** Undefined for Pyodide, and for what cannot be used. */
  readonly launch?: KernelLaunch;
}

export const pyodideKernel: FoundKernel = {
  id: 'pyodide',
  displayName: 'Python (Pyodide)',
  language: 'python',
  version: '',
  source: 'built in',
};
