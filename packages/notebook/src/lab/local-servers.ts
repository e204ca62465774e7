import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { isJsonObject } from '@notebridge/protocol/json';
import { processExists } from '@notebridge/system/processes/living-process';

export type LabEnvironment = { readonly [name: string]: string | undefined };

/** A Jupyter server of this user on this machine, as its runtime file describes it. */
export interface LocalServer {
  readonly baseUrl: string;
  readonly token: string;
  /** Its root folder. */
  readonly folder: string;
  readonly processId: number;
}

let isWritten = (_file: string): boolean => false;

/** From now on no file is taken for that of a server which `judge` says code in a sandbox may have written: it names an address and a token. */
export function leaveOutServerFiles(judge: (file: string) => boolean): void {
  isWritten = judge;
}

/**
 * The Jupyter servers that this user runs here: each writes a file with its address and token into Jupyter's runtime folder. A file of
 * another user, or of a process that has ended, is none.
 */
export async function findLocalServers(env: LabEnvironment = process.env): Promise<LocalServer[]> {
  const folder = runtimeFolder(env);
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => /^(jp|nb)server-\d+\.json$/.test(name)).map((name) => join(folder, name));
  const found = await Promise.all(files.map((file) => readServer(file)));
  const servers = found.filter((server) => server !== undefined);
  return servers.sort((a, b) => a.baseUrl.localeCompare(b.baseUrl));
}

/** The path of a file below a server's root folder; undefined for one that is elsewhere. */
export function pathOnServer({ folder }: LocalServer, file: string): string | undefined {
  const path = relative(folder, file);
  return path === '' || path.startsWith('..') || isAbsolute(path) ? undefined : path.replaceAll('\\', '/');
}

/** As `jupyter --runtime-dir` says. */
function runtimeFolder(env: LabEnvironment): string {
  const { JUPYTER_RUNTIME_DIR, JUPYTER_DATA_DIR, XDG_DATA_HOME, APPDATA, HOME = homedir() } = env;
  if (JUPYTER_RUNTIME_DIR) return JUPYTER_RUNTIME_DIR;
  if (JUPYTER_DATA_DIR) return join(JUPYTER_DATA_DIR, 'runtime');
  if (process.platform === 'darwin') return join(HOME, 'Library/Jupyter/runtime');
  if (process.platform === 'win32') return join(APPDATA ?? join(HOME, 'AppData/Roaming'), 'jupyter/runtime');
  return join(XDG_DATA_HOME || join(HOME, '.local/share'), 'jupyter/runtime');
}

async function readServer(file: string): Promise<LocalServer | undefined> {
  try {
    if (isWritten(file)) return undefined;
    const { uid } = await stat(file);
    if (process.getuid && uid !== process.getuid()) return undefined;
    const server: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (!isJsonObject(server) || typeof server.url !== 'string' || typeof server.pid !== 'number') return undefined;
    // One on a Unix socket has no address for us.
    if (server.sock || !processExists(server.pid)) return undefined;
    const folder = String(server.root_dir ?? server.notebook_dir ?? '');
    return { baseUrl: toDialable(server.url), token: String(server.token ?? ''), folder, processId: server.pid };
  } catch {
    // Half written, gone by now, or nobody knows who wrote it.
    return undefined;
  }
}

/** A server that listens on all addresses names none that can be dialled. */
function toDialable(text: string): string {
  const url = new URL(text);
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  return url.href;
}
