import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';

export type Variables = Readonly<Record<string, string | undefined>>;

export interface JupyterFoldersOptions {
  env?: Variables | undefined;
  platform?: NodeJS.Platform | undefined;
  /** Folders of Python environments whose `share/jupyter` counts: the activated one, that of `python3`. Each is one that may be run. */
  prefixes: readonly string[];
  /** Those of all users. Default: as Jupyter has them on this platform. */
  systemFolders?: readonly string[] | undefined;
}

/**
 * The folders that hold kernelspecs, in the order of `jupyter_core.paths.jupyter_path` (5.9): the first of a name wins. Relative entries
 * are passed over: they would mean the working directory, where anybody's files may be.
 */
export function jupyterKernelFolders(options: JupyterFoldersOptions): string[] {
  const { env = process.env, platform = process.platform, prefixes } = options;
  const ofSystem = options.systemFolders ?? systemFolders(env, platform);
  const named = (env.JUPYTER_PATH ?? '').split(delimiter);
  const ofUser = [userDataFolder(env, platform), ...userBase(env, platform)];
  const ofPrefixes = prefixes.map((prefix) => join(prefix, 'share', 'jupyter'));
  // As in Jupyter: an activated environment comes before the user's folders, unless JUPYTER_PREFER_ENV_PATH says otherwise.
  const prefersEnvironment = isSet(env.JUPYTER_PREFER_ENV_PATH, isEnvironmentActive(env));
  const middle = prefersEnvironment ? [...ofPrefixes, ...ofUser] : [...ofUser, ...ofPrefixes];
  const all = [...named, ...middle, ...ofSystem].filter((folder) => isAbsolute(folder));
  return [...new Set(all)].map((folder) => join(folder, 'kernels'));
}

function userDataFolder(env: Variables, platform: NodeJS.Platform): string {
  if (env.JUPYTER_DATA_DIR) return env.JUPYTER_DATA_DIR;
  const home = homeOf(env);
  if (platform === 'darwin') return join(home, 'Library', 'Jupyter');
  if (platform === 'win32')
    return env.APPDATA ? join(env.APPDATA, 'jupyter') : join(env.JUPYTER_CONFIG_DIR ?? join(home, '.jupyter'), 'data');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'jupyter');
}

/** `site.USER_BASE` of Python. macOS and Windows have the version in it, and Jupyter's own folder comes first there anyway. */
function userBase(env: Variables, platform: NodeJS.Platform): string[] {
  if (env.PYTHONUSERBASE) return [join(env.PYTHONUSERBASE, 'share', 'jupyter')];
  return platform === 'linux' ? [join(homeOf(env), '.local', 'share', 'jupyter')] : [];
}

function systemFolders(env: Variables, platform: NodeJS.Platform): string[] {
  if (platform === 'win32') return env.PROGRAMDATA ? [join(env.PROGRAMDATA, 'jupyter')] : [];
  return ['/usr/local/share/jupyter', '/usr/share/jupyter'];
}

function isEnvironmentActive(env: Variables): boolean {
  return Boolean(env.VIRTUAL_ENV) || (Boolean(env.CONDA_PREFIX) && (env.CONDA_DEFAULT_ENV ?? 'base') !== 'base');
}

function isSet(value: string | undefined, otherwise: boolean): boolean {
  return value === undefined ? otherwise : !['no', 'n', 'false', 'off', '0', '0.0'].includes(value.toLowerCase());
}

export function homeOf(env: Variables): string {
  return env.HOME && isAbsolute(env.HOME) ? env.HOME : homedir();
}
