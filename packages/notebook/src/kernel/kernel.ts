import type { Layer } from './layers.js';

/** A mime bundle: texts by mime type, and any JSON value for JSON types. */
export type MimeBundle = { [mimeType: string]: unknown };

export interface StreamOutput {
  output_type: 'stream';
  name: string;
  /** On disk a list of lines; a kernel may send either. */
  text: string | string[];
  [key: string]: unknown;
}

export interface DisplayDataOutput {
  output_type: 'display_data';
  data: MimeBundle;
  metadata: { [key: string]: unknown };
  [key: string]: unknown;
}

export interface ExecuteResultOutput {
  output_type: 'execute_result';
  data: MimeBundle;
  metadata: { [key: string]: unknown };
  execution_count: number | null;
  [key: string]: unknown;
}

export interface ErrorOutput {
  output_type: 'error';
  ename: string;
  evalue: string;
  traceback: string[];
  [key: string]: unknown;
}

/** An output object of nbformat 4.5; unknown keys are kept. */
export type Output = StreamOutput | DisplayDataOutput | ExecuteResultOutput | ErrorOutput;

export type KernelState = 'starting' | 'idle' | 'busy' | 'dead';

export interface Execution {
  status: 'ok' | 'error' | 'interrupted';
  executionCount: number;
}

export interface ExecuteOptions {
  onOutput: (output: Output) => void;
  /** `clear_output`: at once, or with `wait` as soon as the next output comes. */
  onClear?: (wait: boolean) => void;
  /** Interrupts this execution, or takes it out of the queue. */
  signal?: AbortSignal;
}

/** What runs the code of a notebook. Every kernel of ours is used through this, and through nothing else. */
export interface Kernel {
  readonly state: KernelState;
  readonly info: { name: string; language: string; version: string };
  /** What stands between the code and the machine. Undefined until the kernel has started once, and of kernels that do not know it. */
  readonly layers?: readonly Layer[] | undefined;
  /** Rejects with a message that says what to do. */
  start(): Promise<void>;
  /** One at a time; later ones queue. Rejects when the kernel is dead, or dies. */
  execute(source: string, options: ExecuteOptions): Promise<Execution>;
  interrupt(): Promise<void>;
  /** Variables are gone, the execution count begins at 1 again; a running execution ends `interrupted`. */
  restart(): Promise<void>;
  close(): Promise<void>;
  /** Returns the unsubscribe function. */
  onState(listener: (state: KernelState) => void): () => void;
}
