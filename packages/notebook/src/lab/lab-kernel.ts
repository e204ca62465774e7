import { randomUUID } from 'node:crypto';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { PendingExecution } from '../kernel/execution-queue.js';
import { type AskKernel, completeCode, evaluateCode, inspectCode } from '../kernel/jupyter-protocol/code-help.js';
import type { ExecuteFuture } from '../kernel/jupyter-protocol/execute-future.js';
import { KernelClient } from '../kernel/jupyter-protocol/kernel-client.js';
import type { CommMessage, KernelComms } from '../kernel/jupyter-protocol/kernel-comms.js';
import { type KernelMessage, readLanguage, tellsOfCells } from '../kernel/jupyter-protocol/kernel-message.js';
import type { Completions, ExecuteOptions, Execution, Kernel, KernelInfo, KernelState } from '../kernel/kernel.js';
import { NotebookError } from '../model/errors.js';
import type { MimeBundle } from '../model/output.js';
import type { JupyterServer } from './jupyter-server.js';
import { KernelChannel } from './kernel-channel.js';
import { kernelEnds } from './kernel-ends.js';
import { enterKernelSession, isBusy, type KernelSession, type KernelSpec, postToKernel, readKernelSession } from './kernel-sessions.js';
import { pause } from './pause.js';
import type { SentCell } from './run-keeper.js';

export interface LabKernelOptions {
  server: JupyterServer;
  /** The notebook's, as it is now: it may have been renamed. */
  path: () => string;
  /** The kernel that the server would start for the notebook. */
  spec: KernelSpec;
  /** Parses JSON. Default: that of JavaScript, which rounds long numbers. */
  parse?: ((text: string) => unknown) | undefined;
  /** Each time a cell is sent, and when it has begun. */
  onSent?: ((cell: SentCell) => void) | undefined;
}

/** How long a kernel may take to answer for the first time. Milliseconds, as all below. */
const startTimeoutMs = 120_000;
const meetTimeoutMs = 3000;
const watchMs = 10_000;
/** Waits between attempts to reach a kernel again whose socket was lost; after them it counts as dead. */
const reconnectDelaysMs = [100, 300, 1000, 2000, 4000, 8000, 15_000];

/** The kernel of the notebook's own session on a Jupyter server: the one that runs the cells of people in JupyterLab, too. */
export class LabKernel implements Kernel {
  /** JupyterLab draws the widgets, and moves there what is shown within them: code's messages are read, and nothing is sent. */
  readonly comms: KernelComms = {
    isSupported: true,
    send: async () => {},
    onMessage: (listener) => this.#comms.add(listener),
    onShown: () => () => {},
  };
  readonly #options: LabKernelOptions;
  readonly #states = new Listeners<KernelState>();
  readonly #comms = new Listeners<CommMessage>();
  readonly #client: KernelClient;
  /** For help with code: nothing is asked while a cell of ours runs. */
  readonly #ask: AskKernel = async (...asked) => (this.#running ? undefined : this.#client.request(...asked));
  /** The same for each socket to one kernel: what it sent while there was none comes with the next one. */
  #clientId = { kernelId: '', id: '' };
  #state: KernelState = 'starting';
  #info: KernelInfo;
  #session: KernelSession | undefined;
  #ownSessionId: string | undefined;
  #channel: KernelChannel | undefined;
  #attaching: Promise<void> | undefined;
  /** The cell of ours that the kernel was sent last. */
  #sent: ExecuteFuture | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #isRestarting = false;
  /** It has answered since it was started. */
  #isReady = false;
  readonly #closed = new AbortController();

