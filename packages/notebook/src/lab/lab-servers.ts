import { messageOf } from '@notebridge/protocol/util/message-of';
import { NotebookError } from '../model/errors.js';
import { JupyterServer } from './jupyter-server.js';
import { findLocalServers, type LabEnvironment, type LocalServer, pathOnServer } from './local-servers.js';
import { listExtensions } from './rival.js';
import { toLabAddress } from './server-address.js';
import { createNotebook } from './server-contents.js';

/** What a person has named: a server, a notebook of it, a file that a local server has, or nothing. */
export interface LabTarget {
  readonly baseUrl?: string | undefined;
  readonly token?: string | undefined;
  readonly path?: string | undefined;
  readonly file?: string | undefined;
}

export interface LabServersOptions {
  target: LabTarget;
  env?: LabEnvironment | undefined;
  onSecret?: ((secret: string) => void) | undefined;
}

/** The servers that may be used: the one that a person has named, else those that this user runs here. No other gets a token. */
export class LabServers {
  readonly #options: LabServersOptions;
  readonly #known = new Map<string, JupyterServer>();
  #isClosed = false;

  constructor(options: LabServersOptions) {
    this.#options = options;
  }

  /** The server of that address, else the only one there is. Rejects with `no_notebook`, naming what there is. */
  async find(name: string | undefined): Promise<JupyterServer> {
    const { baseUrl, file } = this.#options.target;
    if (baseUrl !== undefined) {
      if (name !== undefined && !isSameServer(name, baseUrl)) throw notThat(name, [baseUrl]);
      return this.#server(baseUrl);
    }
    if (file !== undefined && name === undefined) return this.#server((await this.findForFile(file)).baseUrl);
    const local = await this.#local();
    const [only, another] = name === undefined ? local : local.filter((server) => isSameServer(server.baseUrl, name));
    if (another) throw several(local);
    if (only) return this.#server(only.baseUrl);
    throw notThat(
      name ?? '',
      local.map((server) => server.baseUrl),
    );
  }

  /** The one local server that has the file. Rejects with `no_notebook`. */
  async findForFile(file: string): Promise<LocalServer> {
    const local = await this.#local();
    const having = local.filter((server) => pathOnServer(server, file) !== undefined);
    const [only, another] = having;
    if (another) throw several(having);
    if (only) return only;
    const there = local.map(({ baseUrl, folder }) => `${baseUrl} has ${folder}`).join('; ');
    throw new NotebookError(
      'no_notebook',
      `No Jupyter server of yours has the file "${file}" below its folder (${there}). Start one there: jupyter lab.`,
    );
  }

  /** The server that may be used and has the file below its folder; undefined: none has. Rejects with `no_notebook` where none runs. */
  async ofFile(file: string): Promise<LocalServer | undefined> {
    const { baseUrl } = this.#options.target;
    const local = baseUrl === undefined ? await this.#local() : await findLocalServers(this.#options.env);
    return local.find(
      (server) => (baseUrl === undefined || isSameServer(server.baseUrl, baseUrl)) && pathOnServer(server, file) !== undefined,
    );
  }

