import { Listeners } from '@notebridge/protocol/util/listeners';
import type { CommMessage, KernelComms, ShownListener } from '../kernel/jupyter-protocol/kernel-comms.js';
import type { Completions, ExecuteOptions, Execution, Kernel, KernelInfo, KernelState } from '../kernel/kernel.js';
import type { Layer } from '../kernel/layers.js';
import type { MimeBundle } from '../model/output.js';

/**
 * One kernel in the place of another, while the session that uses it stays: state, listeners, layers and info are those of the kernel that
 * is in it. A kernel is put in by a restart, so that what runs ends as it does then, and what waits is not run by another kernel
 * than it was meant for.
 */
export class SwitchableKernel implements Kernel {
  /** Always there: listeners stay while kernels with and without comms come and go. What is sent to one without is dropped. */
  readonly comms: KernelComms;
  readonly #listeners = new Set<(state: KernelState) => void>();
  readonly #comms = new Listeners<CommMessage>();
  readonly #shownListeners = new Set<ShownListener>();
  #kernel: Kernel;
  #next: Kernel | undefined;
  #stopListening: () => void;
  #switching: Promise<void> | undefined;
  #isClosed = false;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#stopListening = this.#follow(kernel);
    const current = () => this.#kernel.comms;
    this.comms = {
      get isSupported() {
        return current()?.isSupported ?? false;
      },
      send: async (message, onShown) => current()?.send(message, onShown),
      onMessage: (listener) => this.#comms.add(listener),
      onShown: (listener) => {
        this.#shownListeners.add(listener);
        return () => this.#shownListeners.delete(listener);
      },
    };
  }

  get state(): KernelState {
    return this.#switching === undefined ? this.#kernel.state : 'starting';
  }

  get info(): KernelInfo {
    return (this.#next ?? this.#kernel).info;
  }

  get layers(): readonly Layer[] | undefined {
    return this.#next ? undefined : this.#kernel.layers;
  }

  /** The kernel that the next start or restart begins with. One that was put in before, and has not begun, is closed. */
  async putIn(kernel: Kernel): Promise<void> {
    if (this.#isClosed) return kernel.close();
    const before = this.#next;
    this.#next = kernel;
    await before?.close();
  }

  async start(): Promise<void> {
    if (this.#isSwitching) await this.#switch();
    const kernel = this.#kernel;
    try {
      await kernel.start();
    } catch (error) {
      // It was ended for another one, and what waits for a start waits for that.
      if (this.#isClosed || (this.#kernel === kernel && !this.#isSwitching)) throw error;
      return this.start();
    }
  }

  execute(source: string, options: ExecuteOptions): Promise<Execution> {
    return this.#kernel.execute(source, options);
  }

  interrupt(): Promise<void> {
    return this.#kernel.interrupt();
  }

  complete(code: string, position: number): Promise<Completions> {
    return this.#kernel.complete(code, position);
  }

  inspect(code: string, position: number, detail?: 0 | 1): Promise<MimeBundle | undefined> {
    return this.#kernel.inspect(code, position, detail);
  }

  async evaluate(expression: string): Promise<string | undefined> {
    return this.#kernel.evaluate?.(expression);
  }

  async restart(): Promise<void> {
    return this.#isSwitching ? this.start() : this.#kernel.restart();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#next?.close(), this.#kernel.close()]);
    await this.#switching;
    this.#listeners.clear();
  }

  onState(listener: (state: KernelState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get #isSwitching(): boolean {
    return this.#next !== undefined || this.#switching !== undefined;
  }

  /** The one kernel has ended before the other begins: they may want the same memory, files and ports. */
  async #switch(): Promise<void> {
    this.#switching ??= this.#replace().finally(() => {
      this.#switching = undefined;
    });
    return this.#switching;
  }

  async #replace(): Promise<void> {
    for (let next = this.#next; next; next = this.#next) {
      const before = this.#kernel;
      // Its death is part of the plan, and not what listeners should hear of.
      this.#stopListening();
      this.#notify('starting');
      await before.close().catch(() => {});
      this.#kernel = next;
      if (this.#next === next) this.#next = undefined;
      this.#stopListening = this.#follow(next);
      if (this.#isClosed) return next.close();
    }
  }

  #follow(kernel: Kernel): () => void {
    const stops = [
      kernel.onState((state) => this.#notify(state)),
      kernel.comms?.onMessage((message) => this.#comms.emit(message)),
      kernel.comms?.onShown((cause, read) => [...this.#shownListeners].some((listener) => listener(cause, read))),
    ];
    return () => {
      for (const stop of stops) stop?.();
    };
  }

  #notify(state: KernelState): void {
    for (const listener of this.#listeners) listener(state);
  }
}
