import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { bareEnvironment } from './bare-environment.js';
import { untilBrokerEnded } from './broker.js';

/** The committed stub: tests start the program as a user does. */
export const programFile = fileURLToPath(new URL('../../bin/notebridge.js', import.meta.url));

export interface ProgramOptions {
  args?: string[];
  env?: Record<string, string>;
  /** Working directory. Default: that of the tests. */
  cwd?: string;
  /** What its command begins with: for a program in a namespace. */
  launch?: readonly string[];
  /** The command as another version has it. Default: that of the workspace. */
  command?: string;
  /** What the agent calls itself. Default `test`. */
  name?: string;
  /** Called with each line of stdout, before it is parsed. */
  onLine?: (line: string) => void;
}

/** What hangs is ended after this; a machine with twenty times as much to do as it can is not what a test is about. Milliseconds. */
const hangsMs = 45_000;

/** What became of a process: its exit code, or the signal that ended it. */
export type Ending = number | NodeJS.Signals;

/**
 * A home folder of its own, an environment that points there, no browser that a test could open by accident, and a broker that ends with
 * its last agent and window.
 */
export function createHome(): { home: string; env: Record<string, string> } {
  const home = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
  const xdg = { XDG_STATE_HOME: join(home, 'state'), XDG_CONFIG_HOME: join(home, 'config') };
  return { home, env: { ...bareEnvironment(), HOME: home, ...xdg, NOTEBRIDGE_NO_BROWSER: '1', NOTEBRIDGE_BROKER_IDLE: '0' } };
}

/** The real program as a child process, and a raw JSON-RPC client on its stdio that judges nothing. */
export class Program implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly home: string;
  readonly stateHome: string;
  /** Everything that came on stdout that was no answer to `request`. */
  readonly notifications: JsonObject[] = [];
  /** Lines of stdout that were not JSON: there must be none. */
  readonly noise: string[] = [];
  stderr = '';
  /** Resolves when the process has ended and all it wrote has been read. */
  readonly ended: Promise<Ending>;
  readonly #isShared: boolean;
  readonly #waiting = new Map<unknown, Waiter>();
  readonly #watchers = new Set<() => void>();
  readonly #listeners = new Set<(message: JsonObject) => void>();
  #lastId = 0;

  constructor({ args = [], env = {}, cwd, launch = [], command: bin = programFile, onLine }: ProgramOptions = {}) {
    const { home, env: clean } = createHome();
    this.home = home;
    this.stateHome = env.XDG_STATE_HOME ?? join(home, 'state');
    this.#isShared = env.NOTEBRIDGE_BROKER_IDLE !== undefined;
    const [command = '', ...rest] = [...launch, process.execPath, bin, ...args];
    this.child = spawn(command, rest, { cwd, env: { ...clean, ...env }, stdio: 'pipe' });
    this.child.stdin.on('error', () => {});
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#wake();
    });
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      onLine?.(line);
      this.#take(line);
    });
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        resolve(code ?? signal ?? -1);
        for (const { reject } of this.#waiting.values()) reject(new Error(`The program ended before it answered. stderr: ${this.stderr}`));
      });
    });
  }

  /** Starts the program and opens a legacy session. */
  static async open(options: ProgramOptions = {}): Promise<Program> {
    const program = new Program(options);
    await program.initialize(undefined, options.name);
    return program;
  }

  async initialize(protocolVersion = '2025-06-18', name = 'test'): Promise<JsonObject> {
    const answer = await this.request('initialize', { protocolVersion, capabilities: {}, clientInfo: { name, version: '1' } });
    this.notify('notifications/initialized');
    return answer;
  }

  /** Writes a line as it is. */
  write(text: string): void {
    this.child.stdin.write(`${text}\n`);
  }

  /** Sends a request and gives the whole answer, an error too. */
  request(method: string, params?: JsonObject, id: string | number = `t${++this.#lastId}`): Promise<JsonObject> {
    this.write(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) }));
    return this.answerTo(id);
  }

  /** Waits for the answer to a request that was written by hand. */
  answerTo(id: string | number): Promise<JsonObject> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  callTool(name: string, args: JsonObject = {}, meta?: JsonObject): Promise<JsonObject> {
    return this.request('tools/call', { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) });
  }

  notify(method: string, params?: JsonObject): void {
    this.write(JSON.stringify({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }));
  }

  /** Waits until the condition holds; looked at whenever something came from the program. */
  async until(condition: () => boolean, timeoutMs = 45_000): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve, reject) => {
      const finish = (end: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(watch);
        end();
      };
      const watch = (): void => {
        if (condition()) finish(resolve);
      };
      const timer = setTimeout(
        () => finish(() => reject(new Error(`Not within ${timeoutMs} ms: ${condition}. stderr: ${this.stderr}`))),
        timeoutMs,
      );
      this.#watchers.add(watch);
    });
  }

  /** Waits for the notification after the first `after` that came so far, by its method. */
  async notification(method: string, after = 0): Promise<JsonObject> {
    await this.until(() => this.#notificationsOf(method).length > after);
    return this.#notificationsOf(method)[after] ?? {};
  }

  countOf(method: string): number {
    return this.#notificationsOf(method).length;
  }

  /** Is called with each notification from now on. */
  onNotification(listener: (message: JsonObject) => void): void {
    this.#listeners.add(listener);
  }

  /** Where a page dials, from the open tool's own answer. */
  async address(): Promise<PageAddress> {
    return addressIn(await this.callTool('open_colab_browser_connection', { wait_seconds: 0 }));
  }

  /** Closes stdin, as a host does, and waits for the end. */
  async close(): Promise<Ending> {
    this.child.stdin.end();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), hangsMs);
    const ending = await this.ended;
    clearTimeout(timer);
    await this.#untilBrokerEnded();
    rmSync(this.home, { recursive: true, force: true });
    return ending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The one that this program alone has used; that of a shared home goes on. */
  async #untilBrokerEnded(): Promise<void> {
    if (!this.#isShared) await untilBrokerEnded(this.stateHome);
  }

  #notificationsOf(method: string): JsonObject[] {
    return this.notifications.filter((message) => message.method === method);
  }

  #take(line: string): void {
    const message = parseLine(line);
    if (message === undefined) this.noise.push(line);
    else this.#dispatch(message);
    this.#wake();
  }

  #dispatch(message: JsonObject): void {
    const waiting = message.method === undefined ? this.#waiting.get(message.id) : undefined;
    if (waiting !== undefined) {
      this.#waiting.delete(message.id);
      return waiting.resolve(message);
    }
    this.notifications.push(message);
    for (const listener of this.#listeners) listener(message);
  }

  #wake(): void {
    for (const watch of [...this.#watchers]) watch();
  }
}

