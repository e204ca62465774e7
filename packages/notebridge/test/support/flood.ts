import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { fileURLToPath } from 'node:url';
import { soonerThanNeverMs } from './sooner-than-never.js';

export type FloodKind =
  | 'silence'
  | 'half heads'
  | 'half heads, again'
  | 'half bodies'
  | 'half bodies with a token'
  | 'half seconds with a token'
  | 'half upgrades'
  | 'wrong upgrades'
  | 'pages that say nothing'
  | 'wrong tokens'
  | 'idle ones'
  | 'readers that do not read';

export interface FloodOptions {
  port: number;
  count: number;
  kind: FloodKind;
  token?: string;
}

export interface FloodCounts {
  opened: number;
  cut: number;
  failed: number;
  /** Connections on which something came. */
  answered: number;
}

const program = fileURLToPath(new URL('../fixtures/flood.mjs', import.meta.url));

/** Many bad connections of another process, with descriptors of its own. */
export class Flood implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor({ port, count, kind, token }: FloodOptions) {
    const args = [program, String(port), String(count), kind, ...(token === undefined ? [] : [token])];
    this.#child = spawn(process.execPath, args, { stdio: 'pipe' });
    this.#lines = this.#child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false });
  }

  /** Resolves when each connection has been opened, or refused by the system. */
  async full(): Promise<void> {
    await this.#lines.next();
  }

  async counts(): Promise<FloodCounts> {
    this.#child.stdin.write('\n');
    return JSON.parse((await this.#lines.next()).value) as FloodCounts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.stdin.end();
    await closed;
  }
}

/** A call on a connection of its own, as a caller makes it that comes just now. Status 0: no answer, or one that comes as late as if it hung. */
export function callAnew(port: number, token: string): Promise<{ status: number }> {
  return new Promise((resolve) => {
    const end = (status: number): void => resolve({ status });
    const signal = AbortSignal.timeout(soonerThanNeverMs);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' };
    httpRequest({ port, host: '127.0.0.1', method: 'POST', path: '/api/v1/mcp/proxy/calls/tools/echo', headers, agent: false, signal })
      .on('response', (response) => response.resume().on('end', () => end(response.statusCode ?? 0)))
      .on('error', () => end(0))
      .end('{"arguments":{}}');
  });
}
