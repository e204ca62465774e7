import type { MimeBundle, Output } from '../model/output.js';
import type { KernelComms } from './jupyter-protocol/kernel-comms.js';
import type { CodeAsker } from './kernel-tools.js';
import type { Layer } from './layers.js';
import type { Written, WrittenBounds } from './written-files.js';

export type KernelState = 'starting' | 'idle' | 'busy' | 'dead';

export interface Execution {
  status: 'ok' | 'error' | 'interrupted';
  executionCount: number;
}

/** What code asks its user for, as `input()` does. */
export interface InputQuestion {
  readonly prompt: string;
  /** The answer is not to be shown. */
  readonly password: boolean;
}

/** Outputs, updates and clearings may come after the execution has ended: from threads, tasks and callbacks that its code has begun. */
export interface ExecuteOptions {
  /** `displayId` where the code gave one: the name under which it may show the output anew. */
  onOutput: (output: Output, displayId?: string) => void;
  /** A display shown anew, in whichever cell it stands. Without it, it comes as one more output. */
  onUpdate?: (displayId: string, output: Output) => void;
  /**
   * Answers a question of the code; undefined refuses it, which the code sees as an error. The signal ends with the execution. Default:
   * every question is refused.
   */
  onInput?: (question: InputQuestion, signal: AbortSignal) => Promise<string | undefined>;
  /** Whom servers may ask in the middle of a call that this code makes. Default: nobody. */
  asker?: CodeAsker | undefined;
  /** `clear_output`: at once, or with `wait` as soon as the next output comes. */
  onClear?: (wait: boolean) => void;
  /** Interrupts this execution, or takes it out of the queue. */
  signal?: AbortSignal;
  /** Beside it: nobody may run the code any more. What lets the interrupt pass is ended within a second, where the kernel is ours to end. */
  withdrawn?: AbortSignal | undefined;
}

/** What the name at a place of the code could go on as. */
export interface Completions {
  matches: string[];
  /** A match takes the place of the code from `start` to `end`, in UTF-16 units. */
  start: number;
  end: number;
}

/** What a kernel calls itself. */
export interface KernelInfo {
  /** `pyodide`, or the name of a kernelspec. */
  readonly name: string;
  /** For people: `Python 3 (ipykernel)`. */
  readonly displayName: string;
  readonly language: string;
  /** Of the language; empty until the kernel has started once. */
  readonly version: string;
}

/** What runs the code of a notebook. Every kernel of ours is used through this, and through nothing else. */
export interface Kernel {
  readonly state: KernelState;
  readonly info: KernelInfo;
  /** What stands between the code and the machine. Undefined until the kernel has started once, and of kernels that do not know it. */
  readonly layers?: readonly Layer[] | undefined;
  /** Messages of widgets; undefined of kernels that have none. */
  readonly comms?: KernelComms | undefined;
  /** Rejects with a message that says what to do. */
  start(): Promise<void>;
  /** One at a time; later ones queue. Rejects when the kernel is dead, or dies. */
  execute(source: string, options: ExecuteOptions): Promise<Execution>;
  interrupt(): Promise<void>;
  /** No matches while the kernel is busy or cannot tell. `position` is in UTF-16 units. */
  complete(code: string, position: number): Promise<Completions>;
  /** What is known of the name at the place; undefined where nothing is, or while the kernel is busy. `detail` 1 asks for more. */
  inspect(code: string, position: number, detail?: 0 | 1): Promise<MimeBundle | undefined>;
  /**
   * The text that a Python expression gives, without a trace in the notebook: base64, or other text without quotes. Undefined while the kernel is
   * busy, or where there is none. Undefined of kernels that cannot be asked.
   */
  evaluate?(expression: string): Promise<string | undefined>;
  /** Variables are gone, the execution count begins at 1 again; a running execution ends `interrupted`. */
  restart(): Promise<void>;
  /**
   * Files that code has written into its folder for them since this was last called; undefined while none can be asked for. Rejects if there is
   * no answer. Undefined of kernels that have no such folder.
   */
  takeWritten?(bounds: WrittenBounds): Promise<Written | undefined>;
  close(): Promise<void>;
  /** Returns the unsubscribe function. */
  onState(listener: (state: KernelState) => void): () => void;
}
