/** The life of one helper and its kernel: launched, ready, ended. A restart is a new one. */
import { parseJson } from '@notebridge/protocol/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { parseBounded } from '../bounded-json.js';
import { type ChildProgram, inPortions, openProgram } from '../child-program.js';
import type { PendingExecution } from '../execution-queue.js';
import type { ExecuteFuture } from '../jupyter-protocol/execute-future.js';
import { KernelClient, type KernelClientOptions } from '../jupyter-protocol/kernel-client.js';
import { type KernelRequest, readLanguage } from '../jupyter-protocol/kernel-message.js';
import type { KernelTools } from '../kernel-tools.js';
import { parseReport } from '../messages.js';
import type { Engine, EngineEvents } from '../queued-kernel.js';
import { openToolCalls, type ToolCalls } from '../tool-calls.js';
import { within } from '../within.js';
import { type Frame, readFrames, toFrameBytes } from './jupyter-frames.js';
import { type LaunchedHelper, type LaunchOptions, launchHelper } from './jupyter-process.js';

export interface JupyterEngineOptions extends LaunchOptions, Pick<KernelClientOptions, 'onComm' | 'onShown'> {
  tools?: KernelTools | undefined;
}

/** Their contents go into the file as they are; what widgets send is calculated with. */
const showsData: ReadonlySet<string> = new Set(['display_data', 'update_display_data', 'execute_result']);

/** `input()` of Python takes it for the end of its input. */
const endOfFile = '\x04';

/** The kernel that is asked gets a second of it to end by itself; see helper.py. */
const endTimeoutMs = 4000;
const killTimeoutMs = 2000;

export class JupyterEngine implements Engine {
  readonly client: KernelClient;
  readonly #events: EngineEvents;
  readonly #helper: ChildProgram<LaunchedHelper>;
  readonly #helperGone: Promise<void>;
  readonly #acknowledge = inPortions((count) => this.#write({ type: 'acknowledge', count }));
  readonly #calls: ToolCalls | undefined;
  #started: { pid: number; folder: string } | undefined;
  #language = '';
  #running: ExecuteFuture | undefined;
  #lastId = 0;
  #isReady = false;
  #isEnded = false;

  constructor(options: JupyterEngineOptions, events: EngineEvents) {
    this.#events = events;
    const { kernelName, tools } = options;
    this.client = new KernelClient({ ...options, isShared: false, send: (request) => this.#send(request) });
    this.#helper = openProgram({
      launch: () => launchHelper(options),
      read: readFrames,
      onMessage: (frame: Frame) => this.#take(frame),
      onExit: events.onOver,
      reasons: {
        noStart: (fault) => `"${options.python}" cannot be run (${fault}). Choose another Python, or make its environment anew`,
        breach: (bound) => `it was ended: ${bound}. Restart the kernel`,
        end: (code, signal, said) => `the program between Notebridge and the kernel ended with ${signal ?? `code ${code}`}${said}`,
      },
    });
    this.#helperGone = this.#helper.exited.then(() => this.#cleanUp()).catch(() => {});
    this.#write({ type: 'start', kernelName, tools: tools !== undefined });
    if (tools) {
      const askerOf = (cell: string) => (cell === this.#running?.id ? this.#running.execution.asker : undefined);
      this.#calls = openToolCalls({ tools, send: (command) => this.#write(command), askerOf });
    }
  }

  run(execution: PendingExecution): void {
    const future = this.client.createFuture(execution, {
      interrupt: async () => this.#write({ type: 'interrupt', id: future.id }),
      refusal: this.#language === 'python' ? endOfFile : undefined,
      onEnd: (status, isLast) => {
        this.#running = undefined;
        this.#events.onEnd(execution, status);
        if (isLast) this.#events.onOver('the code has ended it by exit()');
      },
    });
    this.#running = future;
    this.client.execute(future);
  }

  interrupt(): void {
    void this.#running?.interrupt();
  }

  /** While no cell runs: ends what a message of a comm has called. */
  interruptComms(): void {
    // The helper interrupts the cell of this id, and knows that there is none.
    if (this.client.hasComms) this.#write({ type: 'interrupt', id: null });
  }

  async end(now = false): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#running?.drop();
      this.#calls?.close();
      this.client.endRequests();
    }
    await this.#endHelper(now);
  }

  /** Ends it and the kernel, whatever they do. Harmless when they have ended. */
  async #endHelper(now: boolean): Promise<void> {
    const { launched } = this.#helper;
    // Its end of file is what ends it also when we are killed.
    if (launched) launched.child.stdin.end(toFrameBytes({ type: 'shutdown', now }));
    else this.#helper.kill();
    const gone = this.#helperGone.then(() => true);
    if (await within(endTimeoutMs, gone)) return;
    this.#helper.kill();
    await within(killTimeoutMs, gone);
  }

  async #cleanUp(): Promise<void> {
    const { launched } = this.#helper;
    if (this.#started) launched?.cleanUp(this.#started);
    await launched?.gone;
  }

  #write(header: object, parts?: readonly Uint8Array[]): void {
    this.#helper.write(toFrameBytes(header, parts));
  }

  #take({ header, parts }: Frame): void {
    if (header.type === 'started') this.#started = { pid: Number(header.pid), folder: String(header.folder) };
    if (this.#isEnded) return;
    switch (header.type) {
      case 'ready':
        return this.#becomeReady(header, parseContent(parts[0]));
      case 'dead':
        return this.#events.onOver(String(header.reason));
      case 'message':
        return this.#receive(header, parts);
      default: {
        const report = parseReport(header);
        if (report?.type === 'toolCall' || report?.type === 'toolCancel' || report?.type === 'toolHeard') this.#calls?.take(report);
      }
    }
  }

  #becomeReady({ name, displayName, language }: Frame['header'], info: JsonObject): void {
    const spoken = readLanguage(info, String(language));
    this.#language = spoken.language;
    this.#isReady = true;
    this.#events.onReady({ name: String(name), displayName: String(displayName), ...spoken }, this.#helper.launched?.layers);
  }

  #receive({ channel, messageType, parent, size, header }: Frame['header'], [content, metadata, ...buffers]: readonly Buffer[]): void {
    const type = String(messageType);
    this.client.receive({
      channel: String(channel),
      type,
      header: parseContent(header),
      parentId: String(parent),
      parentHeader: {},
      content: parseContent(content, showsData.has(type) ? parseJson : undefined),
      metadata: parseContent(metadata),
      buffers,
    });
    if (channel === 'iopub') this.#acknowledge(Number(size));
  }

  #send({ content, buffers = [], type, parentHeader, ...request }: KernelRequest): string | undefined {
    if (!this.#isReady || this.#isEnded) return undefined;
    // Letters and digits alone: the package of tools names the cell by it in a header.
    const id = String(++this.#lastId);
    // The helper passes it on as it is.
    const answered = parentHeader && { parentHeader: JSON.stringify(parentHeader) };
    this.#write({ type: 'send', ...request, messageType: type, id, ...answered }, [Buffer.from(JSON.stringify(content)), ...buffers]);
    return id;
  }
}

/** A value that is no JSON object says nothing. Some kernels print NaN, which no JSON has. */
function parseContent(json: unknown, parse?: (text: string) => unknown): JsonObject {
  try {
    const value = json === undefined ? undefined : parseBounded(String(json), parse);
    return isJsonObject(value) ? value : {};
  } catch (error) {
    return { name: 'stderr', text: `[A message of the kernel could not be read: ${error instanceof Error ? error.message : error}]\n` };
  }
}
