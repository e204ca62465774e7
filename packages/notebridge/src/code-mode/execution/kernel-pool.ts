import { BridgeError } from '../../core/errors.js';
import { CodeKernel, type CreateCodeKernel } from './code-kernel.js';

export interface KernelPoolOptions {
  create: CreateCodeKernel;
  /** Pythons at once, the one kept ready included. */
  most: number;
  /** Ends the one that has been idle longest; false if there is none. */
  makeRoom: () => Promise<boolean>;
}

/** All Pythons of code mode: never more than so many, and one kept ready where several are needed. */
export class KernelPool {
  readonly #options: KernelPoolOptions;
  readonly #all = new Set<CodeKernel>();
  #spare: CodeKernel | undefined;
  #taken = 0;
  #isClosed = false;

  constructor(options: KernelPoolOptions) {
    this.#options = options;
  }

  /** Starts the first one in advance: later ones are prepared as they are needed. Resolves when it has started, or failed. */
  async prepareFirst(): Promise<void> {
    if (this.#taken === 0) this.prepare();
    await this.#spare?.start().catch(() => {});
  }

  /** Starts one in advance, if there is none and there is room. Does not wait for it. */
  prepare(): void {
    if (this.#isClosed || this.#spare !== undefined || this.#all.size >= this.#options.most) return;
    const spare = this.#add();
    this.#spare = spare;
    // Whoever takes it learns why it does not start.
    spare.start().catch(() => {});
  }

  /** One that nobody uses, perhaps still starting. Rejects with `limit_reached` while all are busy. */
  async take(): Promise<CodeKernel> {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined && !spare.isDead) return this.#give(spare);
    if (spare !== undefined) await this.end(spare);
    const { most, makeRoom } = this.#options;
    while (this.#all.size >= most) {
      if (!(await makeRoom()))
        throw new BridgeError(
          'limit_reached',
          `All ${most} Pythons run code just now. Try again when one has ended, or raise "notebridge.codeMode.kernels".`,
        );
    }
    if (this.#isClosed) throw new BridgeError('closed', 'The hub has ended.');
    return this.#give(this.#add());
  }

  /** Ending twice is harmless. */
  async end(kernel: CodeKernel): Promise<void> {
    await kernel.close();
    this.#all.delete(kernel);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#spare = undefined;
    await Promise.all([...this.#all].map((kernel) => this.end(kernel)));
  }

  #add(): CodeKernel {
    const kernel = new CodeKernel(this.#options.create);
    this.#all.add(kernel);
    return kernel;
  }

  /** An agent alone needs one. Whoever has needed a second one will need a third. */
  #give(kernel: CodeKernel): CodeKernel {
    if (++this.#taken > 1) this.prepare();
    return kernel;
  }
}
