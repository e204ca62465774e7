import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/util/json.js';

/** The committed stub: tests start the program as a user does. */
export const programFile = fileURLToPath(new URL('../../bin/notebridge.js', import.meta.url));

export interface ProgramOptions {
  args?: string[];
  env?: Record<string, string>;
  /** Called with each line of stdout, before it is parsed. */
  onLine?: (line: string) => void;
}

/** The real program as a child process, and a raw JSON-RPC client on its stdio that judges nothing. */
export class Program implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly home: string;
  /** Everything that came on stdout that was no answer to `request`. */
  readonly notifications: JsonObject[] = [];
  /** Lines of stdout that were not JSON: there must be none. */
  readonly noise: string[] = [];
  stderr = '';
  readonly #waiting = new Map<unknown, (message: JsonObject) => void>();
  readonly #watchers = new Set<() => void>();
  #lastId = 0;

  constructor({ args = [], env = {}, onLine }: ProgramOptions = {}) {
    this.home = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    const { PATH = '' } = process.env;
    const clean = { PATH, HOME: this.home, XDG_STATE_HOME: join(this.home, 'state'), XDG_CONFIG_HOME: join(this.home, 'config') };
    this.child = spawn(process.execPath, [programFile, ...args], { env: { ...clean, ...env }, stdio: 'pipe' });
    this.child.stdin.on('error', () => {});
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#wake();
    });
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      onLine?.(line);
      this.#take(line);
    });
  }

  /** Starts the program and opens a legacy session. */
  static async open(options: ProgramOptions = {}): Promise<Program> {
    const program = new Program(options);
    await program.initialize();
    return program;
  }

  async initialize(protocolVersion = '2025-06-18'): Promise<JsonObject> {
    const answer = await this.request('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } });
    this.notify('notifications/initialized');
    return answer;
  }

  /** Writes a line as it is. */
  write(text: string): void {
    this.child.stdin.write(`${text}\n`);
  }

  /** Sends a request and gives the whole answer, an error too. */
  request(method: string, params?: JsonObject, id: string | number = `t${++this.#lastId}`): Promise<JsonObject> {
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.write(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) }));
    });
  }

  callTool(name: string, args: JsonObject = {}, meta?: JsonObject): Promise<JsonObject> {
    return this.request('tools/call', { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) });
  }

  notify(method: string, params?: JsonObject): void {
    this.write(JSON.stringify({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }));
  }

  /** Waits until the condition holds; looked at whenever something came from the program. */
  async until(condition: () => boolean, timeoutMs = 10_000): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`Not within ${timeoutMs} ms. stderr: ${this.stderr}`)), timeoutMs);
      const watch = (): void => {
        if (!condition()) return;
        clearTimeout(timer);
        this.#watchers.delete(watch);
        resolve();
      };
      this.#watchers.add(watch);
    });
  }

  /** Where a page dials, from the open tool's own answer. */
  async address(): Promise<{ port: number; token: string; url: string }> {
    const answer = await this.callTool('open_colab_browser_connection', { wait_seconds: 0 });
    const text = JSON.stringify(answer);
    const [, url = '', token = '', port = ''] = /(https:[^\s"\\]+#mcpProxyToken=([\w-]+)&mcpProxyPort=(\d+))/.exec(text) ?? [];
    return { url, token, port: Number(port) };
  }

  /** Closes stdin, as a host does, and waits for the end. */
  async close(): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exited = once(this.child, 'exit');
      this.child.stdin.end();
      const timer = setTimeout(() => this.child.kill('SIGKILL'), 5000);
      await exited;
      clearTimeout(timer);
    }
    rmSync(this.home, { recursive: true, force: true });
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #take(line: string): void {
    try {
      const message = JSON.parse(line) as JsonObject;
      const resolve = message.method === undefined ? this.#waiting.get(message.id) : undefined;
      this.#waiting.delete(message.id);
      if (resolve === undefined) this.notifications.push(message);
      else resolve(message);
    } catch {
      this.noise.push(line);
    }
    this.#wake();
  }

  #wake(): void {
    for (const watch of [...this.#watchers]) watch();
  }
}
