import type { Layer } from './layers.js';
import type { Command, Hardened } from './messages.js';

/** The worker behind a kernel, as the kernel sees it: a Worker of a page, or a process of Node. */
export interface KernelWorker {
  /** What stands between its code and the machine, with what it said of itself when it was ready. */
  layersWith?(hardened: Hardened | undefined): readonly Layer[] | undefined;
  send(command: Command): void;
  /** Of the execution with this count. Reaches code that computes as well as code that waits. */
  interrupt(count: number): void;
  /** The worker waits while too many characters of output are under way. */
  acknowledge(characters: number): void;
  /** Ends it whatever it does. Harmless when it has ended. */
  terminate(): Promise<void>;
}

export interface WorkerEvents {
  onReport: (report: unknown) => void;
  /** It ended by itself. */
  onExit: (reason: string) => void;
}

/** Begins a fresh worker; the first thing it reports is `ready` or `dead`. */
export type OpenWorker = (events: WorkerEvents) => KernelWorker;
