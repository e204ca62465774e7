import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { bareEnvironment } from './bare-environment.js';
import type { Side } from './namespaces.js';

/** A Jupyter server without its interface, and the kernel that everybody has. */
const packages = ['jupyter-server', 'ipykernel'];
/** The time that installing them may take on a slow line. */
export const installTimeoutMs = 8 * 60_000;
const startTimeoutMs = 60_000;
const cellTimeoutMs = 60_000;
const token = 'a-token-of-the-test';
const driver = fileURLToPath(new URL('jupyter-driver.mjs', import.meta.url));

export interface JupyterOptions {
  side: Side;
  /** Of the server, and so of its kernels: nothing else is passed on. */
  env: Record<string, string>;
  /** True: processes and mounts of its own, in which `script` is run first. Needs root. */
  isolated: boolean;
  /** Lines of shell. */
  script: readonly string[];
}

/** What a cell has shown and how it ended. */
export interface CellResult {
  status: string;
  /** All that it printed. */
  text: string;
  /** Contents of `display_data` and `execute_result`, in their order: MIME bundles. */
  shown: JsonObject[];
  /** `NameError: name 'x' is not defined`, or empty. */
  error: string;
}

/** Installs what is needed, if it is not there yet: for a `beforeAll`. */
export function prepareJupyter(): Promise<string> {
  return pythonWith(packages);
}

/** A real Jupyter server with one kernel, driven by JupyterLab's own library from beside it. */
export class Jupyter implements AsyncDisposable {
  readonly #server: ChildProcessWithoutNullStreams;
  readonly #driver: ChildProcessWithoutNullStreams;
  readonly #isolated: boolean;
  readonly #cells = new Map<number, Cell>();
  #lastCell = 0;
  #ended = false;

