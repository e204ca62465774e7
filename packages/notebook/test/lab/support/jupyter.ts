import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pythonWith } from '../../../../../scripts/python-env.mjs';
import { ownPort } from '../../../../notebridge/test/support/own-port.js';
import { JupyterServer } from '../../../src/lab/jupyter-server.js';
import { findLocalServers } from '../../../src/lab/local-servers.js';
import { until } from '../../host/support/until.js';

/** The time that installing JupyterLab may take on a slow line. */
export const installTimeoutMs = 10 * 60_000;

/** JupyterLab with what makes its documents shared. */
function sharingPython(): Promise<string> {
  return pythonWith(['jupyterlab', 'jupyter-collaboration'], { environment: 'collaboration' });
}

export interface LabOptions {
  /** The Python that runs it. Default: one with jupyter-collaboration. */
  python?: () => Promise<string>;
  /** Begins and ends with a slash. Default `/`. */
  baseUrl?: string;
  /** More of the server's options. */
  options?: readonly string[];
  /** More of the environment of the server, and so of its kernels. */
  env?: Record<string, string>;
  /** Done before it starts; the folders are there. */
  prepare?: (lab: TestLab) => Promise<void>;
}

/** A real JupyterLab on a folder of its own. */
export class TestLab {
  readonly folder: string;
  readonly home: string;
  /** Of the server that runs now. */
  token = 'a-token-of-the-test';
  readonly #python: string;
  readonly #port: number;
  readonly #settings: LabOptions;
  #child: ChildProcess | undefined;
  #said: string[] = [];

  private constructor(base: string, python: string, port: number, settings: LabOptions) {
    [this.folder, this.home] = [join(base, 'work'), join(base, 'home')];
    this.#python = python;
    this.#port = port;
    this.#settings = settings;
  }

  static async start(settings: LabOptions = {}): Promise<TestLab> {
    const base = await mkdtemp(join(tmpdir(), 'notebridge-lab-'));
    const python = await (settings.python ?? sharingPython)();
    const lab = new TestLab(base, python, await ownPort(), settings);
    await mkdir(lab.folder);
    await mkdir(lab.home);
    await settings.prepare?.(lab);
    try {
      await lab.run();
      return lab;
    } catch (error) {
      await lab.close();
      throw error;
    }
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#port}${this.#settings.baseUrl ?? '/'}`;
  }

  get runtimeDir(): string {
    return join(this.home, 'runtime');
  }

  get server(): JupyterServer {
    return new JupyterServer({ baseUrl: this.baseUrl, token: this.token });
  }

  /** What a person opens. */
  url(file: string): string {
    return `${this.baseUrl}lab${file === '' ? '' : `/tree/${file}`}?token=${this.token}`;
  }

  async write(file: string, cells: readonly object[], metadata: object = {}): Promise<void> {
    const kernelspec = { display_name: 'Python 3 (ipykernel)', language: 'python', name: 'python3' };
    const notebook = { cells, metadata: { kernelspec, ...metadata }, nbformat: 4, nbformat_minor: 5 };
    await writeFile(join(this.folder, file), JSON.stringify(notebook, null, 1));
  }

  /** Waits for the end of a write: the server empties the file first. */
  read(file: string): Promise<DiskNotebook> {
    return until(async () => {
      const text = await readFile(join(this.folder, file), 'utf8');
      return text.endsWith('}\n') || text.endsWith('}') ? (JSON.parse(text) as DiskNotebook) : false;
    });
  }

  /** Starts it (again): on the same port, with the same folder and token unless another is given. */
  async run(token = this.token): Promise<void> {
    this.token = token;
    const { PATH = '' } = process.env;
    const { baseUrl = '/', options = [], env = {} } = this.#settings;
    const child = spawn(
      this.#python,
      [
        ...['-m', 'jupyterlab', '--no-browser', '--allow-root', '--ServerApp.ip=127.0.0.1', `--ServerApp.port=${this.#port}`],
        ...['--ServerApp.port_retries=0', '--ServerApp.terminals_enabled=False', `--IdentityProvider.token=${token}`],
        ...['--LabApp.news_url=None', '--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate'],
        ...[
          '--LabApp.extension_manager=readonly',
          '--LabApp.expose_app_in_browser=True',
          `--ServerApp.root_dir=${this.folder}`,
          `--ServerApp.base_url=${baseUrl}`,
          ...options,
        ],
      ],
      {
        cwd: this.folder,
        env: {
          ...{ PATH, HOME: this.home, TMPDIR: this.home, JUPYTER_CONFIG_DIR: join(this.home, 'config') },
          ...{ JUPYTER_RUNTIME_DIR: this.runtimeDir, JUPYTER_DATA_DIR: join(this.home, 'data'), IPYTHONDIR: join(this.home, 'ipython') },
          ...env,
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    this.#child = child;
    this.#said = [];
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => this.#said.push(line));
    // It says "is running at" a moment before the file that says where it is stands in its runtime folder.
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`JupyterLab ended:\n${this.#said.slice(-20).join('\n')}`);
      const servers = await findLocalServers({ JUPYTER_RUNTIME_DIR: this.runtimeDir });
      return servers.some(({ processId }) => processId === child.pid);
    }, 300_000);
  }

  get isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  /** By SIGTERM it ends its kernels too; by SIGKILL they end when they notice. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), 45_000);
    await exited;
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(join(this.folder, '..'), { recursive: true, force: true, maxRetries: 5 });
  }
}

export interface DiskNotebook {
  cells: {
    id: string;
    cell_type: string;
    source: string | string[];
    outputs?: { [key: string]: unknown }[];
    execution_count?: number | null;
  }[];
  metadata: { [key: string]: unknown };
}

export const codeCell = (id: string, source: string) => ({
  ...{ cell_type: 'code', id, source, metadata: {}, outputs: [], execution_count: null },
});
export const textCell = (id: string, source: string) => ({ cell_type: 'markdown', id, source, metadata: {} });