function parseLine(line: string): JsonObject | undefined {
  try {
    return JSON.parse(line) as JsonObject;
  } catch {
    return undefined;
  }
}

interface Waiter {
  resolve: (message: JsonObject) => void;
  reject: (error: Error) => void;
}

export interface PageAddress {
  port: number;
  token: string;
  url: string;
}

/** Where a page dials, from any answer of the open tool that says so. */
export function addressIn(answer: unknown): PageAddress {
  const [, url = '', token = '', port = ''] =
    /(https:[^\s"\\]+#mcpProxyToken=([\w-]+)&mcpProxyPort=(\d+))/.exec(JSON.stringify(answer)) ?? [];
  return { url, token, port: Number(port) };
}

/** Runs the program to its end with this input, as a shell pipe does. */
export async function runProgram(
  args: string[],
  {
    input = '',
    env = {},
    node = process.execPath,
    cwd,
  }: { input?: string; env?: Record<string, string>; node?: string; cwd?: string } = {},
): Promise<{ ending: Ending; stdout: string; stderr: string }> {
  const { home, env: clean } = createHome();
  const child = spawn(node, [programFile, ...args], { cwd, env: { ...clean, ...env }, stdio: 'pipe' });
  const timer = setTimeout(() => child.kill('SIGKILL'), 2 * hangsMs);
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ending = await new Promise<Ending>((resolve) => child.once('close', (code, signal) => resolve(code ?? signal ?? -1)));
  clearTimeout(timer);
  // That of another home is another program's.
  if (env.XDG_STATE_HOME === undefined) await untilBrokerEnded(join(home, 'state'));
  rmSync(home, { recursive: true, force: true });
  return { ending, stdout, stderr };
}