  private constructor(server: ChildProcessWithoutNullStreams, drives: ChildProcessWithoutNullStreams, isolated: boolean) {
    this.#server = server;
    this.#driver = drives;
    this.#isolated = isolated;
    createInterface({ input: drives.stdout }).on('line', (line) => this.#take(JSON.parse(line)));
    drives.once('close', () => {
      this.#ended = true;
      for (const cell of this.#cells.values()) cell.fail(new Error('The driver of the kernel has ended.'));
    });
  }

  static async start(options: JupyterOptions): Promise<Jupyter> {
    const server = await startServer(options);
    const url = await said(server, server.stderr, /(http:\/\/127\.0\.0\.1:\d+)\//);
    const drives = start([...options.side.launch, process.execPath, driver, url, token], process.env);
    const jupyter = new Jupyter(server, drives, options.isolated);
    try {
      await said(drives, drives.stdout, /("ready":true)/);
      return jupyter;
    } catch (error) {
      await jupyter[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs a cell to its end. */
  run(code: string): Promise<CellResult> {
    return this.begin(code).ended;
  }

  /** Runs a cell that must succeed, and answers with what it printed. */
  async print(code: string): Promise<string> {
    const { error, text } = await this.run(code);
    if (error !== '') throw new Error(`A cell failed: ${error}\n${text}\n${code}`);
    return text.trimEnd();
  }

  /** Begins a cell. `printed` resolves when it has printed the text. */
  begin(code: string): { ended: Promise<CellResult>; printed(text: string): Promise<void> } {
    if (this.#ended) throw new Error('The driver of the kernel has ended.');
    const number = ++this.#lastCell;
    const cell = new Cell(code);
    this.#cells.set(number, cell);
    void cell.ended.finally(() => this.#cells.delete(number)).catch(() => {});
    this.#write({ cell: number, code });
    return { ended: cell.ended, printed: (text) => cell.printed(text) };
  }

  /** As the square of a notebook does it. */
  interrupt(): void {
    this.#write({ interrupt: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#driver.stdin.end();
    await end(this.#driver, 5000);
    // SIGTERM has the server end its kernels. Of one in a namespace of processes we hold `unshare`, with which all in it end.
    this.#server.kill(this.#isolated ? 'SIGKILL' : 'SIGTERM');
    await end(this.#server, 5000);
  }

  #write(command: JsonObject): void {
    this.#driver.stdin.write(`${JSON.stringify(command)}\n`);
  }

  #take({ cell: number, message, reply }: { cell?: number; message?: IoPubMessage; reply?: JsonObject }): void {
    const cell = this.#cells.get(number ?? 0);
    if (message !== undefined) cell?.take(message);
    if (reply !== undefined) cell?.finish(String(reply.status));
  }
}

interface IoPubMessage {
  type: string;
  content: JsonObject;
}

class Cell {
  readonly ended: Promise<CellResult>;
  readonly #result: CellResult = { status: '', text: '', shown: [], error: '' };
  readonly #watchers = new Set<() => void>();
  #resolve: (result: CellResult) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(code: string) {
    const timer = setTimeout(() => this.fail(new Error(`A cell did not end: ${code}\n${this.#result.text}`)), cellTimeoutMs);
    this.ended = new Promise<CellResult>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    }).finally(() => clearTimeout(timer));
  }

  take({ type, content }: IoPubMessage): void {
    if (type === 'stream') this.#result.text += String(content.text);
    if (type === 'display_data' || type === 'execute_result') this.#result.shown.push(content.data as JsonObject);
    if (type === 'error') this.#result.error = `${content.ename}: ${content.evalue}`;
    for (const watch of [...this.#watchers]) watch();
  }

  async printed(text: string): Promise<void> {
    const isThere = new Promise<void>((resolve) => {
      const watch = (): void => {
        if (this.#result.text.includes(text)) resolve();
      };
      this.#watchers.add(watch);
      watch();
    });
    const early = this.ended.then(({ error }) => {
      throw new Error(`The cell ended before it printed "${text}": ${error}`);
    });
    await Promise.race([isThere, early]);
  }

  finish(status: string): void {
    this.#resolve({ ...this.#result, status });
  }

  fail(error: Error): void {
    this.#reject(error);
  }
}

async function startServer({ side, env, isolated, script }: JupyterOptions): Promise<ChildProcessWithoutNullStreams> {
  const python = await prepareJupyter();
  const options = [
    ...['--no-browser', '--allow-root', '--ServerApp.ip=127.0.0.1', '--ServerApp.port=0', '--ServerApp.terminals_enabled=False'],
    ...[`--IdentityProvider.token=${token}`],
  ];
  // Python speaks of where it was started; the shell in front is process 1, as an init is.
  const shell = ['sh', '-c', [...script, '"$@"', 'exit $?'].join('\n'), 'sh'];
  const own = ['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', ...shell];
  return start([...side.launch, ...(isolated ? own : []), python, '-m', 'jupyter_server', ...options], { ...bareEnvironment(), ...env });
}

function start([command = '', ...args]: string[], env: NodeJS.ProcessEnv): ChildProcessWithoutNullStreams {
  const child = spawn(command, args, { env, stdio: 'pipe' });
  child.stdin.on('error', () => {});
  // Read to the end: a pipe that is full would stop it.
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').resume();
  return child;
}

/** Waits for a text, and answers with its first group. Ends the program if it does not come. */
function said(child: ChildProcessWithoutNullStreams, stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let [text, complaints] = ['', ''];
    const timer = setTimeout(() => child.kill('SIGKILL'), startTimeoutMs);
    const take = (chunk: string): void => {
      text += chunk;
      const [, found] = pattern.exec(text) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      stream.off('data', take);
      resolve(found);
    };
    stream.on('data', take);
    child.stderr.on('data', (chunk: string) => {
      complaints = (complaints + chunk).slice(-4000);
    });
    child.once('close', () => {
      clearTimeout(timer);
      reject(new Error(`"${child.spawnargs.join(' ')}" ended before it said ${pattern}:\n${complaints}`));
    });
  });
}

async function end(child: ChildProcessWithoutNullStreams, graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(timer);
}
