import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { whenAborted } from '@notebridge/protocol/util/when-aborted';
import type { CommMessage } from '../kernel/jupyter-protocol/kernel-comms.js';
import type { ExecuteOptions, InputQuestion, Kernel, KernelInfo, KernelState } from '../kernel/kernel.js';
import type { Layer } from '../kernel/layers.js';
import type { Actor } from '../model/cell.js';
import type { DocumentEvent, NotebookDocument } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import { Journal, type JournalEntry, type JournalLimits, type UndoOptions } from '../model/journal.js';
import type { Output } from '../model/output.js';
import { WidgetModels } from '../widgets/widget-models.js';
import { CellOutputs, deletedCell } from './cell-outputs.js';
import { askerUntil } from './code-askers.js';
import { type InputEvent, InputQuestions, refusalOf } from './input-questions.js';
import { RunLog } from './run-log.js';
import {
  type BegunRun,
  type EarlierRun,
  type Job,
  notRun,
  type Run,
  type RunEvent,
  type RunOptions,
  RunQueue,
  type RunResult,
  toRun,
} from './run-queue.js';

export interface SessionOptions {
  document: NotebookDocument;
  kernel: Kernel;
  /** Agents may look, and change or run nothing. Persons may always. Default false. */
  readOnly?: boolean;
  /** What people call the notebook: its file name. */
  title?: string;
  /** What `get_notebook_info` says of the kernel besides its own info. Default: nothing. */
  describeKernel?: () => JsonObject;
  journal?: JournalLimits;
}

export type SessionEvent =
  | RunEvent
  | InputEvent
  /** Someone stopped, interrupted or restarted what runs. */
  | { readonly type: 'stopped' | 'interrupted' | 'restarted'; readonly by: Actor }
  /** The version and the layers are known from the first start on. */
  | { readonly type: 'kernel'; readonly state: KernelState; readonly info: KernelInfo; readonly layers?: readonly Layer[] }
  | { readonly type: 'readOnly'; readonly readOnly: boolean };

/** A document and a kernel, joined: what person and agent run goes through here, one cell at a time. */
export class NotebookSession {
  readonly document: NotebookDocument;
  readonly journal: Journal;
  readonly kernel: Kernel;
  readonly title: string | undefined;
  readonly describeKernel: () => JsonObject;
  /** What running code asks a person. */
  readonly questions: InputQuestions;
  /** What ran, runs and waits. */
  readonly runs: RunLog;
  /** Undefined of a kernel that never has any. */
  readonly widgets: WidgetModels | undefined;
  readonly #outputs: CellOutputs;
  readonly #listeners = new Listeners<SessionEvent>();
  readonly #queue: RunQueue;
  readonly #stopListening: (() => void)[];
  readonly #durations = new Map<string, number>();
  #started: Promise<void> | undefined;
  #readOnly: boolean;
  /** That the kernel has not dealt with. */
  #widgetCalls = 0;
  #isClosed = false;

