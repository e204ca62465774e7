import { PendingExecution } from './execution-queue.js';
import { type Interpreter, openInterpreter } from './interpreter.js';
import type { Completions, ExecuteOptions, Execution, Kernel, KernelInfo, KernelState, MimeBundle, Output } from './kernel.js';
import { KernelError } from './kernel-error.js';
import type { KernelTools } from './kernel-tools.js';
import type { OpenWorker } from './kernel-worker.js';
import type { Layer } from './layers.js';
import type { Report } from './messages.js';
import { openToolCalls, type ToolCalls } from './tool-calls.js';
import { within } from './within.js';

export interface PyodideKernelOptions {
  openWorker: OpenWorker;
  /** How long Python may take to load. Default 60 000. */
  startTimeoutMs?: number;
  /** How long code may take to end after an interrupt before Python is restarted instead. Default 5000. */
  interruptGraceMs?: number;
  /** What code may call as `generated`. Default: nothing. */
  tools?: KernelTools | undefined;
}

const completionTimeoutMs = 2000;

/** Python by Pyodide, in a worker of the runtime that `openWorker` knows. Runs in pages and in Node. */
export class PyodideKernel implements Kernel {
  readonly #options: Required<Omit<PyodideKernelOptions, 'tools'>>;
  readonly #tools: KernelTools | undefined;
  readonly #listeners = new Set<(state: KernelState) => void>();
  readonly #completions = new Map<number, (found: { matches: string[]; word: string }) => void>();
  #state: KernelState = 'starting';
  #version = '';
  #layers: readonly Layer[] | undefined;
  #interpreter: Interpreter | undefined;
  #calls: ToolCalls | undefined;
  /** The start under way, or the last one. */
  #started: Promise<void> | undefined;
  #current: PendingExecution | undefined;
  #queue: PendingExecution[] = [];
  #count = 0;
  #completionId = 0;
  #deathReason = '';
  #closed = false;

  constructor({ tools, ...options }: PyodideKernelOptions) {
    this.#tools = tools;
    this.#options = { startTimeoutMs: 60_000, interruptGraceMs: 5000, ...options };
  }

  get state(): KernelState {
    return this.#state;
  }

