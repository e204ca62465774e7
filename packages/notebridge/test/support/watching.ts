import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { type Ending, programFile } from './program.js';

/** A process that says what it does, line by line: one can wait for a line. */
export class Watching implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ending>;
  stdout = '';
  stderr = '';
  readonly #watchers = new Set<() => void>();

  constructor(command: string, args: string[], options: { env: Record<string, string>; cwd?: string }) {
    this.child = spawn(command, args, { ...options, stdio: 'pipe' });
    this.child.stdin.end();
    for (const stream of ['stdout', 'stderr'] as const) {
      this.child[stream].setEncoding('utf8').on('data', (text: string) => {
        this[stream] += text;
        this.#wake();
      });
    }
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        resolve(code ?? signal ?? -1);
        this.#wake();
      });
    });
  }

  /** The command `notebridge`. */
  static program(args: string[], options: { env: Record<string, string>; cwd?: string }): Watching {
    return new Watching(process.execPath, [programFile, ...args], options);
  }

  lines(): string[] {
    return this.stdout.split('\n').slice(0, -1);
  }

  /** Waits until it is so; looked at whenever something came, and when it has ended. */
  async until(isSo: () => boolean, timeoutMs = 45_000): Promise<void> {
    if (isSo()) return;
    await new Promise<void>((resolve, reject) => {
      const finish = (end: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(watch);
        end();
      };
      const fail = (): void => finish(() => reject(new Error(`Not so: ${isSo}. It said: ${this.stdout}\n${this.stderr}`)));
      const watch = (): void => {
        if (isSo()) finish(resolve);
        else if (this.child.exitCode !== null) fail();
      };
      const timer = setTimeout(fail, timeoutMs);
      this.#watchers.add(watch);
    });
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending> {
    this.child.kill(signal);
    return this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 45_000);
    await this.stop();
    clearTimeout(timer);
  }

  #wake(): void {
    for (const watch of [...this.#watchers]) watch();
  }
}
