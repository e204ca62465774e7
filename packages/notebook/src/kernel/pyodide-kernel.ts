import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { MimeBundle } from '../model/output.js';
import { maxRecentRuns, type PendingExecution } from './execution-queue.js';
import { type HostCalls, type HostService, type HostServices, openHostCalls } from './host-services.js';
import type { Completions, KernelInfo } from './kernel.js';
import type { KernelTools } from './kernel-tools.js';
import type { KernelWorker, OpenWorker } from './kernel-worker.js';
import { parseReport, type Report, type WorkerAnswer, type WorkerRequest } from './messages.js';
import { type Engine, type EngineEvents, QueuedKernel, type QueueOptions } from './queued-kernel.js';
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

/** The version is empty until the kernel has started once. */
const pyodideInfo: KernelInfo = { name: 'pyodide', displayName: 'Python (Pyodide)', language: 'python', version: '' };

/** Python by Pyodide, in a worker of the runtime that `openWorker` knows: a Worker of a page, or a process of Node. */
export class PyodideKernel extends QueuedKernel<PyodideEngine> {
  protected readonly engineName = 'Python';
  readonly #options: PyodideKernelOptions;

  constructor(options: PyodideKernelOptions) {
    super(options, pyodideInfo);
    this.#options = options;
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
    return new PyodideEngine(this.#options, events);
  }
}

/** One worker, and the cell that runs in it. */
class PyodideEngine implements Engine {
  readonly #events: EngineEvents;
  readonly #worker: KernelWorker;
  readonly #logger: Logger | undefined;
  readonly #calls: ToolCalls | undefined;
  readonly #hostCalls: HostCalls;
  readonly #requests = new Map<number, (answer: WorkerAnswer | undefined) => void>();
  /** By their counts. */
  readonly #cells = new Map<number, PendingExecution>();
  #current: PendingExecution | undefined;
  #count = 0;
  #lastId = 0;
  #isEnded = false;

  constructor({ openWorker, tools, services = {}, logger }: PyodideKernelOptions, events: EngineEvents) {
    this.#events = events;
    this.#logger = logger;
    this.#worker = openWorker({
      onReport: (value) => this.#take(parseReport(value)),
      onExit: events.onOver,
    });
    const input = () => createInputService(() => this.#current);
    this.#hostCalls = openHostCalls({ ...services, input }, (command) => this.#worker.send(command));
    if (tools) {
      const askerOf = (cell: string) => (cell === String(this.#current?.count) ? this.#current?.asker : undefined);
      this.#calls = openToolCalls({ tools, send: (command) => this.#worker.send(command), askerOf });
    }
  }

  run(execution: PendingExecution): void {
    this.#current = execution;
    execution.count = ++this.#count;
    keepLatest(this.#cells, [execution.count, execution], maxRecentRuns);
    this.#worker.send({ type: 'execute', count: execution.count, source: execution.source });
  }

  interrupt({ count }: PendingExecution): void {
    this.#worker.interrupt(count);
  }

  /** Undefined when it takes longer. */
  async ask<Type extends WorkerAnswer['type']>(
    request: WorkerRequest,
    type: Type,
    timeoutMs: number,
  ): Promise<Extract<WorkerAnswer, { type: Type }> | undefined> {
    const id = ++this.#lastId;
    const answered = new Promise<WorkerAnswer | undefined>((resolve) => this.#requests.set(id, resolve));
    this.#worker.send({ ...request, id });
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
    await Promise.all([this.#worker.terminate(), this.#hostCalls.close()]);
  }

  #take(report: Report | undefined): void {
    if (!report || this.#isEnded) return;
    switch (report.type) {
      case 'ready':
        return this.#becomeReady(report);
      case 'dead':
        return this.#events.onOver(report.reason);
      case 'toolCall':
      case 'toolCancel':
      case 'toolHeard':
        return this.#calls?.take(report);
      case 'hostCall':
      case 'hostCancel':
        return this.#hostCalls.take(report);
      case 'completions':
      case 'evaluated':
      case 'written':
        return this.#requests.get(report.id)?.(report);
      default:
        return this.#takeShown(report);
    }
  }

  #becomeReady({ version, hardened, slowStart }: Extract<Report, { type: 'ready' }>): void {
    if (slowStart !== undefined) this.#logger?.debug('Python does not begin with its snapshot.', { reason: slowStart });
    this.#events.onReady({ ...pyodideInfo, version }, this.#worker.layersWith?.(hardened));
  }

  #takeShown(report: Extract<Report, { type: 'output' | 'clear' | 'done' }>): void {
    const ended = report.type === 'done' && report.count === this.#current?.count ? this.#current : undefined;
    // A task that outlives its cell shows what it shows there.
    const shownIn = report.type === 'done' ? ended : this.#cells.get(report.count);
    shownIn?.take(report);
    if ('characters' in report) this.#worker.acknowledge(report.characters);
    if (report.type !== 'done' || !ended) return;
    this.#current = undefined;
    this.#events.onEnd(ended, report.status);
  }
}

/** What `input()` asks is asked where the cell that runs was asked for. Code may forge questions: it could ask them anyway. */
function createInputService(current: () => PendingExecution | undefined): HostService {
  return {
    async call({ text }, signal) {
      // Whatever code has written there: of what is no object, no member is found.
      const { prompt, password } = Object(JSON.parse(text)) as { prompt?: unknown; password?: unknown };
      const question = { prompt: typeof prompt === 'string' ? prompt : '', password: password === true };
      const answer = await current()?.ask(question, signal);
      return { text: JSON.stringify(answer === undefined ? {} : { text: answer }) };
    },
    close: async () => {},
  };
}
