import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { createHome, type Ending, programFile, runProgram } from './program.js';

/** `mcpServers` of a config. */
export type ServersForTest = Record<string, JsonObject>;

export interface ServedHubOptions {
  servers?: ServersForTest;
  /** The key `notebridge` of the config. */
  notebridge?: JsonObject;
  args?: string[];
  env?: Record<string, string>;
  /** Default 0: any free one. */
  port?: number;
  /** What its command begins with: for a hub in a namespace. */
  launch?: readonly string[];
  /** The Node that runs it. Default: that of the tests. */
  node?: string;
  /** The command as another version has it. Default: that of the workspace. */
  command?: string;
  /** A home that is there already. Default: a fresh one. Disposing the hub removes it. */
  own?: ReturnType<typeof createHome>;
  /** Another program than the command: it is given the config file and the port. */
  program?: string;
}

/** The entry of a third-party server that is installed for tests. */
export function installedServer(name: 'everything' | 'filesystem' | 'memory', args: string[] = [], more: JsonObject = {}): JsonObject {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  return { command: process.execPath, args: [join(dirname(manifest), Object.values(bin)[0] ?? ''), ...args], ...more };
}

/** In code mode each hub has a type checker, a process as large as itself: tests that are not about it do without, unless they say otherwise. */
export function withoutTypeCheck(notebridge: JsonObject): JsonObject {
  const codeMode = isJsonObject(notebridge.codeMode) ? notebridge.codeMode : { enabled: notebridge.codeMode === true };
  return { ...notebridge, codeMode: 'typeCheckMs' in codeMode ? codeMode : { typeCheck: 'off', ...codeMode } };
}

/** `notebridge serve`, the real program, with a home of its own. */
export class ServedHub implements AsyncDisposable {
  readonly home: string;
  /** For commands of the same user. */
  readonly env: Record<string, string>;
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ending>;
  readonly configFile: string;
  readonly #isCodeMode: boolean;
  stdout = '';
  stderr = '';
  url = '';
  readonly #watchers = new Set<() => void>();

