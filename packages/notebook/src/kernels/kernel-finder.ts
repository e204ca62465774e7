import { existsSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isExecutable, pythonOf, readEnvironment } from '@notebridge/sandbox/environment';
import { findProgram } from '@notebridge/sandbox/find-program';
import { writtenFolderOf, writtenFolderOfImports, writtenFolderOfStart } from '@notebridge/sandbox/written-folders';
import { writtenFolderOfPython } from '@notebridge/sandbox/written-python';
import { realPathOf } from '@notebridge/system/starts/seen-files';
import { shellWord } from '@notebridge/system/starts/shell-word';
import { type FolderFindings, findFolderEnvironments } from './folder-environments.js';
import { type FoundKernel, pyodideKernel } from './found-kernel.js';
import { type InterpreterLook, lookAtInterpreter } from './interpreter-look.js';
import { type JudgedPython, judgeEnvironment, judgeLook, type MachineFacts, missingProgram } from './judge.js';
import { homeOf, jupyterKernelFolders, type Variables } from './jupyter-folders.js';
import { isPlain, isPlainPython, isPythonName, type Kernelspec, pythonOfSpec, readKernelspecs, startOfSpec } from './kernelspecs.js';

export interface KernelFinderOptions {
  /** The folder of the notebook, absolute. */
  folder: string;
  env?: Variables | undefined;
  /** @internal Jupyter's folders of all users. Default: those of this system. */
  systemFolders?: readonly string[] | undefined;
}

/**
 * Looks for the kernels of this machine, each kind when it is asked for, and once. A Python that was merely found in the notebook's
 * folder, or above it, is judged by its files and never run.
 */
export class KernelFinder {
  readonly folder: string;
  readonly #env: Variables;
  readonly #systemFolders: readonly string[] | undefined;
  readonly #machine: MachineFacts;
  readonly #looks = new Map<string, Promise<InterpreterLook>>();
  #inFolder: FolderFindings | undefined;
  #activated: Promise<FoundKernel | undefined> | undefined;
  #onPath: Promise<FoundKernel | undefined> | undefined;
  #specs: Promise<FoundKernel[]> | undefined;

  constructor({ folder, env = process.env, systemFolders }: KernelFinderOptions) {
    this.#systemFolders = systemFolders;
    this.folder = realPathOf(folder) ?? folder;
    this.#env = env;
    this.#machine = { folder: this.folder, hasUv: findProgram('uv', env.PATH) !== undefined };
  }

  /** Everything there is: what is usable first. */
  async all(): Promise<FoundKernel[]> {
    const [activated, onPath, specs] = await Promise.all([this.activated(), this.onPath(), this.kernelspecs()]);
    const environments = [activated, ...this.inFolder(), onPath].filter((found) => found !== undefined);
    const all = [...environments, ...specs.filter((spec) => !isSpecOf(spec, environments)), pyodideKernel];
    return [...all.filter(({ problem }) => !problem), ...all.filter(({ problem }) => problem)];
  }

  /** By what `--kernel` takes. A path is of whoever gave it: the Python there is run to look at it. */
  async find(id: string, from: string = process.cwd()): Promise<FoundKernel | undefined> {
    if (id === pyodideKernel.id) return pyodideKernel;
    const known = this.inFolder().find((found) => found.id === id);
    if (known) return known;
    const listed = isPath(id) ? [await this.activated(), await this.onPath()].find((found) => found?.id === id) : undefined;
    if (listed) return listed;
    if (isPath(id)) return this.#atPath(resolve(from, id));
    return (await this.kernelspecs()).find((spec) => spec.id === id.toLowerCase());
  }

  /** The environment that the shell has activated. */
  activated(): Promise<FoundKernel | undefined> {
    this.#activated ??= this.#findActivated();
    return this.#activated;
  }

