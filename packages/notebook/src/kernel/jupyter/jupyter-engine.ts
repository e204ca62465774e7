/** The life of one helper and its kernel: launched, ready, ended. A restart is a new one. */
import { parseJson } from '@notebridge/kit/exact-json';
import { parseBounded } from '../bounded-json.js';
import type { PendingExecution } from '../execution-queue.js';
import { KernelError } from '../kernel-error.js';
import type { KernelTools } from '../kernel-tools.js';
import type { Layer } from '../layers.js';
import { parseReport } from '../messages.js';
import type { Engine, EngineEvents } from '../queued-kernel.js';
import { RecentRuns } from '../recent-runs.js';
import { openToolCalls, type ToolCalls } from '../tool-calls.js';
import { within } from '../within.js';
import { CellRun } from './cell-run.js';
import { type Helper, openHelper } from './helper.js';
import type { Frame } from './jupyter-frames.js';
import type { LaunchOptions } from './jupyter-process.js';
import { type CommMessage, parseComm, type ShownByCode, type ShownListener, toCommContent } from './kernel-comms.js';
import { toShown } from './shown-by-code.js';

export interface JupyterEngineOptions extends LaunchOptions {
  kernelName: string | undefined;
  tools: KernelTools | undefined;
  startTimeoutMs: number;
  onReady: (info: EngineInfo) => void;
  onComm: (message: CommMessage) => void;
  /** True: it was taken, and its cell does not get it. */
  onShown: ShownListener;
}

/** What the kernel said of itself. */
export interface EngineInfo {
  readonly name: string;
  readonly displayName: string;
  readonly language: string;
  readonly version: string;
  readonly layers: readonly Layer[];
}

type Content = { readonly [key: string]: unknown };

/** What these hold goes into the file as it is; what widgets send is calculated with. */
const showsData: ReadonlySet<string> = new Set(['display_data', 'update_display_data', 'execute_result']);

/** `input()` of Python takes it for the end of its input. */
const endOfFile = '\x04';

export class JupyterEngine implements Engine {
  readonly ready: Promise<void>;
  readonly #options: JupyterEngineOptions;
  readonly #events: EngineEvents;
  readonly #helper: Helper;
  readonly #calls: ToolCalls | undefined;
  readonly #requests = new Map<string, (reply: Content) => void>();
  /** Evaluations that the kernel has not dealt with yet: what they show is no cell's. */
  readonly #quiet = new Set<string>();
  /** Messages of comms that the kernel has not dealt with yet. */
  readonly #comms = new Map<string, { onShown: ((shown: ShownByCode) => void) | undefined; resolve: () => void }>();
  #language = '';
  #run: { id: string; cell: CellRun } | undefined;
  /** The last ones, by their requests: threads and tasks that they have begun may still show something. */
  readonly #cells = new RecentRuns<string, CellRun>();
  #lastId = 0;
  #isReady = false;
  #isEnded = false;
  #settle!: { resolve: () => void; reject: (error: unknown) => void };

  constructor(options: JupyterEngineOptions, events: EngineEvents) {
    this.#options = options;
    this.#events = events;
    this.ready = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // A caller that ends it early does not wait for it.
    this.ready.catch(() => {});
    const { startTimeoutMs, kernelName, tools } = options;
    const timer = setTimeout(() => this.#over(`it was not ready after ${startTimeoutMs / 1000} s`), startTimeoutMs);
    this.ready.then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
    this.#helper = openHelper(options, {
      onFrame: (frame) => this.#take(frame),
      onExit: (reason) => this.#over(reason),
    });
    this.#helper.send({ type: 'start', ...(kernelName === undefined ? {} : { kernelName }), tools: tools !== undefined });
    if (tools) {
      const askerOf = (cell: string) => (cell === this.#run?.id ? this.#run.cell.asker : undefined);
      this.#calls = openToolCalls({ tools, send: (command) => this.#helper.send(command), askerOf });
    }
  }