  private constructor(
    {
      servers = {},
      notebridge = {},
      args = [],
      env = {},
      port = 0,
      launch = [],
      node = process.execPath,
      command: bin = programFile,
      own: home,
      program,
    }: ServedHubOptions,
    user?: ServedHub,
  ) {
    const own = user === undefined ? (home ?? createHome()) : { home: user.home, env: user.env };
    this.home = own.home;
    // Each of several hubs of one user has a name.
    const isSecond = user !== undefined && user.child.exitCode === null && user.child.signalCode === null;
    this.env = { ...own.env, ...(isSecond ? { NOTEBRIDGE_HUB: 'second' } : {}), ...env };
    this.#isCodeMode = args.some((word) => word.startsWith('--code-mode'));
    this.configFile = join(this.home, user === undefined ? 'mcp.json' : `mcp-${Date.now()}.json`);
    this.writeConfig(servers, notebridge);
    const serve = [bin, 'serve', '--port', String(port), '--config', this.configFile, ...(isSecond ? ['--name', 'second'] : []), ...args];
    const words = program === undefined ? serve : [program, this.configFile, String(port), ...args];
    const [command = '', ...rest] = [...launch, node, ...words];
    this.child = spawn(command, rest, { env: this.env, stdio: 'pipe' });
    this.child.stdin.end();
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => this.#hear('stdout', text));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => this.#hear('stderr', text));
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        resolve(code ?? signal ?? -1);
        this.#wake();
      });
    });
  }

  /** Starts it and waits until it serves. `user`: a hub of the same user, whose home it shares. */
  static async start(options: ServedHubOptions = {}, user?: ServedHub): Promise<ServedHub> {
    const hub = new ServedHub(options, user);
    try {
      await hub.logged('Serving.');
    } catch (error) {
      await hub[Symbol.asyncDispose]();
      throw error;
    }
    hub.url = String(hub.log().find(({ msg }) => msg === 'Serving.')?.url);
    return hub;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get stateDir(): string {
    return join(this.env.XDG_STATE_HOME ?? '', 'notebridge');
  }

  get ownerToken(): string {
    return readFileSync(join(this.stateDir, 'owner-token'), 'utf8').trim();
  }

  writeConfig(servers: ServersForTest, notebridge: JsonObject = {}): void {
    const written = this.#isCodeMode ? withoutTypeCheck(notebridge) : notebridge;
    writeFileSync(this.configFile, JSON.stringify({ mcpServers: servers, notebridge: written }));
  }

  /** Its log so far. */
  log(): JsonObject[] {
    const lines = this.stderr.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as JsonObject);
  }

  /** Waits for a line of the log with this text, or until it has ended. */
  async logged(text: string): Promise<void> {
    await this.until(() => this.stderr.includes(text));
  }

  /** Waits until the condition holds; looked at whenever something came from it. */
  async until(condition: () => boolean, timeoutMs = 45_000): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve, reject) => {
      const finish = (end: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(watch);
        end();
      };
      const fail = (): void => finish(() => reject(new Error(`Not so: ${condition}. The hub said: ${this.stderr}`)));
      const watch = (): void => {
        if (condition()) finish(resolve);
        else if (this.child.exitCode !== null || this.child.signalCode !== null) fail();
      };
      const timer = setTimeout(fail, timeoutMs);
      this.#watchers.add(watch);
    });
  }

  /** A command of the same user, run to its end. */
  run(...args: string[]): ReturnType<typeof runProgram> {
    return runProgram(args, { env: this.env });
  }

  /** A request to the hub, as code in a kernel makes it. */
  request(path: string, { token, body, headers = {}, method, signal }: HubRequestOptions = {}): Promise<Response> {
    return fetch(new URL(path, this.url), {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Calls a tool over HTTP; the whole answer. */
  async call(server: string, tool: string, args: JsonObject, token?: string): Promise<{ status: number; answer: JsonObject }> {
    const path = `/api/v1/mcp/proxy/${server}/tools/${tool}`;
    const response = await this.request(path, { body: { arguments: args }, ...(token === undefined ? {} : { token }) });
    return { status: response.status, answer: (await response.json()) as JsonObject };
  }

  /** Issues a grant as `notebridge grant` with these words would, without a process of its own for each. */
  async grant(...words: string[]): Promise<{ token: string; id: string }> {
    const response = await this.request('/api/v1/hub/grants', { token: this.ownerToken, body: toTerms(words) });
    if (!response.ok) throw new Error(`No grant: ${await response.text()}`);
    const { grant, token } = (await response.json()) as { grant: { id: string }; token: string };
    return { ...grant, token };
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending> {
    this.child.kill(signal);
    return this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 45_000);
    // Not by SIGTERM, which waits for calls.
    await this.stop('SIGINT');
    clearTimeout(timer);
    await rm(this.home, { recursive: true, force: true });
  }

  #hear(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text;
    this.#wake();
  }

  #wake(): void {
    for (const watch of [...this.#watchers]) watch();
  }
}

function toTerms(words: string[]): JsonObject {
  const { values } = parseArgs({
    args: words,
    options: {
      allow: { type: 'string', multiple: true },
      door: { type: 'string' },
      agent: { type: 'boolean' },
      ttl: { type: 'string' },
      calls: { type: 'string' },
      rate: { type: 'string' },
      concurrent: { type: 'string' },
      'read-only': { type: 'boolean' },
      label: { type: 'string' },
    },
  });
  const { agent, ttl, rate, calls, concurrent, 'read-only': readOnly, ...others } = values;
  return {
    ...others,
    ...(agent === true ? { door: 'agent' } : {}),
    ...(ttl === undefined ? {} : { ttl_seconds: toSeconds(ttl) }),
    ...(rate === undefined ? {} : { per_minute: Number.parseInt(rate, 10) }),
    ...(calls === undefined ? {} : { calls: Number(calls) }),
    ...(concurrent === undefined ? {} : { concurrent: Number(concurrent) }),
    ...(readOnly === undefined ? {} : { read_only: readOnly }),
  };
}

/** `90s`, `1h` or `30d` in seconds. */
function toSeconds(time: string): number {
  return Number.parseInt(time, 10) * ({ s: 1, m: 60, h: 3600, d: 86_400 }[time.slice(-1)] ?? Number.NaN);
}

export interface HubRequestOptions {
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
  method?: string;
  signal?: AbortSignal | undefined;
}

/** True while a process runs; one that has ended and is not yet collected does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
