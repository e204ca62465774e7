import { BridgeError } from '@notebridge/protocol/core/errors';
import { CodeKernel, type CreateCodeKernel } from './code-kernel.js';
import type { KernelStartObserver } from './kernel-starts.js';

export interface KernelPoolOptions {
  create: CreateCodeKernel;
  /** Left out: nobody counts them. */
  starts?: KernelStartObserver | undefined;
  /** Interpreters at once, those kept ready included. */
  most: number;
  /** Several principals use it: what one of them does keeps the others out of none. */
  isShared: boolean;
  /** Ends one that is idle, of this holder alone if one is given; false if there is none. */
  makeRoom: (holder?: string) => Promise<boolean>;
}

/** How long code may take to end by itself once the right to run it has ended. Milliseconds. */
const withdrawnMs = 500;

/** Who has an interpreter, and whether it does nothing for them. */
interface Held {
  holder: string;
  isIdle: () => boolean;
  /** Nobody waits for the end of the holder's right any more. */
  release: () => void;
}

/** The part that one holder can take of what the others leave: the next one gets in, whatever it does. */
const mostOfRest = 0.75;

/** For whom an interpreter is taken. */
export interface Taking {
  holder: string;
  /** Asked as long as it is held. Left out: it is busy to its end. */
  isIdle?: (() => boolean) | undefined;
  /**
   * Calls back when the holder may run nothing any more; returns what stops that. Then the interpreter ends, with code that lets interrupts
   * pass and what other code has left behind, whoever waits for it. Left out: the right never ends.
   */
  untilWithdrawn?: ((end: () => void) => () => void) | undefined;
}

/** All interpreters of code mode: never more than so many, and one kept ready where several are needed. */
export class KernelPool {
  readonly #options: KernelPoolOptions;
  readonly #all = new Set<CodeKernel>();
  readonly #held = new Map<CodeKernel, Held>();
  #spare: CodeKernel | undefined;
  #taken = 0;
  #isClosed = false;

  constructor(options: KernelPoolOptions) {
    this.#options = options;
  }

  /** Starts the first one in advance: later ones are prepared as they are needed. Resolves when it has started, or failed. */
  async prepareFirst(): Promise<void> {
    if (this.#taken === 0) this.#prepare();
    await this.#spare?.open().catch(() => {});
  }

  /** How many this holder has, those that are idle included. */
  countOf(holder: string): number {
    return [...this.#held.values()].filter((held) => held.holder === holder).length;
  }

  /** One that nobody uses, perhaps still starting. Rejects with `limit_reached` while all are busy, or as many of this holder as it may have. */
  async take(taking: Taking): Promise<CodeKernel> {
    const { most, makeRoom } = this.#options;
    const { holder } = taking;
    for (;;) {
      if (this.#isClosed) throw new BridgeError('closed', 'The hub has ended.');
      const bound = this.#boundOf(holder);
      if (this.countOf(holder) >= bound) {
        if (await makeRoom(holder)) continue;
        throw bound < most ? allOfOne(bound, most) : allBusy(most);
      }
      const spare = this.#spare;
      this.#spare = undefined;
      if (spare?.isDead === false) return this.#give(spare, taking);
      if (spare !== undefined) await this.end(spare);
      else if (this.#all.size < most) return this.#give(this.#add(), taking);
      else if (!(await makeRoom())) throw allBusy(most);
    }
  }

  /** Ending twice is harmless. */
  async end(kernel: CodeKernel): Promise<void> {
    this.#held.get(kernel)?.release();
    await kernel.close();
    this.#all.delete(kernel);
    this.#held.delete(kernel);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#spare = undefined;
    await Promise.all([...this.#all].map((kernel) => this.end(kernel)));
  }

  /** Starts one in advance, if there is none and there is room. Does not wait for it. */
  #prepare(): void {
    if (this.#isClosed || this.#spare !== undefined || this.#all.size >= this.#options.most) return;
    this.#spare = this.#add();
    // Whoever takes it learns why it does not start.
    this.#spare.open().catch(() => {});
  }

  #add(): CodeKernel {
    const kernel = new CodeKernel(this.#options.create, this.#options.starts);
    this.#all.add(kernel);
    return kernel;
  }

  /** How many it may have, of those that are not busy for others. */
  #boundOf(holder: string): number {
    const { most, isShared } = this.#options;
    if (!isShared) return most;
    const busy = [...this.#held.values()].filter((held) => held.holder !== holder && !held.isIdle()).length;
    return Math.max(1, Math.floor(mostOfRest * (most - busy)));
  }

  /** An agent alone needs one. Whoever has needed a second one will need a third. */
  #give(kernel: CodeKernel, { holder, isIdle = () => false, untilWithdrawn }: Taking): CodeKernel {
    let ending: NodeJS.Timeout | undefined;
    const stop = untilWithdrawn?.(() => {
      ending = setTimeout(() => void this.end(kernel), withdrawnMs);
    });
    const release = (): void => {
      stop?.();
      clearTimeout(ending);
    };
    this.#held.set(kernel, { holder, isIdle, release });
    if (++this.#taken > 1) this.#prepare();
    return kernel;
  }
}

function allBusy(most: number): BridgeError {
  return new BridgeError(
    'limit_reached',
    `All ${most} interpreters run code just now. Try again when one has ended, or raise "notebridge.codeMode.kernels".`,
  );
}

function allOfOne(bound: number, most: number): BridgeError {
  return new BridgeError(
    'limit_reached',
    `As many interpreters as one caller may have run code of yours just now (${bound} of ${most}). Try again when one has ended, or raise "notebridge.codeMode.kernels".`,
  );
}