  run(execution: PendingExecution): void {
    const id = this.#newId();
    const cell = new CellRun({
      execution,
      interrupt: () => this.#helper.send({ type: 'interrupt', id }),
      answer: (value, parentHeader) => this.#send('stdin', 'input_reply', this.#newId(), { value }, { parentHeader }),
      refusal: this.#language === 'python' ? endOfFile : undefined,
      onEnd: (status, isLast) => {
        this.#run = undefined;
        this.#events.onEnd(execution, status);
        if (isLast) this.#over('the code has ended it by exit()');
      },
    });
    this.#run = { id, cell };
    this.#cells.add(id, cell);
    this.#send('shell', 'execute_request', id, {
      code: execution.source,
      silent: false,
      store_history: true,
      user_expressions: {},
      allow_stdin: execution.canAsk,
      // The next cell is sent when this one has ended, and is not meant to be dropped for its error.
      stop_on_error: false,
    });
  }

  interrupt(): void {
    this.#run?.cell.interrupt();
  }

  /** The reply's content; undefined when it takes longer. */
  async request(messageType: string, content: object, timeoutMs: number): Promise<Content | undefined> {
    const id = this.#newId();
    this.#quiet.add(id);
    const replied = new Promise<Content>((resolve) => this.#requests.set(id, resolve));
    this.#send('shell', messageType, id, content);
    const reply = await within(timeoutMs, replied);
    this.#requests.delete(id);
    return reply;
  }

  /** Resolves when the kernel has dealt with it. */
  sendComm(message: CommMessage, onShown: ((shown: ShownByCode) => void) | undefined): Promise<void> {
    if (!this.#isReady || this.#isEnded) return Promise.resolve();
    const { messageType, content } = toCommContent(message);
    const id = this.#newId();
    const handled = new Promise<void>((resolve) => this.#comms.set(id, { onShown, resolve }));
    this.#send('shell', messageType, id, content, { metadata: message.metadata }, message.buffers);
    return handled;
  }

  /** While no cell runs: ends what a message of a comm has called. */
  interruptComms(): void {
    // The helper interrupts the cell of this id, and knows that there is none.
    if (this.#comms.size > 0) this.#helper.send({ type: 'interrupt', id: null });
  }

  async end(now = false): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#settle.reject(new KernelError('kernel_start_failed', 'Starting the kernel: it was ended before it was ready'));
      this.#run?.cell.drop();
      this.#calls?.close();
      for (const resolve of this.#requests.values()) resolve({});
      for (const { resolve } of this.#comms.values()) resolve();
    }
    await this.#helper.end(now);
  }

  #take(frame: Frame): void {
    if (this.#isEnded) return;
    const { header, parts } = frame;
    switch (header.type) {
      case 'ready':
        return this.#becomeReady(header, parseContent(parts[0]));
      case 'dead':
        return this.#over(String(header.reason));
      case 'message':
        return this.#takeMessage(header, parts);
      default: {
        const report = parseReport(header);
        if (report?.type === 'toolCall' || report?.type === 'toolCancel' || report?.type === 'toolHeard') this.#calls?.take(report);
      }
    }
  }

  #becomeReady({ name, displayName, language }: Content, info: Content): void {
    const about = (info.language_info ?? {}) as Content;
    this.#language = String(about.name ?? language).toLowerCase();
    this.#isReady = true;
    this.#options.onReady({
      name: String(name),
      displayName: String(displayName),
      language: this.#language,
      version: typeof about.version === 'string' ? about.version : '',
      layers: this.#helper.layers,
    });
    this.#settle.resolve();
  }

  #takeMessage({ channel, messageType, parent, size, header }: Content, [part, ...more]: readonly Buffer[]): void {
    const content = parseContent(part, showsData.has(String(messageType)) ? parseJson : undefined);
    const isOurs = parent === this.#run?.id;
    if (channel === 'stdin') {
      if (isOurs && messageType === 'input_request') void this.#run?.cell.takeQuestion(content, String(header));
    } else if (channel === 'shell') {
      if (isOurs) this.#run?.cell.takeReply(content);
      else this.#requests.get(String(parent))?.(content);
    } else if (channel === 'iopub') {
      this.#takeOutput(String(messageType), String(parent), content, more);
      this.#helper.acknowledge(Number(size));
    }
  }

  #takeOutput(messageType: string, parent: string, content: Content, [metadata, ...buffers]: readonly Buffer[]): void {
    const comm = parseComm(messageType, content, metadata && parseContent(metadata), buffers);
    if (comm) return this.#options.onComm(comm);
    const isOurs = parent === this.#run?.id;
    const caller = this.#comms.get(parent);
    if (messageType === 'status' || messageType === 'execute_input') {
      if (isOurs) this.#run?.cell.takeOutput(messageType, content);
      if (content.execution_state !== 'idle') return;
      this.#quiet.delete(parent);
      this.#comms.delete(parent);
      return caller?.resolve();
    }
    if (this.#quiet.has(parent)) return;
    if (this.#options.onShown(parent, () => toShown(messageType, content))) {
      // Its cell still talks.
      if (isOurs) this.#run?.cell.takeOutput('', {});
    } else if (caller) {
      const shown = toShown(messageType, content);
      if (shown) caller.onShown?.(shown);
      // What names no cell of ours, as what a process writes, is the latest one's.
    } else (this.#cells.get(parent) ?? this.#cells.latest)?.takeOutput(messageType, content);
  }

  #over(reason: string): void {
    if (this.#isEnded) return;
    const wasReady = this.#isReady;
    this.#settle.reject(new KernelError('kernel_start_failed', `Starting the kernel: ${reason}. Restart the kernel to try again`));
    void this.end();
    if (wasReady) this.#events.onDeath(reason);
  }

  #send(channel: string, messageType: string, id: string, content: object, more: object = {}, buffers: readonly Uint8Array[] = []): void {
    const part = Buffer.from(JSON.stringify(content));
    this.#helper.send({ type: 'send', channel, messageType, id, ...more }, [part, ...buffers]);
  }

  #newId(): string {
    return String(++this.#lastId);
  }
}

/** What is no JSON object says nothing. Some kernels print NaN, which no JSON has. */
function parseContent(part: Buffer | undefined, parse?: (text: string) => unknown): Content {
  try {
    const value = part && parseBounded(part.toString('utf8'), parse);
    if (typeof value === 'object' && value !== null) return value as Content;
  } catch (error) {
    return { name: 'stderr', text: `[A message of the kernel could not be read: ${error instanceof Error ? error.message : error}]\n` };
  }
  return {};
}
