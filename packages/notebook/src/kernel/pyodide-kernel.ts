import type { Logger } from '@notebridge/kit/logger';
import type { MimeBundle } from '../model/output.js';
import type { PendingExecution } from './execution-queue.js';
import { type HostCalls, type HostServices, openHostCalls } from './host-services.js';
import { createInputService } from './input-service.js';
import { type Interpreter, openInterpreter } from './interpreter.js';
import type { Completions, KernelInfo } from './kernel.js';
import type { KernelTools } from './kernel-tools.js';
import type { OpenWorker } from './kernel-worker.js';
import type { Layer } from './layers.js';
import type { Report, WorkerAnswer, WorkerRequest } from './messages.js';
import { type Engine, type EngineEvents, QueuedKernel, type QueueOptions } from './queued-kernel.js';
import { RecentRuns } from './recent-runs.js';
import { openToolCalls, type ToolCalls } from './tool-calls.js';
import { within } from './within.js';
import { parseWritten, type Written, type WrittenBounds } from './written-files.js';

export interface PyodideKernelOptions extends QueueOptions {
  openWorker: OpenWorker;
  /** What code may call as `generated`. Default: nothing. */
  tools?: KernelTools | undefined;
  /** What the host does for code besides tools. Default: nothing. */
  services?: HostServices | undefined;
  /** Default: none. */
  logger?: Logger | undefined;
}

const completionTimeoutMs = 2000;
const evaluationTimeoutMs = 30_000;
/** Of one look at the folder, and of what runs in the background before it. */
const writtenTimeoutMs = 5000;

/** Python by Pyodide, in a worker of the runtime that `openWorker` knows: a Worker of a page, or a process of Node. */
export class PyodideKernel extends QueuedKernel<PyodideEngine> {
  protected readonly restarted = 'Python';
  readonly #options: PyodideKernelOptions;
  #version = '';
  #layers: readonly Layer[] | undefined;

  constructor(options: PyodideKernelOptions) {
    super(options);
    this.#options = options;
  }

  /** The version is empty until the kernel has started once. */
  get info(): KernelInfo {
    return { name: 'pyodide', displayName: 'Python (Pyodide)', language: 'python', version: this.#version };
  }

  get layers(): readonly Layer[] | undefined {
    return this.#layers;
  }

  /** What the name at `position` could go on as. Nothing while a cell runs: Python does one thing at a time. */
  async complete(code: string, position: number): Promise<Completions> {
    const answer = await this.idleEngine?.ask({ type: 'complete', before: code.slice(0, position) }, 'completions', completionTimeoutMs);
    if (!answer) return { matches: [], start: position, end: position };
    return { matches: answer.matches, start: position - answer.word.length, end: position };
  }

  /** Nothing here could tell. */
  async inspect(): Promise<MimeBundle | undefined> {
    return undefined;
  }

  async evaluate(expression: string): Promise<string | undefined> {
    return (await this.idleEngine?.ask({ type: 'evaluate', expression }, 'evaluated', evaluationTimeoutMs))?.value;
  }

  /** See `Kernel`. Undefined while a cell runs. */
  async takeWritten(bounds: WrittenBounds): Promise<Written | undefined> {
    const engine = this.idleEngine;
    if (!engine) return undefined;
    const answer = await engine.ask({ type: 'takeWritten', bounds }, 'written', writtenTimeoutMs);
    if (!answer) throw new Error('Python has not answered');
    return parseWritten(answer.text, answer.data, bounds);
  }

  protected open(events: EngineEvents): PyodideEngine {
    return new PyodideEngine({ ...this.#options, startTimeoutMs: this.startTimeoutMs }, events, (version, layers) => {
      this.#version = version;
      this.#layers = layers;
    });
  }
}

/** One worker, and the cell that runs in it. */
class PyodideEngine implements Engine {
  readonly ready: Promise<void>;
  readonly #events: EngineEvents;
  readonly #interpreter: Interpreter;
  readonly #calls: ToolCalls | undefined;
  readonly #hostCalls: HostCalls;
  readonly #requests = new Map<number, (answer: WorkerAnswer | undefined) => void>();
  /** By their counts. */
  readonly #cells = new RecentRuns<number, PendingExecution>();
  #current: PendingExecution | undefined;
  #count = 0;
  #lastId = 0;
  #isEnded = false;

  constructor(
    { openWorker, startTimeoutMs, tools, services = {}, logger }: PyodideKernelOptions & { startTimeoutMs: number },
    events: EngineEvents,
    onReady: (version: string, layers: readonly Layer[] | undefined) => void,
  ) {
    this.#events = events;
    this.#interpreter = openInterpreter(openWorker, startTimeoutMs, {
      onReport: (report) => this.#take(report),
      onDeath: events.onDeath,
    });
    const { worker, ready } = this.#interpreter;
    const input = () => createInputService(() => this.#current);
    this.#hostCalls = openHostCalls({ ...services, input }, (command) => worker.send(command));
    if (tools) {
      const askerOf = (cell: string) => (cell === String(this.#current?.count) ? this.#current?.asker : undefined);
      this.#calls = openToolCalls({ tools, send: (command) => worker.send(command), askerOf });
    }
    this.ready = ready.then(({ version, hardened, slowStart }) => {
      if (slowStart !== undefined) logger?.debug('Python does not begin with its snapshot.', { reason: slowStart });
      onReady(version, worker.layersWith?.(hardened));
    });
    // A caller that ends it early does not wait for it.
    this.ready.catch(() => {});
  }

  run(execution: PendingExecution): void {
    this.#current = execution;
    execution.count = ++this.#count;
    this.#cells.add(execution.count, execution);
    this.#interpreter.worker.send({ type: 'execute', count: execution.count, source: execution.source });
  }

  interrupt({ count }: PendingExecution): void {
    this.#interpreter.worker.interrupt(count);
  }

  /** Undefined when it takes longer. */
  async ask<Type extends WorkerAnswer['type']>(
    request: WorkerRequest,
    type: Type,
    timeoutMs: number,
  ): Promise<Extract<WorkerAnswer, { type: Type }> | undefined> {
    const id = ++this.#lastId;
    const answered = new Promise<WorkerAnswer | undefined>((resolve) => this.#requests.set(id, resolve));
    this.#interpreter.worker.send({ ...request, id });
    const answer = await within(timeoutMs, answered);
    this.#requests.delete(id);
    // Code may have forged one of another kind.
    return answer?.type === type ? (answer as Extract<WorkerAnswer, { type: Type }>) : undefined;
  }

  async end(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#calls?.close();
    for (const resolve of this.#requests.values()) resolve(undefined);
    await Promise.all([this.#interpreter.end(), this.#hostCalls.close()]);
  }

  #take(report: Report): void {
    if (this.#isEnded) return;
    if (report.type === 'toolCall' || report.type === 'toolCancel' || report.type === 'toolHeard') return this.#calls?.take(report);
    if (report.type === 'hostCall' || report.type === 'hostCancel') return this.#hostCalls.take(report);
    if (report.type === 'completions' || report.type === 'evaluated' || report.type === 'written')
      return this.#requests.get(report.id)?.(report);
    const execution = this.#current;
    // A task that outlives its cell shows what it shows there.
    if (report.type === 'output' || report.type === 'clear') this.#cells.get(report.count)?.take(report);
    else if (report.type === 'done' && report.count === execution?.count) execution.take(report);
    if ('characters' in report) this.#interpreter.worker.acknowledge(report.characters);
    if (report.type !== 'done' || report.count !== execution?.count) return;
    this.#current = undefined;
    this.#events.onEnd(execution, report.status);
  }
}
