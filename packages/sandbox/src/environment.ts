import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '@notebridge/system/starts/seen-files';
import { readSmallFile } from '@notebridge/system/starts/small-file';

/** A Python environment as its files describe it. Nothing of it is run: it may be anybody's. */
export interface EnvironmentFacts {
  readonly folder: string;
  readonly kind: 'venv' | 'conda';
  /** Its interpreter, by absolute path, whether or not that works. */
  readonly python: string;
  /** Empty where its files do not say it. */
  readonly version: string;
  /** The interpreter is there. A link into nothing is none: the Python that it was made of is gone. */
  readonly hasPython: boolean;
  /** The folder of the Python that it was made of, for a venv. */
  readonly home: string | undefined;
  /** The installed version; `unknown` where packages of another folder count as well. */
  readonly ipykernel: string | undefined;
  readonly hasPip: boolean;
}

/** Reads an environment's folder. Undefined: it is none. */
export function readEnvironment(folder: string, platform: NodeJS.Platform = process.platform): EnvironmentFacts | undefined {
  const config = readSmallFile(join(folder, 'pyvenv.cfg'));
  const isConda = config === undefined && existsSync(join(folder, 'conda-meta'));
  if (config === undefined && !isConda) return undefined;
  const settings = parseSettings(config ?? '');
  const python = pythonOf(folder, isConda, platform);
  const packages = packagesOf(folder, platform);
  const isShared = settings.get('include-system-site-packages') === 'true';
  return {
    folder,
    kind: isConda ? 'conda' : 'venv',
    python,
    version: versionIn(settings.get('version_info') ?? settings.get('version')) ?? (isConda ? condaVersion(folder) : ''),
    hasPython: isExecutable(python),
    home: settings.get('home'),
    ipykernel: packages.get('ipykernel') ?? (isShared ? 'unknown' : undefined),
    hasPip: packages.has('pip') || isShared,
  };
}

/** The interpreter that an environment has by its layout. */
export function pythonOf(folder: string, isConda = false, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return isConda ? join(folder, 'python.exe') : join(folder, 'Scripts', 'python.exe');
  return join(folder, 'bin', 'python');
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** `key = value` lines, as Python's `site` reads them. */
function parseSettings(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/).map((line) => /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(line));
  return new Map(lines.flatMap((line) => (line ? [[(line[1] ?? '').toLowerCase(), line[2] ?? ''] as const] : [])));
}

function versionIn(text: string | undefined): string | undefined {
  return /^\d+\.\d+(?:\.\d+)?/.exec(text ?? '')?.[0];
}

function condaVersion(folder: string): string {
  const found = namesIn(join(folder, 'conda-meta')).map((name) => /^python-(\d+\.\d+(?:\.\d+)?)-/.exec(name)?.[1]);
  return found.find((version) => version !== undefined) ?? '';
}

/** Installed packages by name, with their versions, as the names of their metadata folders have them. */
function packagesOf(folder: string, platform: NodeJS.Platform): Map<string, string> {
  const libraries =
    platform === 'win32'
      ? [join(folder, 'Lib')]
      : namesIn(join(folder, 'lib'))
          .filter((name) => /^(python|pypy)3/.test(name))
          .map((name) => join(folder, 'lib', name));
  const names = libraries.flatMap((library) => namesIn(join(library, 'site-packages')));
  const found = names.map((name) => /^([\w.]+?)-([\w.!+]+?)(?:-py[\d.]+)?\.(?:dist|egg)-info$/.exec(name));
  return new Map(found.flatMap((match) => (match ? [[(match[1] ?? '').toLowerCase(), match[2] ?? ''] as const] : [])));
}