  constructor({ document, kernel, readOnly = false, title, describeKernel = () => ({}), journal }: SessionOptions) {
    this.document = document;
    this.kernel = kernel;
    this.title = title;
    this.describeKernel = describeKernel;
    this.journal = new Journal(document, journal);
    this.#readOnly = readOnly;
    this.#outputs = new CellOutputs(document);
    this.widgets = kernel.comms && new WidgetModels(kernel.comms);
    this.questions = new InputQuestions((event) => this.#listeners.emit(event));
    this.#queue = new RunQueue({
      execute: (job) => this.#execute(job),
      onEvent: (event) => {
        if (event.type === 'finished' && event.durationMs !== undefined && document.find(event.run.cellId))
          this.#durations.set(event.run.cellId, event.durationMs);
        this.#listeners.emit(event);
      },
    });
    this.runs = new RunLog(this);
    this.#stopListening = [
      document.onChange((event) => this.#dropDeleted(event)),
      kernel.onState((state) => {
        const { info, layers } = kernel;
        if (state === 'starting') this.#outputs.forget();
        if (state === 'starting' || state === 'dead') this.widgets?.clear();
        this.#listeners.emit({ type: 'kernel', state, info: { ...info }, ...(layers ? { layers } : {}) });
      }),
    ];
  }

  get readOnly(): boolean {
    return this.#readOnly;
  }

  set readOnly(readOnly: boolean) {
    if (readOnly === this.#readOnly) return;
    this.#readOnly = readOnly;
    this.#listeners.emit({ type: 'readOnly', readOnly });
  }

  get running(): Run | undefined {
    return this.#queue.running;
  }

  /** As it is told to people and agents: one that nobody has asked to start does not start. */
  get kernelState(): KernelState | 'not started' {
    const { state } = this.kernel;
    return this.#started === undefined && state === 'starting' ? 'not started' : state;
  }

  get queued(): readonly Run[] {
    return this.#queue.queued;
  }

  /** How long the last run of each cell took, since the notebook was opened. Milliseconds, by cell id. */
  get durations(): { readonly [cellId: string]: number } {
    return Object.fromEntries(this.#durations);
  }

  onEvent(listener: (event: SessionEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Starts the kernel, which the first run does otherwise. Throws `kernel_failed`; a later call tries again. */
  async start(): Promise<void> {
    this.#assertOpen();
    this.#started ??= this.kernel.start();
    try {
      await this.#started;
    } catch (error) {
      this.#started = undefined;
      throw new NotebookError('kernel_failed', `The kernel could not be started: ${messageOf(error)}`, { cause: error });
    }
  }

  /**
   * Runs a code cell, after those that wait already, and resolves when it has finished. Code that fails is a result of status
   * `error`; it rejects when the code could not run, or its cell is deleted meanwhile.
   */
  async run(cellId: string, options: RunOptions): Promise<RunResult> {
    return this.begin(cellId, options).result;
  }

  /** The same for a caller that may not wait to its end: throws at once what `run` rejects with because of the cell. */
  begin(cellId: string, options: RunOptions): BegunRun {
    this.#assertOpen();
    const { cell } = this.document.get(cellId);
    if (cell.type === 'code') return this.#queue.add({ cellId, source: cell.source, options });
    throw new NotebookError('not_code_cell', `The cell "${cellId}" is a ${cell.type} cell; only code cells can be run.`, {
      data: { cellId },
    });
  }

  /** What an earlier process began is a run of this session, as long as it goes on and when it has ended. Before any other run. */
  follow({ name, cellId, by, startedAt, follow }: EarlierRun): void {
    this.#assertOpen();
    this.#started ??= Promise.resolve();
    const { id, result } = this.#queue.add({ cellId, source: '', options: { by }, startedAt, follow });
    this.runs.keepName(id, name);
    // Who asked for it is gone.
    result.catch(() => {});
  }

  /** Ends the running cell and forgets those that wait. */
  async stop({ by }: { by: Actor }): Promise<void> {
    this.#queue.drop(notRun(`${by.name} stopped the notebook`));
    this.#listeners.emit({ type: 'stopped', by });
    await this.#interruptRunning();
  }

  /** Ends the running cell, or what a widget has called; those that wait go on. Returns the run, if there was one. */
  async interrupt({ by }: { by: Actor }): Promise<Run | undefined> {
    const { running } = this.#queue;
    if (running) this.#listeners.emit({ type: 'interrupted', by });
    await this.#interruptRunning();
    return running;
  }

  /** Ends one run, whether it runs or waits. False if it has ended already. */
  async interruptRun(id: number, { by }: { by: Actor }): Promise<boolean> {
    if (this.#queue.running?.id === id) return (await this.interrupt({ by })) !== undefined;
    const isWaiting = this.#queue.queued.some((run) => run.id === id);
    this.#queue.drop(notRun(`${by.name} took it back`), (run) => run.id === id);
    return isWaiting;
  }

  /** Fresh variables; what runs is interrupted, what waits is forgotten. */
  async restart({ by }: { by: Actor }): Promise<void> {
    this.#assertOpen();
    this.#queue.drop(notRun(`${by.name} restarted the kernel`));
    this.#queue.stopRunning();
    this.#outputs.endLate();
    this.#listeners.emit({ type: 'restarted', by });
    if (!this.#started) return this.start();
    this.#started = this.kernel.restart();
    return this.start();
  }

  /**
   * Tells the kernel what a person did with a widget, and resolves when it has dealt with it. What its code shows stands below the
   * widget, if it gave it no place of its own.
   */
  async callWidget(message: CommMessage, { cellId, by }: { cellId: string; by: Actor }): Promise<void> {
    this.#assertOpen();
    const hasCell = () => this.document.find(cellId)?.type === 'code';
    let hasShown = false;
    this.#widgetCalls++;
    await this.kernel.comms?.send(message, (shown) => {
      if (shown.kind === 'clear') return;
      if (shown.update && shown.displayId !== undefined) return this.#outputs.update(shown.displayId, shown.output, by);
      if (!hasCell()) return;
      hasShown = true;
      this.document.appendOutput(cellId, shown.output, { by });
    });
    this.#widgetCalls--;
    if (hasShown && hasCell()) this.document.finishOutputs(cellId, { by });
  }

  /** Takes back an agent's last change. Throws as the journal does, and `cell_running` for a cell that is busy. */
  undoLast(options: UndoOptions): JournalEntry {
    const entry = this.journal.findLast(options.ofAgent);
    if (entry) this.#assertAtRest(entry.cellId);
    return this.journal.undoLast(options);
  }

  /** Takes back one change of the journal. */
  undo(entryId: number, options: UndoOptions): JournalEntry {
    const entry = this.journal.entries.find(({ id }) => id === entryId);
    if (entry) this.#assertAtRest(entry.cellId);
    return this.journal.undo(entryId, options);
  }

  /** Ends everything that was opened here, and the kernel. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue.drop(() => new NotebookError('closed', 'The notebook was closed before the cell ran.'));
    this.#queue.stopRunning();
    for (const stop of this.#stopListening) stop();
    this.#outputs.close();
    this.questions.close();
    this.runs.close();
    this.journal.close();
    this.widgets?.close();
    await this.kernel.close();
  }

  async #execute(job: Job): Promise<RunResult> {
    const { options } = job;
    const sink = this.#outputs.sinkOf(job);
    const ended = new AbortController();
    const given = options.asker ?? (options.by.kind === 'person' ? this.questions.askerFor(toRun(job)) : undefined);
    const heard: ExecuteOptions = {
      onOutput: (output, displayId) => sink.put(output, displayId),
      onUpdate: (displayId, output) => sink.update(displayId, output),
      onInput: (question, signal) => this.#ask(job, question, signal, sink.put),
      onClear: (wait) => sink.clear(wait),
      asker: given && askerUntil(given, ended.signal),
      withdrawn: options.withdrawn,
      ...(options.signal ? { signal: options.signal } : {}),
    };
    try {
      // Its cell has its first outputs already.
      if (job.follow) return sink.finish(await job.follow(heard));
      this.assertKernel();
      // A kernel may take its time to start: who stops the run meanwhile does not wait for it.
      await Promise.race([this.start(), whenAborted(job.stop.signal)]);
      if (job.stop.signal.aborted) throw notRun('it was stopped')(job);
      sink.begin();
      return sink.finish(await this.kernel.execute(job.source, heard));
    } catch (error) {
      throw sink.fail(this.#toKnown(error));
    } finally {
      ended.abort();
    }
  }

  /** A refusal is said in the cell: the error that the code gets does not tell why. */
  async #ask(job: Job, question: InputQuestion, signal: AbortSignal, put: (output: Output) => void): Promise<string | undefined> {
    const run = toRun(job);
    const isAsked = this.questions.canAsk(run);
    const answer = await this.questions.ask(question, run, signal);
    if (answer === undefined && !signal.aborted) put(refusalOf(question, isAsked));
    return answer;
  }

  #toKnown(error: unknown): NotebookError {
    if (error instanceof NotebookError) return error;
    if (this.#isClosed) return new NotebookError('closed', 'The notebook was closed while the cell ran.', { cause: error });
    return new NotebookError(this.kernel.state === 'dead' ? 'kernel_dead' : 'internal', messageOf(error), { cause: error });
  }

  async #interruptRunning(): Promise<void> {
    this.#queue.stopRunning();
    if (this.#queue.running || this.#widgetCalls > 0) await this.kernel.interrupt();
  }

  #dropDeleted({ change, before }: DocumentEvent): void {
    if (change.op.type !== 'delete' || !before) return;
    const { id } = change.op;
    this.#durations.delete(id);
    this.#queue.drop(
      () => deletedCell(id, `by ${change.by.name} before it ran`),
      ({ cellId }) => cellId === id,
    );
  }

  #assertAtRest(cellId: string): void {
    const isBusy = [this.#queue.running, ...this.#queue.queued].some((run) => run?.cellId === cellId);
    if (isBusy)
      throw new NotebookError('cell_running', `The cell "${cellId}" is running or waits for its turn; interrupt it first, or wait.`, {
        data: { cellId },
      });
  }

  /** Throws `kernel_dead` where nothing can run until the kernel is restarted. */
  assertKernel(): void {
    if (this.#started && this.kernel.state === 'dead')
      throw new NotebookError('kernel_dead', 'The kernel has died, and its variables are gone. Call restart_kernel.');
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new NotebookError('closed', 'The notebook session is closed.');
  }
}

/** Joins a document and a kernel. The kernel starts with the first run, or with `start()`. */
export function createNotebookSession(options: SessionOptions): NotebookSession {
  return new NotebookSession(options);
}