  /** Environments of the notebook's project. Each has to be trusted first. */
  inFolder(): FoundKernel[] {
    this.#inFolder ??= findFolderEnvironments(this.folder, this.#env);
    const { environments, uvProject } = this.#inFolder;
    const active = this.#activePrefix();
    const found = environments
      .filter(({ environment }) => active === undefined || realPathOf(environment.folder) !== realPathOf(active))
      .map(({ project, environment }): FoundKernel => {
        const { folder, python, version } = environment;
        const name = dirname(folder) === project ? basename(folder) : `environment ${basename(folder)}`;
        return {
          ...pythonKernel(python, `Python ${version} (${name})`),
          ...judgeEnvironment(environment, { ...this.#machine, folder: project }),
          source: 'folder',
          ...toWritten(python),
          trust: { folder: project, question: `This folder has its own Python (${name}). Use it? It will run code of this folder.` },
        };
      });
    return uvProject === undefined ? found : [...found, this.#uvProject(uvProject)];
  }

  /** `python3` on PATH, unless that is the activated one. */
  onPath(): Promise<FoundKernel | undefined> {
    this.#onPath ??= this.#findOnPath();
    return this.#onPath;
  }

  /** The kernelspec `python3`, where it is another Python than the activated one and that on PATH. */
  async genericSpec(): Promise<FoundKernel | undefined> {
    const environments = [await this.activated(), await this.onPath()].filter((found) => found !== undefined);
    return (await this.kernelspecs()).find((spec) => spec.id === 'python3' && !isSpecOf(spec, environments));
  }

  /** Installed kernelspecs. */
  kernelspecs(): Promise<FoundKernel[]> {
    this.#specs ??= this.#readSpecs();
    return this.#specs;
  }

  async #findActivated(): Promise<FoundKernel | undefined> {
    const prefix = this.#activePrefix();
    if (prefix === undefined) return undefined;
    const isConda = !this.#env.VIRTUAL_ENV;
    const python = pythonOf(prefix, isConda);
    const name = basename(prefix) === '.venv' ? join(basename(dirname(prefix)), '.venv') : basename(prefix);
    if (!isExecutable(python)) {
      const reason = `the shell has activated ${prefix}, which has no Python`;
      return { ...pythonKernel(python, `Python (${name}, activated)`), source: 'activated', problem: { reason, fix: 'deactivate' } };
    }
    return this.#judged(python, (version) => `Python ${version} (${name}, activated)`, 'activated');
  }

  async #findOnPath(): Promise<FoundKernel | undefined> {
    const path = this.#pathOutside();
    const python = ['python3', 'python', 'python.exe'].map((name) => findProgram(name, path)).find((found) => found !== undefined);
    if (python === undefined) return undefined;
    return this.#judged(python, (version) => `Python ${version} (${basename(python)})`, 'path');
  }

  /** PATH without the activated environment, and without the project: what lies there is the project's, whoever has put it on PATH. */
  #pathOutside(): string {
    const home = realPathOf(homeOf(this.#env)) ?? sep;
    const project = this.inFolder()[0]?.trust?.folder ?? this.folder;
    // In the home folder, and above it, lies the person's own: pyenv, conda, ~/bin.
    const isHome = project === home || isInside(project, home);
    const without = [this.#activePrefix(), isHome ? undefined : project].filter((folder) => folder !== undefined);
    const entries = (this.#env.PATH ?? '').split(delimiter);
    return entries.filter((entry) => !without.some((folder) => realPathOf(entry) === folder || isInside(folder, entry))).join(delimiter);
  }

  async #atPath(path: string): Promise<FoundKernel | undefined> {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return undefined;
    const python = found.isDirectory() ? pythonOf(path, existsSync(join(path, 'conda-meta'))) : path;
    const folder = dirname(dirname(python));
    if (!isExecutable(python)) {
      const facts = readEnvironment(folder);
      const problem = (facts && judgeEnvironment(facts, this.#machine).problem) ?? { reason: 'it is not a program that can be run' };
      return { ...pythonKernel(python, `Python (${python})`), source: 'path', problem };
    }
    return this.#judged(python, (version) => `Python ${version} (${basename(folder)})`, 'path');
  }

  async #judged(python: string, nameOf: (version: string) => string, source: FoundKernel['source']): Promise<FoundKernel> {
    const written = writtenFolderOfPython(python);
    if (written !== undefined) return { ...this.#judgedByFiles(python, nameOf, written), source, written };
    const look = await this.#lookAt(python);
    const judged = judgeLook(python, look, this.#machine);
    const executable = 'fault' in look ? undefined : look.executable || python;
    return { ...pythonKernel(python, nameOf(judged.version)), ...judged, source, ...toWritten(python), ...toWritten(executable) };
  }

  /** A Python that code may have written is judged by its files as data: it is not run to be looked at. */
  #judgedByFiles(python: string, nameOf: (version: string) => string, written: string): Omit<FoundKernel, 'source'> {
    const environment = readEnvironment(dirname(dirname(python)));
    if (environment)
      return { ...pythonKernel(python, nameOf(environment.version)), ...judgeEnvironment(environment, this.#machine, python) };
    const reason = `code in a sandbox may write to "${written}", so it is not run to be looked at, and it is no environment, whose files say what it has`;
    const fix = `notebridge grants files --withdraw ${shellWord(written)}   # if you trust what stands there now`;
    return { ...pythonKernel(python, nameOf('')), problem: { reason, fix } };
  }

  async #readSpecs(): Promise<FoundKernel[]> {
    const active = this.#activePrefix();
    const onPath = await this.onPath();
    const look = onPath?.source === 'path' && onPath.path !== undefined ? await this.#lookAt(onPath.path) : undefined;
    const prefixes = [active, look && 'prefix' in look ? look.prefix : undefined].filter((prefix) => prefix !== undefined);
    const folders = jupyterKernelFolders({ env: this.#env, prefixes, systemFolders: this.#systemFolders });
    // A kernelspec says which program is run: one that code may have written says nothing.
    const specs = readKernelspecs(folders).filter(({ folder }) => writtenFolderOf(join(folder, 'kernel.json')) === undefined);
    return Promise.all(specs.map((spec) => this.#judgeSpec(spec)));
  }

  async #judgeSpec(spec: Kernelspec): Promise<FoundKernel> {
    const { name: id, displayName, language, folder: path } = spec;
    const ofFolder = filesRunBy(language, this.folder);
    const trust =
      isPlain(spec) && ofFolder.length === 0
        ? {}
        : {
            trust: {
              folder: this.folder,
              question: `The notebook asks for the kernel "${id}", which runs: ${spec.argv.join(' ').slice(0, 300)}${ofFolder.length > 0 ? `, and with it ${ofFolder.join(', ')} of this folder` : ''}. Run it in the notebooks of this folder?`,
            },
          };
    const found = { id, displayName, language, version: '', source: 'kernelspec' as const, path, ...trust };
    const judged = isPlainPython(spec) ? await this.#judgePython(spec) : await this.#judgeProgram(spec);
    const start = startOfSpec(spec, this.folder);
    // The usual kernel is started by us, without a module of the notebook's folder.
    const argv = isPlainPython(spec) ? start.argv.slice(0, 1) : start.argv;
    const inStart = writtenFolderOfStart({ ...start, argv, findProgram: (name) => findProgram(name, this.#env.PATH) });
    const ofStart = inStart === undefined ? {} : { written: inStart };
    return { ...found, ...judged, ...toWritten(judged.launch?.python), ...toWritten(pythonOfSpec(spec)), ...ofStart };
  }

  async #judgePython(spec: Kernelspec): Promise<JudgedPython> {
    const python = pythonOfSpec(spec) ?? (await this.#jupyterPython());
    if (python === undefined || !isExecutable(python)) return { version: '', problem: missingProgram(python ?? 'python', spec.name) };
    const environment = readEnvironment(dirname(dirname(python)));
    // The files say it sooner than a process, and also of an environment in the notebook's folder, or one that code may have written.
    return environment
      ? judgeEnvironment(environment, this.#machine, python)
      : judgeLook(python, await this.#lookAt(python), this.#machine);
  }

  async #judgeProgram({ argv: [program = ''], name }: Kernelspec): Promise<Pick<FoundKernel, 'problem' | 'launch'>> {
    const isThere = isAbsolute(program)
      ? isExecutable(program)
      : isPythonName(program) || findProgram(program, this.#env.PATH) !== undefined;
    if (!isThere) return { problem: missingProgram(program, name) };
    const python = await this.#jupyterPython();
    if (python !== undefined) return { launch: { python, kernelName: name } };
    const fix = (await this.activated())?.problem?.fix ?? (await this.onPath())?.problem?.fix;
    return { problem: { reason: 'no Python with jupyter_client was found that could start it', ...(fix === undefined ? {} : { fix }) } };
  }

  /** A Python with jupyter_client, which may run. */
  async #jupyterPython(): Promise<string | undefined> {
    const candidates = [await this.activated(), await this.onPath()];
    return candidates.find((found) => found?.launch !== undefined && found.source !== 'folder')?.launch?.python;
  }

  #lookAt(python: string): Promise<InterpreterLook> {
    const known = this.#looks.get(python);
    if (known !== undefined) return known;
    const look = lookAtInterpreter(python, { ...this.#env });
    this.#looks.set(python, look);
    return look;
  }

  #activePrefix(): string | undefined {
    const { VIRTUAL_ENV: venv, CONDA_PREFIX: conda } = this.#env;
    const prefix = venv || conda;
    return prefix && isAbsolute(prefix) ? prefix : undefined;
  }

  #uvProject(project: string): FoundKernel {
    const python = pythonOf(join(project, '.venv'));
    const fix = `uv sync --project ${shellWord(project)} && uv pip install --python ${shellWord(join(project, '.venv'))} ipykernel`;
    const problem = { reason: 'this project of uv has no environment yet', fix };
    return { ...pythonKernel(python, 'Python (uv project)'), source: 'folder', problem };
  }
}

/** The folder of code's for which this Python runs in a sandbox: it lies there, or takes modules from there. */
function toWritten(program: string | undefined): { written?: string } {
  const written = program === undefined ? undefined : (writtenFolderOfPython(program) ?? writtenFolderOfImports(program));
  return written === undefined ? {} : { written };
}

function pythonKernel(path: string, displayName: string): Pick<FoundKernel, 'id' | 'displayName' | 'language' | 'version' | 'path'> {
  return { id: path, displayName: displayName.replace('Python  (', 'Python ('), language: 'python', version: '', path };
}

/** An environment's own `python3` is that environment once more. */
function isSpecOf({ id, launch }: FoundKernel, environments: readonly FoundKernel[]): boolean {
  if (id !== 'python3' || !launch || launch.kernelName !== undefined) return false;
  return environments.some((found) => found.launch && dirname(found.launch.python) === dirname(launch.python));
}

function isPath(id: string): boolean {
  return isAbsolute(id) || id.includes('/') || id.includes(sep);
}

function isInside(folder: string, path: string): boolean {
  const way = relative(realPathOf(folder) ?? folder, join(realPathOf(dirname(path)) ?? dirname(path), basename(path)));
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}

/** Files of the folder, and above it, that a language takes code from when it starts there. */
function filesRunBy(language: string, folder: string): string[] {
  // R reads these of the folder in which it starts, and the first is code.
  if (language === 'r') return ['.Rprofile', '.Renviron', '.RData'].filter((name) => existsSync(join(folder, name)));
  if (language !== 'julia') return [];
  // The kernelspec of IJulia takes the nearest project (`--project=@.`), which says where packages are loaded from.
  const names = ['JuliaProject.toml', 'Project.toml', 'JuliaManifest.toml', 'Manifest.toml'];
  const near = dirname(folder) === folder ? [] : filesRunBy(language, dirname(folder));
  return [...new Set([...names.filter((name) => existsSync(join(folder, name))), ...near])];
}