  /** The address by which a server of this user calls itself: `localhost` and its numbers are one notebook. Any other stays as it is. */
  async ownAddressOf(baseUrl: string): Promise<string> {
    return (await findServerOfUser(baseUrl, this.#options.env)) ?? baseUrl;
  }

  /** Ends what waits for a server. Closing twice is harmless. */
  close(): void {
    this.#isClosed = true;
    for (const server of this.#known.values()) server.close();
  }

  /** Other servers of this user, where there are any. */
  async others({ name }: JupyterServer): Promise<{ other_servers?: object[] }> {
    if (this.#options.target.baseUrl !== undefined) return {};
    const others = (await findLocalServers(this.#options.env)).filter(({ baseUrl }) => baseUrl !== name);
    return others.length === 0 ? {} : { other_servers: others.map(({ baseUrl, folder }) => ({ server: baseUrl, folder })) };
  }

  async #local(): Promise<LocalServer[]> {
    const local = await findLocalServers(this.#options.env);
    if (local.length > 0) return local;
    const next = 'Start one ("jupyter lab") and call again, or name its address: --notebook jupyter=http://localhost:8888/lab.';
    throw new NotebookError('no_notebook', `No Jupyter server of yours runs on this machine. ${next}`);
  }

  async #server(baseUrl: string): Promise<JupyterServer> {
    const known = this.#known.get(baseUrl);
    if (known) return known;
    const token = await this.#tokenOf(baseUrl);
    const made = this.#known.get(baseUrl) ?? new JupyterServer({ baseUrl, token: token ?? '' }, () => this.#tokenOf(baseUrl));
    this.#known.set(baseUrl, made);
    // Its token was looked for meanwhile.
    if (this.#isClosed) made.close();
    return made;
  }

  /** That of the address, of the environment for the server that was named, or of the server's own file. */
  async #tokenOf(baseUrl: string): Promise<string | undefined> {
    const { target, env = process.env, onSecret } = this.#options;
    const named = target.baseUrl === baseUrl ? (target.token ?? env.JUPYTER_TOKEN) : undefined;
    const token =
      named || (await findLocalServers(env)).find((server) => isSameServer(server.baseUrl, baseUrl))?.token || env.JUPYTER_TOKEN;
    if (token) onSecret?.(token);
    return token;
  }
}

/** The address that a local server of this user gives itself; undefined if none of them is at that one. */
export async function findServerOfUser(baseUrl: string, env?: LabEnvironment): Promise<string | undefined> {
  return (await findLocalServers(env)).find((server) => isSameServer(server.baseUrl, baseUrl))?.baseUrl;
}

/** The addresses by which servers of this user have the file. */
export async function findLabAddresses(file: string, env?: LabEnvironment): Promise<string[]> {
  const servers = await findLocalServers(env);
  return servers.flatMap((server) => {
    const path = pathOnServer(server, file);
    return path === undefined ? [] : [toLabAddress(server.baseUrl, path)];
  });
}

/** Makes an empty notebook on a server of this user. Rejects as making one does, and with why the server cannot be reached. */
export async function createOnServer({ baseUrl, path }: { baseUrl: string; path: string }, env?: LabEnvironment): Promise<void> {
  const servers = new LabServers({ target: { baseUrl }, env });
  try {
    await createNotebook(await servers.find(undefined), path);
  } finally {
    servers.close();
  }
}

/** A Jupyter server of this user, and what agents lack there. */
export interface ServerLook {
  readonly baseUrl: string;
  readonly folder: string;
  readonly problem?: { readonly reason: string; readonly fix?: string };
}

/** What `--notebook jupyter` would find. Never rejects for a server. */
export async function lookAtServers(env?: LabEnvironment): Promise<ServerLook[]> {
  const servers = new LabServers({ target: {}, env });
  try {
    const local = await findLocalServers(env);
    return await Promise.all(local.map(async ({ baseUrl, folder }) => ({ baseUrl, folder, ...(await judge(servers, baseUrl)) })));
  } finally {
    servers.close();
  }
}

async function judge(servers: LabServers, baseUrl: string): Promise<Pick<ServerLook, 'problem'>> {
  try {
    const server = await servers.find(baseUrl);
    await server.request('api/status');
    if ((await listExtensions(server)).includes('@jupyter/collaboration-extension')) return {};
    const reason = 'it has no jupyter-collaboration, so open tabs show the edits of an agent only when they are reloaded';
    return { problem: { reason, fix: 'pip install jupyter-collaboration   # in its environment; then start it again' } };
  } catch (error) {
    return { problem: { reason: messageOf(error) } };
  }
}

/** `localhost` and its numbers are the same machine. */
function isSameServer(left: string, right: string): boolean {
  if (!URL.canParse(left) || !URL.canParse(right)) return left === right;
  const [a, b] = [left, right].map((url) => new URL(url.replace(/\/\/(127\.0\.0\.1|\[::1\])/, '//localhost')).href);
  return a === b;
}

function several(servers: readonly LocalServer[]): NotebookError {
  const named = servers.map(({ baseUrl, folder }) => `${baseUrl} (folder ${folder})`).join(', ');
  return new NotebookError(
    'no_notebook',
    `Several Jupyter servers of yours run: ${named}. Say which one is meant: by "server" of list_notebooks and the whole address in connect_notebook, or by --notebook jupyter=ADDRESS.`,
    {
      data: { servers: servers.map(({ baseUrl }) => baseUrl) },
    },
  );
}

function notThat(name: string, known: readonly string[]): NotebookError {
  return new NotebookError(
    'no_notebook',
    `The Jupyter server "${name}" is not one that may be used here: ${known.join(', ')}. A person can name another one: --notebook jupyter=ADDRESS.`,
  );
}