  constructor(options: LabKernelOptions) {
    this.#options = options;
    this.#info = { ...options.spec, version: '' };
    this.#client = new KernelClient({
      send: (request) => (this.#channel?.isOpen ? this.#channel.send(request) : undefined),
      isShared: true,
      onComm: (message) => this.#comms.emit(message),
    });
  }

  get state(): KernelState {
    return this.#state;
  }

  get info(): KernelInfo {
    return this.#info;
  }

  /** The session that the server made for us; undefined where the notebook had one. */
  get ownSessionId(): string | undefined {
    return this.#ownSessionId;
  }

  onState(listener: (state: KernelState) => void): () => void {
    return this.#states.add(listener);
  }

  start(): Promise<void> {
    return this.#attached();
  }

  execute(source: string, options: ExecuteOptions): Promise<Execution> {
    const future = this.#createFuture(source, options);
    this.#turn = this.#turn.then(() => this.#run(future)).catch((error: unknown) => future.fail(error));
    return future.execution.ended;
  }

  /** Hears the rest of a cell that an earlier process has sent. Before anything else is asked of this kernel. */
  follow(sent: SentCell, options: ExecuteOptions): Promise<Execution> {
    const future = this.#createFuture(sent.source, options);
    future.hasBegun = sent.hasBegun;
    this.#clientId = { kernelId: sent.kernelId, id: sent.clientId };
    this.#client.follow(sent.messageId, future);
    void this.#watch(future);
    this.#setState('busy');
    const { ended } = future.execution;
    this.#turn = this.#attached()
      .then((): unknown => (this.#session?.kernelId === sent.kernelId ? ended : future.fail(kernelEnds.exchanged())))
      .catch((error: unknown) => future.fail(error));
    return ended;
  }

  async interrupt(): Promise<void> {
    await (this.#running ? this.#running.interrupt() : this.#post('interrupt'));
  }

  complete(code: string, position: number): Promise<Completions> {
    return completeCode(this.#ask, code, position);
  }

  inspect(code: string, position: number, detail: 0 | 1 = 0): Promise<MimeBundle | undefined> {
    return inspectCode(this.#ask, code, position, detail);
  }

  async evaluate(expression: string): Promise<string | undefined> {
    return this.#state === 'idle' ? evaluateCode(this.#ask, expression) : undefined;
  }

  /** Also where the kernel has died, or its session was ended: then the server starts another one. */
  async restart(): Promise<void> {
    this.#isRestarting = true;
    try {
      this.#running?.end('interrupted');
      this.#setState('starting');
      const session = this.#session && (await readKernelSession(this.#options.server, this.#session.id));
      if (session) {
        this.#session = session;
        await this.#post('restart');
        // The messages that the server kept of its earlier life are nobody's.
        this.#clientId = { kernelId: '', id: '' };
      }
      void this.#drop();
      await this.#attached();
    } finally {
      this.#isRestarting = false;
    }
  }

  /** The kernel stays: it is of the notebook, which people may have open. */
  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.#running?.fail(kernelEnds.closed());
    await this.#drop();
    this.#setState('dead');
  }

  get #running(): ExecuteFuture | undefined {
    return this.#sent?.ended.aborted ? undefined : this.#sent;
  }

  #createFuture(source: string, options: ExecuteOptions): ExecuteFuture {
    const execution = new PendingExecution(source, options, () => void future.interrupt().catch(() => {}));
    const future = this.#client.createFuture(execution, {
      interrupt: () => this.#post('interrupt'),
      onProgress: () => this.#tell(future),
      onEnd: (status) => execution.end(status),
    });
    if (options.signal?.aborted) future.isInterrupted = true;
    return future;
  }

  async #run(future: ExecuteFuture): Promise<void> {
    if (future.isInterrupted) return future.end('interrupted');
    await this.#attached();
    void this.#watch(future);
    this.#client.execute(future);
    await future.execution.ended;
  }

  #tell({ id: messageId, hasBegun, execution: { source } }: ExecuteFuture): void {
    const { kernelId, id: clientId } = this.#clientId;
    this.#options.onSent?.({ kernelId, clientId, messageId, source, hasBegun });
  }

  /** Ends it where nothing runs in the kernel, twice in a row, while we wait: one that was killed and started again says nothing. */
  async #watch(future: ExecuteFuture): Promise<void> {
    this.#sent = future;
    for (let idleTimes = 0; idleTimes < 2; ) {
      await pause(watchMs, future.ended);
      if (future.ended.aborted) return;
      idleTimes = (await this.#isBusy().catch(() => undefined)) === false ? idleTimes + 1 : 0;
    }
    future.fail(kernelEnds.restarted());
  }

  async #post(action: 'interrupt' | 'restart'): Promise<void> {
    if (this.#session) await postToKernel(this.#options.server, this.#session.kernelId, action);
  }

  /** Resolves when the kernel can be used. Rejects with what keeps it from that. */
  async #attached(): Promise<void> {
    if (this.#closed.signal.aborted) throw new NotebookError('closed', 'The notebook was closed.');
    if (this.#channel?.isOpen && this.#state !== 'dead' && this.#isReady) return;
    this.#attaching ??= this.#attach().finally(() => {
      this.#attaching = undefined;
    });
    return this.#attaching;
  }

  async #attach(): Promise<void> {
    const { server, path, spec, parse } = this.#options;
    // Restarted under its socket, by a person or because it died.
    if (this.#channel?.isOpen && this.#state !== 'dead') return this.#meet();
    const { session, isNew } = await enterKernelSession(server, { known: this.#session, path: path(), kernelName: spec.name });
    if (isNew) this.#ownSessionId = session.id;
    if (session.kernelId !== this.#clientId.kernelId) this.#clientId = { kernelId: session.kernelId, id: randomUUID() };
    this.#session = session;
    const onMessage = (message: KernelMessage) => this.#receive(message);
    const channel = await KernelChannel.open(server, session.kernelId, { session: this.#clientId.id, parse, onMessage });
    this.#channel = channel;
    void channel.closed.then(() => this.#onClosed(channel));
    const running = this.#running;
    // One that runs another's cell answers when that has ended, which may be tomorrow.
    if (!running) this.#isReady = (await this.#isBusy()) === true;
    if (!running && !this.#isReady) return this.#meet();
    if (!running) this.#setState('busy');
    // The answer comes behind the end of the cell: one of ours that has not ended by then has ended while nobody listened.
    void this.#askInfo().then((isAnswered) => isAnswered && running?.fail(kernelEnds.unseen()));
  }

  /** Asked until it answers: what is sent to a kernel that is just starting may be lost, and a cell that is lost would never end. */
  async #meet(): Promise<void> {
    const deadline = Date.now() + startTimeoutMs;
    for (;;) {
      const isAnswered = await this.#askInfo(meetTimeoutMs);
      // One that runs another's cell hears us, and answers when that has ended.
      this.#isReady = isAnswered || this.#state === 'busy';
      if (this.#isReady) return this.#state === 'busy' ? undefined : this.#setState('idle');
      if (Date.now() > deadline || !this.#channel?.isOpen)
        throw new NotebookError('kernel_failed', `The kernel of "${this.#options.path()}" does not answer. Restart it.`);
    }
  }

  /** Asks the kernel for its language and version. False where it does not answer in time; it has any time by default. */
  async #askInfo(timeoutMs?: number): Promise<boolean> {
    const answer = await this.#client.request('kernel_info_request', {}, timeoutMs, { behindOutput: true });
    if (!answer) return false;
    const { spec } = this.#options;
    // People choose another one in Lab.
    const name = this.#session?.kernelName ?? this.#info.name;
    const displayName = name === spec.name ? spec.displayName : name;
    this.#info = { name, displayName, ...readLanguage(answer, this.#info.language) };
    return true;
  }

  #receive(message: KernelMessage): void {
    const { channel, type, parentId, content } = message;
    if (type === 'status' && tellsOfCells(message, this.#clientId.id)) this.#takeStatus(String(content.execution_state), parentId);
    if (type === 'shutdown_reply' && channel === 'iopub' && !this.#isRestarting) this.#takeEnd(content.restart === true);
    this.#client.receive(message);
  }

  #takeStatus(state: string, parentId: string): void {
    if (state === 'busy' || state === 'idle') {
      if (this.#state !== 'dead' || parentId !== '') this.#setState(state);
      return;
    }
    this.#isReady = false;
    const isDead = state === 'dead';
    if (isDead) this.#setState('dead');
    if (this.#isRestarting || !(isDead || state === 'restarting' || state === 'starting')) return;
    this.#running?.fail(isDead ? kernelEnds.notRestarted() : kernelEnds.restarted());
    if (!isDead) this.#setState('idle');
  }

  /** It says so when it is asked to end. Its session tells whether another one takes its place; the server does not close the socket. */
  #takeEnd(isRestart: boolean): void {
    this.#isReady = false;
    if (isRestart) return this.#running?.fail(kernelEnds.restarted());
    void this.#drop();
    void this.#reconnect();
  }

  async #isBusy(): Promise<boolean | undefined> {
    return this.#channel?.isOpen && this.#session ? isBusy(this.#options.server, this.#session.kernelId) : undefined;
  }

  #onClosed(channel: KernelChannel): void {
    if (channel !== this.#channel) return;
    this.#channel = undefined;
    this.#client.endRequests();
    if (!this.#closed.signal.aborted && !this.#isRestarting) void this.#reconnect();
  }

  /** A socket that is lost costs nothing, as long as its kernel is there: what it said meanwhile comes with the next one. */
  async #reconnect(): Promise<void> {
    const before = this.#session?.kernelId;
    for (const delayMs of reconnectDelaysMs) {
      await pause(delayMs, this.#closed.signal);
      if (this.#closed.signal.aborted || this.#isRestarting || this.#channel) return;
      if (await this.#triesAgain(before)) return;
    }
    this.#giveUp(kernelEnds.unreachable());
  }

  /** True: it is there again, or has gone for good. */
  async #triesAgain(before: string | undefined): Promise<boolean> {
    try {
      const session = this.#session && (await readKernelSession(this.#options.server, this.#session.id));
      if (!session) return this.#giveUp(kernelEnds.shutDown());
      if (session.kernelId !== before) this.#running?.fail(kernelEnds.exchanged());
      await this.#attached();
      return true;
    } catch (error) {
      const isRefused = error instanceof NotebookError && error.code === 'server_refused';
      return isRefused && this.#giveUp(kernelEnds.refused(messageOf(error)));
    }
  }

  #giveUp(end: NotebookError): true {
    this.#setState('dead');
    this.#running?.fail(end);
    return true;
  }

  async #drop(): Promise<void> {
    const channel = this.#channel;
    this.#channel = undefined;
    channel?.close();
    this.#client.endRequests();
    await channel?.closed;
  }

  #setState(state: KernelState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#states.emit(state);
  }
}