  /** The version is empty until the kernel has started once. */
  get info(): KernelInfo {
    return { name: 'pyodide', displayName: 'Python (Pyodide)', language: 'python', version: this.#version };
  }

  get layers(): readonly Layer[] | undefined {
    return this.#layers;
  }

  onState(listener: (state: KernelState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async start(): Promise<void> {
    this.#assertOpen('Starting the kernel');
    this.#started ??= this.#launch();
    return this.#started;
  }

  async execute(source: string, options: ExecuteOptions): Promise<Execution> {
    this.#assertOpen('Running a cell');
    if (this.#state === 'dead')
      throw new KernelError('kernel_dead', `Running a cell: the kernel is dead (${this.#deathReason}). Restart it first`);
    if (options.signal?.aborted) return { status: 'interrupted', executionCount: 0 };
    const execution = new PendingExecution(source, options, (aborted) => this.#abort(aborted));
    this.#queue.push(execution);
    // A failed start ends what is queued.
    this.start().catch(() => {});
    this.#runNext();
    return execution.ended;
  }

  /** Ends the running cell; those behind it stay in the queue. Resolves when it has ended, if need be by a restart. */
  async interrupt(): Promise<void> {
    const execution = this.#current;
    if (!execution) return;
    execution.interrupting ??= this.#interrupt(execution);
    await execution.interrupting;
  }

  /** Takes queued cells out of the queue as well: they would not find their variables. */
  async restart(): Promise<void> {
    this.#assertOpen('Restarting the kernel');
    this.#endAll((execution) => execution.end('interrupted'));
    // What is just starting is as fresh as it can be.
    if (this.#state !== 'starting' || !this.#started) this.#started = this.#relaunch();
    return this.#started;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#endAll((execution) => execution.end('interrupted'));
    this.#deathReason = 'it was closed';
    const interpreter = this.#takeInterpreter();
    this.#setState('dead');
    this.#listeners.clear();
    await interpreter?.end();
  }

  /** What the name at `position` could go on as. Nothing while a cell runs: Python does one thing at a time. */
  async complete(code: string, position: number): Promise<Completions> {
    const nothing = { matches: [], start: position, end: position };
    if (this.#state !== 'idle' || !this.#interpreter) return nothing;
    const id = ++this.#completionId;
    const found = new Promise<{ matches: string[]; word: string }>((resolve) => this.#completions.set(id, resolve));
    this.#interpreter.worker.send({ type: 'complete', id, before: code.slice(0, position) });
    const answer = await within(completionTimeoutMs, found);
    this.#completions.delete(id);
    return answer ? { matches: answer.matches, start: position - answer.word.length, end: position } : nothing;
  }

  /** Our Python has nothing that could tell. */
  async inspect(): Promise<MimeBundle | undefined> {
    return undefined;
  }

  async #launch(): Promise<void> {
    this.#setState('starting');
    this.#count = 0;
    let interpreter: Interpreter | undefined;
    try {
      interpreter = openInterpreter(this.#options.openWorker, this.#options.startTimeoutMs, {
        onReport: (report) => this.#take(report),
        onDeath: (reason) => this.#die(reason, 'kernel_died'),
      });
      this.#interpreter = interpreter;
      const { worker } = interpreter;
      if (this.#tools) this.#calls = openToolCalls(this.#tools, (command) => worker.send(command));
      const { version, hardened } = await interpreter.ready;
      this.#version = version;
      this.#layers = worker.layersWith?.(hardened);
    } catch (error) {
      if (this.#interpreter === interpreter) this.#die(error instanceof Error ? error.message : String(error), 'kernel_start_failed');
      throw error;
    }
    // Closed, or died, between being ready and the notification.
    if (this.#interpreter !== interpreter || this.#state !== 'starting') return;
    this.#setState('idle');
    this.#runNext();
  }

  async #relaunch(): Promise<void> {
    this.#setState('starting');
    await this.#takeInterpreter()?.end();
    this.#assertOpen('Restarting the kernel');
    await this.#launch();
  }

  #runNext(): void {
    if (this.#state !== 'idle' || !this.#interpreter) return;
    const execution = this.#queue.shift();
    if (!execution) return;
    this.#current = execution;
    execution.count = ++this.#count;
    this.#setState('busy');
    this.#interpreter.worker.send({ type: 'execute', count: execution.count, source: execution.source });
  }

  /** Its later messages are ignored; its calls of tools end. */
  #takeInterpreter(): Interpreter | undefined {
    const interpreter = this.#interpreter;
    this.#interpreter = undefined;
    this.#calls?.close();
    this.#calls = undefined;
    return interpreter;
  }

  #take(report: Report): void {
    if (report.type === 'toolCall' || report.type === 'toolCancel' || report.type === 'toolHeard') return this.#calls?.take(report);
    if (report.type === 'completions') this.#completions.get(report.id)?.(report);
    const execution = this.#current;
    // Output of a task that outlived its cell, while nothing runs, is nobody's.
    if (execution && 'count' in report && report.count === execution.count) execution.take(report);
    if ('characters' in report) this.#interpreter?.worker.acknowledge(report.characters);
    if (report.type !== 'done' || report.count !== execution?.count) return;
    this.#current = undefined;
    execution.end(report.status);
    this.#setState('idle');
    this.#runNext();
  }

  #abort(execution: PendingExecution): void {
    if (execution === this.#current) {
      void this.interrupt();
      return;
    }
    this.#queue = this.#queue.filter((queued) => queued !== execution);
    execution.end('interrupted');
  }

  async #interrupt(execution: PendingExecution): Promise<void> {
    const ended = execution.ended.then(
      () => true,
      () => true,
    );
    // The second one also ends what the first could not: a task in the background that gives nobody else a turn.
    for (const waitMs of [this.#options.interruptGraceMs / 2, this.#options.interruptGraceMs / 2]) {
      this.#interpreter?.worker.interrupt(execution.count);
      if (await within(waitMs, ended)) return;
    }
    if (this.#current !== execution) return;
    execution.show(restartedOutput(this.#options.interruptGraceMs));
    this.restart().catch(() => {});
    await ended;
  }

  #die(reason: string, code: 'kernel_died' | 'kernel_start_failed'): void {
    this.#takeInterpreter();
    this.#started = undefined;
    this.#deathReason = reason;
    const doing = code === 'kernel_died' ? `Running a cell: the kernel died (${reason}), its variables are gone. Restart it` : reason;
    const error = new KernelError(code, doing);
    this.#endAll((execution) => execution.fail(error));
    this.#setState('dead');
  }

  #endAll(end: (execution: PendingExecution) => void): void {
    const all = this.#current ? [this.#current, ...this.#queue] : this.#queue;
    this.#current = undefined;
    this.#queue = [];
    for (const execution of all) end(execution);
    for (const resolve of this.#completions.values()) resolve({ matches: [], word: '' });
    this.#completions.clear();
  }

  #setState(state: KernelState): void {
    if (this.#state === state || (this.#closed && state !== 'dead')) return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  #assertOpen(doing: string): void {
    if (this.#closed) throw new KernelError('kernel_closed', `${doing}: the kernel is closed. Create a new one`);
  }
}

function restartedOutput(graceMs: number): Output {
  const evalue = `The code did not end within ${graceMs / 1000} s of the interrupt, so Python was restarted. Its variables are gone`;
  return { output_type: 'error', ename: 'KernelRestarted', evalue, traceback: [`\x1b[31mKernelRestarted\x1b[39m: ${evalue}`] };
}
