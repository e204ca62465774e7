import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { type FoundKernel, pyodideKernel } from './found-kernel.js';
import type { KernelFinder } from './kernel-finder.js';

/** Folders whose own Python a person has allowed to run, by their real paths. */
export interface FolderTrust {
  has(folder: string): boolean;
  /** Keeps it for all notebooks of this user. Rejects with what kept it from being written. */
  add(folder: string): Promise<void>;
  remove(folder: string): Promise<void>;
}

/** What runs the code of a notebook, and why. */
export interface KernelDecision {
  readonly kernel: FoundKernel;
  /** For people and agents: `the notebook names it`. */
  readonly reason: string;
  /** What would be better, and has to be asked for. */
  readonly proposal?: FoundKernel;
  /** What the person should know: the notebook asks for something that is not here, or the next command. */
  readonly notice?: string;
}

/** What a notebook's metadata says of its kernel. Comes from the file: untrusted. */
export interface NamedKernel {
  readonly name: string | undefined;
  readonly language: string;
  readonly displayName: string;
}

/**
 * `auto`: what the notebook names among the installed kernelspecs, or the activated environment; else the environment of its folder, once
 * the folder is trusted; else `python3` with ipykernel; else Pyodide. Runs no Python of the folder, and no unusual kernelspec, unasked.
 */
export async function chooseKernel(finder: KernelFinder, metadata: JsonObject, trust: FolderTrust): Promise<KernelDecision> {
  const named = readNamedKernel(metadata);
  if (isPyodide(named)) return withProposal({ kernel: pyodideKernel, reason: 'the notebook was last used with it' }, finder, trust);
  if (named.name !== undefined && !isGeneric(named.name)) {
    const decision = await chooseNamed({ ...named, name: named.name }, finder, trust);
    if ('kernel' in decision) return decision;
    // Code of another language means nothing to a Python.
    if (named.language !== 'python') return { kernel: pyodideKernel, reason: 'nothing else can run it here', ...decision };
    const other = await choosePython(finder, trust);
    return { ...other, ...decision };
  }
  if (named.language !== 'python') {
    const notice = `The notebook is in the language ${quoted(named.language)}, and names no kernel that is installed here.`;
    return { kernel: pyodideKernel, reason: 'nothing else can run it here', notice };
  }
  return choosePython(finder, trust);
}

/** An installed kernelspec other than `python3`; or what is to be said where it does not run. */
async function chooseNamed(
  { name, language }: NamedKernel & { name: string },
  finder: KernelFinder,
  trust: FolderTrust,
): Promise<KernelDecision | { proposal?: FoundKernel; notice?: string }> {
  const spec = (await finder.kernelspecs()).find(({ id }) => id === name.toLowerCase());
  const asks = `The notebook asks for the kernel ${quoted(name)}`;
  if (!spec) return { notice: `${asks}, which is not installed here.` };
  if (spec.problem)
    return { notice: `${asks}: ${spec.problem.reason}.${spec.problem.fix === undefined ? '' : ` To fix it: ${spec.problem.fix}`}` };
  const isOfItsLanguage = spec.language === language;
  if (isOfItsLanguage && (!spec.trust || trust.has(spec.trust.folder))) return { kernel: spec, reason: 'the notebook names it' };
  const question = spec.trust?.question ?? `${asks}, which runs code in ${quoted(spec.language)}. Use it?`;
  return { proposal: { ...spec, trust: { folder: spec.trust?.folder ?? finder.folder, question } } };
}

/** Any Python will do. */
async function choosePython(finder: KernelFinder, trust: FolderTrust): Promise<KernelDecision> {
  const activated = await finder.activated();
  if (activated && !activated.problem) return { kernel: activated, reason: 'its environment is activated' };
  const notice = noticeOf(activated, 'The activated environment cannot be used');
  const ofFolder = finder.inFolder();
  const own = ofFolder.find(({ problem }) => !problem);
  if (own?.trust && trust.has(own.trust.folder))
    return { kernel: own, reason: 'it is the environment of this folder, which you trust', ...notice };
  const proposal = own ? { proposal: own } : {};
  const ofBroken = notice.notice === undefined ? noticeOf(ofFolder[0], 'The environment of this folder cannot be used') : notice;
  const spec = await finder.genericSpec();
  if (spec && !spec.problem && !spec.trust)
    return { kernel: spec, reason: 'it is the installed Python of Jupyter', ...proposal, ...(own ? notice : ofBroken) };
  const onPath = await finder.onPath();
  if (onPath && !onPath.problem && !onPath.trust)
    return { kernel: onPath, reason: 'it is the python3 of this machine', ...proposal, ...(own ? notice : ofBroken) };
  const last = own || ofBroken.notice !== undefined ? ofBroken : noticeOf(onPath, `${onPath?.path ?? 'python3'} cannot be used`);
  // One was found: what keeps it from running is the question.
  const reason = own ? 'until a person allows the Python of this folder' : 'no Python with ipykernel was found';
  return { kernel: pyodideKernel, reason, ...proposal, ...(own ? notice : last) };
}

/** What the folder has for a notebook that was Pyodide's: shown, never taken unasked. */
function withProposal(decision: KernelDecision, finder: KernelFinder, trust: FolderTrust): KernelDecision {
  const own = finder.inFolder().find(({ problem }) => !problem);
  return own?.trust && !trust.has(own.trust.folder) ? { ...decision, proposal: own } : decision;
}

function readNamedKernel(metadata: JsonObject): NamedKernel {
  const spec = asObject(metadata.kernelspec);
  const info = asObject(metadata.language_info);
  const language = text(spec.language) ?? text(info.name) ?? 'python';
  return { name: text(spec.name), displayName: text(spec.display_name) ?? '', language: language.toLowerCase() };
}

/** Nothing, or as little as a new notebook of ours has: a kernel that has run leaves the version of its language. */
export function namesNone({ kernelspec, language_info }: JsonObject): boolean {
  const version = isJsonObject(language_info) ? language_info.version : undefined;
  return kernelspec === undefined || (version === undefined && isGeneric(readNamedKernel({ kernelspec }).name ?? ''));
}

/** As we write it (kernel-metadata.ts), and as JupyterLite does. */
function isPyodide({ name, displayName }: NamedKernel): boolean {
  return name === pyodideKernel.id || ((name === undefined || isGeneric(name)) && /\bpyodide\b/i.test(displayName));
}

/** Names that mean "the Python at hand", on whatever machine the notebook was written. */
function isGeneric(name: string): boolean {
  return /^python[23]?$/i.test(name);
}

function noticeOf(found: FoundKernel | undefined, what: string): { notice?: string } {
  if (!found?.problem) return {};
  const { reason, fix } = found.problem;
  return { notice: `${what}: ${reason}.${fix === undefined ? '' : ` To fix it: ${fix}`}` };
}

export function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 200) : undefined;
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

/** Trust that ends with the notebook. */
export function temporaryTrust(): FolderTrust {
  const folders = new Set<string>();
  return {
    has: (folder) => folders.has(folder),
    add: async (folder) => void folders.add(folder),
    remove: async (folder) => void folders.delete(folder),
  };
}
