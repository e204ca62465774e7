import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { CodeStart } from '@notebridge/system/starts/code-places';
import { namesIn } from '@notebridge/system/starts/seen-files';
import { readSmallFile } from '@notebridge/system/starts/small-file';

/** A kernelspec as its `kernel.json` has it (https://jupyter-client.readthedocs.io/en/stable/kernels.html#kernel-specs). */
export interface Kernelspec {
  /** The name of its folder, in lower case, as Jupyter takes it. */
  readonly name: string;
  readonly folder: string;
  readonly displayName: string;
  readonly language: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const validName = /^[a-z0-9._-]+$/i;

/** All kernelspecs below these folders; the first of a name wins, as in Jupyter. What cannot be read is left out. */
export function readKernelspecs(folders: readonly string[]): Kernelspec[] {
  const found = new Map<string, Kernelspec>();
  for (const folder of folders) {
    for (const entry of namesIn(folder).sort()) {
      const name = entry.toLowerCase();
      if (!validName.test(name) || found.has(name)) continue;
      const spec = readKernelspec(name, join(folder, entry));
      if (spec) found.set(name, spec);
    }
  }
  return [...found.values()];
}

function readKernelspec(name: string, folder: string): Kernelspec | undefined {
  try {
    const { argv, display_name, language, env } = JSON.parse(readSmallFile(join(folder, 'kernel.json'), 1024 * 1024) ?? '');
    if (!Array.isArray(argv) || argv.length === 0 || !argv.every((part) => typeof part === 'string')) return undefined;
    return {
      name,
      folder,
      argv,
      displayName: typeof display_name === 'string' && display_name.trim() !== '' ? display_name : name,
      language: typeof language === 'string' ? language.toLowerCase() : '',
      env: typeof env === 'object' && env !== null ? env : {},
    };
  } catch {
    return undefined;
  }
}

/** The options of an ipykernel that change nothing about which code runs. */
const plainOptions = [/^-X$/, /^-?X?frozen_modules=(off|on)$/, /^-Xfrozen_modules=(off|on)$/, /^-f$/, /^\{connection_file\}$/];

/** It is ipykernel of a Python and nothing else. */
export function isPlainPython({ argv, env }: Kernelspec): boolean {
  const [program = '', ...args] = argv;
  const at = args.indexOf('-m');
  if (!isPythonName(program) || at === -1 || !['ipykernel_launcher', 'ipykernel'].includes(args[at + 1] ?? '')) return false;
  const others = args.filter((_, index) => index !== at && index !== at + 1);
  return others.every((option) => plainOptions.some((plain) => plain.test(option))) && Object.keys(env).length === 0;
}

/**
 * It starts the usual kernel of its language and nothing else: ipykernel, IRkernel, IJulia. Any other (another program, another
 * machine, variables that change what is loaded) may be meant so by whoever installed it, and is asked about all the same when
 * only a notebook from elsewhere names it.
 */
export function isPlain(spec: Kernelspec): boolean {
  if (isPlainPython(spec)) return true;
  const [program = '', ...args] = spec.argv;
  if (Object.keys(spec.env).some((name) => !/^(JULIA_NUM_THREADS|R_LIBS_USER)$/.test(name))) return false;
  const name = basename(program).replace(/\.exe$/i, '');
  if (name === 'R' || name === 'Rscript') return args.includes('IRkernel::main()') && args.filter((arg) => arg === '-e').length <= 1;
  return name === 'julia' && args.some((arg) => /[\\/]IJulia[\\/].*kernel\.jl$/.test(arg)) && !args.some((arg) => /^(-e|-E|-L)$/.test(arg));
}

/** The command line that starts it in this folder, with the places that Jupyter fills in. */
export function startOfSpec({ argv, env, folder }: Kernelspec, cwd: string): CodeStart {
  const fill = (text: unknown) => String(text).replaceAll('{resource_dir}', folder);
  return { argv: argv.map(fill), env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, fill(text)])), cwd };
}

/** The Python that a kernelspec of Python runs, by absolute path; undefined for that of Jupyter itself (`python` and the like). */
export function pythonOfSpec({ argv, folder }: Kernelspec): string | undefined {
  const [program = ''] = argv;
  if (isAbsolute(program)) return program;
  // `PREFIX/share/jupyter/kernels/NAME`: the spec of that very environment.
  const prefix = dirname(dirname(dirname(dirname(folder))));
  const near = [join(prefix, 'bin', program), join(prefix, 'Scripts', `${program}.exe`), join(prefix, `${program}.exe`)];
  return near.find((path) => existsSync(path));
}

export function isPythonName(program: string): boolean {
  return /^(python|pypy)\d*(\.\d+)?(\.exe)?$/i.test(basename(program.replaceAll('\\', '/')));
}
