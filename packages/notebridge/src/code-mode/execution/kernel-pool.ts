import type { CodeLanguage } from '../../core/code-language.js';
import { BridgeError } from '../../core/errors.js';
import { CodeKernel, type CreateCodeKernel } from './code-kernel.js';

export interface KernelPoolOptions {
  create: CreateCodeKernel;
  /** Interpreters at once, those kept ready included. */
  most: number;
  /** Ends the one that has been idle longest; false if there is none. */
  makeRoom: MakeRoom;
}

export type MakeRoom = () => Promise<boolean>;

/** All interpreters of code mode: never more than so many, and one of a language kept ready where several are needed. */
export class KernelPool {
  readonly #options: KernelPoolOptions;
  readonly #all = new Set<CodeKernel>();
  readonly #spares = new Map<CodeLanguage, CodeKernel>();
  readonly #taken = new Map<CodeLanguage, number>();
  #isClosed = false;

  constructor(options: KernelPoolOptions) {
    this.#options = options;
  }

  /** Starts the first one in advance: later ones are prepared as they are needed. Does not wait for it. */
  prepareFirst(language: CodeLanguage): void {
    if (!this.#taken.has(language)) this.prepare(language);
  }

  /** Starts one in advance, if there is none and there is room. Does not wait for it. */
  prepare(language: CodeLanguage): void {
    if (this.#isClosed || this.#spares.has(language) || this.#all.size >= this.#options.most) return;
    const spare = this.#add(language);
    this.#spares.set(language, spare);
    // Whoever takes it learns why it does not start.
    spare.start().catch(() => {});
  }

  /** One that nobody uses, perhaps still starting. Rejects with `limit_reached` while all are busy. */
  async take(language: CodeLanguage, makeRoom: MakeRoom = this.#options.makeRoom): Promise<CodeKernel> {
    const spare = this.#spares.get(language);
    this.#spares.delete(language);
    if (spare !== undefined && !spare.isDead) return this.#give(spare);
    if (spare !== undefined) await this.end(spare);
    const { most } = this.#options;
    while (this.#all.size >= most) {
      if (!(await this.#endSpare()) && !(await makeRoom()))
        throw new BridgeError(
          'limit_reached',
          `All ${most} interpreters run code just now. Try again when one has ended, or raise "notebridge.codeMode.kernels".`,
        );
    }
    if (this.#isClosed) throw new BridgeError('closed', 'The hub has ended.');
    return this.#give(this.#add(language));
  }

  /** Ending twice is harmless. */
  async end(kernel: CodeKernel): Promise<void> {
    await kernel.close();
    this.#all.delete(kernel);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#spares.clear();
    await Promise.all([...this.#all].map((kernel) => this.end(kernel)));
  }

  #add(language: CodeLanguage): CodeKernel {
    const kernel = new CodeKernel(this.#options.create, language);
    this.#all.add(kernel);
    return kernel;
  }

  /** One of another language that is ready for nobody. */
  async #endSpare(): Promise<boolean> {
    const [spare] = this.#spares.values();
    if (spare === undefined) return false;
    this.#spares.delete(spare.language);
    await this.end(spare);
    return true;
  }

  /** An agent alone needs one. Whoever has needed a second one will need a third. */
  #give(kernel: CodeKernel): CodeKernel {
    const { language } = kernel;
    const taken = (this.#taken.get(language) ?? 0) + 1;
    this.#taken.set(language, taken);
    if (taken > 1) this.prepare(language);
    return kernel;
  }
}
