import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@notebridge/kit/json';
import { Listeners } from '@notebridge/kit/listeners';
import { messageOf } from '@notebridge/kit/message-of';
import { toCodePoints, toCompletions, toEvaluated, toEvaluation, toInspection } from '../kernel/jupyter/code-help.js';
import type { Completions, ExecuteOptions, Execution, Kernel, KernelInfo, KernelState } from '../kernel/kernel.js';
import { NotebookError } from '../model/errors.js';
import type { MimeBundle } from '../model/output.js';
import type { JupyterServer } from './jupyter-server.js';
import { KernelChannel } from './kernel-channel.js';
import { kernelEnds } from './kernel-ends.js';
import { learnInfo } from './kernel-info.js';
import { type KernelMessage, tellsOfCells } from './kernel-message.js';
import { KernelRequests } from './kernel-requests.js';
import { enterKernelSession, isBusy, type KernelSession, type KernelSpec, postToKernel, readKernelSession } from './kernel-sessions.js';
import { answerTimeoutMs, endlessMs, meetTimeoutMs, reconnectDelaysMs, startTimeoutMs } from './kernel-waits.js';
import { ObservedComms } from './observed-comms.js';
import { pause } from './pause.js';
import { RemoteExecution } from './remote-execution.js';
import { RunningCell } from './running-cell.js';
import type { SentCell } from './sent-cell.js';

export interface LabKernelOptions {
  server: JupyterServer;
  /** Of the notebook, as it is now: it may have been renamed. */
  path: () => string;
  /** What the server would start for the notebook. */
  spec: KernelSpec;
  /** Of JSON. Default: that of JavaScript, which rounds long numbers. */
  parse?: ((text: string) => unknown) | undefined;
  /** Each time a cell is sent, and when it has begun. */
  onSent?: ((cell: SentCell) => void) | undefined;
}

/** The kernel of the notebook's own session on a Jupyter server: the one that runs the cells of people in JupyterLab, too. */
export class LabKernel implements Kernel {
  readonly comms = new ObservedComms();
  readonly #options: LabKernelOptions;
  readonly #states = new Listeners<KernelState>();
  /** The same for each socket to one kernel: what it sent while there was none comes with the next one. */
  #client = { kernelId: '', id: '' };
  #state: KernelState = 'starting';
  #info: KernelInfo;
  #session: KernelSession | undefined;
  #ownSessionId: string | undefined;
  #channel: KernelChannel | undefined;
  #attaching: Promise<void> | undefined;
  readonly #running: RunningCell;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #requests = new KernelRequests();
  #isRestarting = false;
  /** It has answered since it was started. */
  #isReady = false;
  readonly #closed = new AbortController();

  constructor(options: LabKernelOptions) {
    this.#options = options;
    this.#info = { ...options.spec, version: '' };
    this.#running = new RunningCell({ isBusy: () => this.#isBusy(), onLost: (execution) => execution.fail(kernelEnds.restarted()) });
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

  async execute(source: string, options: ExecuteOptions): Promise<Execution> {
    const execution = new RemoteExecution(source, options);
    const abort = () => void this.#stop(execution).catch(() => {});
    options.signal?.addEventListener('abort', abort, { once: true });
    const turn = this.#turn.then(() => this.#run(execution));
    this.#turn = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      options.signal?.removeEventListener('abort', abort);
    }
  }

  /** Hears the rest of a cell that an earlier process has sent. Before anything else is asked of this kernel. */
  follow(sent: SentCell, options: ExecuteOptions): Promise<Execution> {
    const execution = new RemoteExecution(sent.source, options);
    execution.hasBegun = sent.hasBegun;
    this.#client = { kernelId: sent.kernelId, id: sent.clientId };
    this.#running.set(sent, execution);
    this.#setState('busy');
    const turn = this.#attached().then(
      () => this.#session?.kernelId !== sent.kernelId && execution.fail(kernelEnds.exchanged()),
      (error: unknown) => execution.fail(error),
    );
    this.#turn = turn.then(() => execution.ended).catch(() => {});
    return execution.ended;
  }

  async interrupt(): Promise<void> {
    const { execution } = this.#running;
    if (execution) await this.#stop(execution);
    else await this.#post('interrupt');
  }

  async complete(code: string, position: number): Promise<Completions> {
    return toCompletions(code, position, await this.#ask('complete_request', { code, cursor_pos: toCodePoints(code, position) }));
  }

  async inspect(code: string, position: number, detail: 0 | 1 = 0): Promise<MimeBundle | undefined> {
    return toInspection(await this.#ask('inspect_request', { code, cursor_pos: toCodePoints(code, position), detail_level: detail }));
  }

  async evaluate(expression: string): Promise<string | undefined> {
    return this.#state === 'idle' ? toEvaluated(await this.#ask('execute_request', toEvaluation(expression))) : undefined;
  }

  /** Also where the kernel has died, or its session was ended: then the server starts another one. */
  async restart(): Promise<void> {
    this.#isRestarting = true;
    try {
      this.#running.end((execution) => execution.end('interrupted'));
      this.#setState('starting');
      const session = this.#session && (await readKernelSession(this.#options.server, this.#session.id));
      if (session) {
        this.#session = session;
        await this.#post('restart');
        // What the server kept of its earlier life is nobody's.
        this.#client = { kernelId: '', id: '' };
      }
      this.#drop();
      await this.#attached();
    } finally {
      this.#isRestarting = false;
    }
  }

  /** The kernel stays: it is of the notebook, which people may have open. */
  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.#running.end((execution) => execution.fail(kernelEnds.closed()));
    const channel = this.#channel;
    this.#drop();
    await channel?.closed;
    this.#setState('dead');
  }

  async #run(execution: RemoteExecution): Promise<Execution> {
    if (execution.isAbandoned) return { status: 'interrupted', executionCount: 0 };
    await this.#attached();
    this.#send(execution);
    return execution.ended;
  }

  #send(execution: RemoteExecution): void {
    const messageId = this.#channel?.send({ channel: 'shell', type: 'execute_request', content: execution.toRequest() }) ?? '';
    this.#running.set({ messageId }, execution);
    this.#tell(messageId, execution);
  }

  async #stop(execution: RemoteExecution): Promise<void> {
    execution.isAbandoned = true;
    // Its code stays in the kernel's queue, behind another's cell, and is interrupted when it begins.
    if (!execution.hasBegun) return;
    execution.isInterrupted = true;
    await this.#post('interrupt');
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
    const { server, path, spec } = this.#options;
    // Restarted under its socket, by a person or because it died.
    if (this.#channel?.isOpen && this.#state !== 'dead') return this.#meet();
    const { session, isNew } = await enterKernelSession(server, { known: this.#session, path: path(), kernelName: spec.name });
    if (isNew) this.#ownSessionId = session.id;
    if (session.kernelId !== this.#client.kernelId) this.#client = { kernelId: session.kernelId, id: randomUUID() };
    this.#session = session;
    const channel = await KernelChannel.open(server, session.kernelId, { session: this.#client.id, parse: this.#options.parse });
    this.#channel = channel;
    channel.onMessage((message) => this.#take(message));
    void channel.closed.then(() => this.#onClosed(channel));
    if (this.#running.execution) return this.#awaitLost(channel);
    // One that runs another's cell answers when that has ended, which may be tomorrow.
    const isBusy = (await this.#isBusy()) === true;
    this.#isReady = isBusy;
    if (!isBusy) return this.#meet();
    this.#setState('busy');
    void this.#requests.askInfo(channel, { timeoutMs: endlessMs, behindOutput: true }).then((answer) => answer && this.#learn(answer));
  }

  /** Asked until it answers: what is sent to a kernel that is just starting may be lost, and a cell that is lost would never end. */
  async #meet(): Promise<void> {
    const deadline = Date.now() + startTimeoutMs;
    for (;;) {
      const answer = await this.#requests.askInfo(this.#channel, { timeoutMs: meetTimeoutMs, behindOutput: true });
      if (answer) this.#learn(answer);
      // One that runs another's cell hears us, and answers when that has ended.
      this.#isReady = answer !== undefined || this.#state === 'busy';
      if (this.#isReady) return this.#state === 'busy' ? undefined : this.#setState('idle');
      if (Date.now() > deadline || !this.#channel?.isOpen)
        throw new NotebookError('kernel_failed', `The kernel of "${this.#options.path()}" does not answer. Restart it.`);
    }
  }

  /** The kernel's answer comes behind the end of the cell: one that has not ended by then has ended while nobody listened. */
  #awaitLost(channel: KernelChannel): void {
    const { execution } = this.#running;
    void this.#requests.askInfo(channel, { timeoutMs: endlessMs, behindOutput: true }).then((answer) => {
      if (answer) this.#learn(answer);
      if (answer) execution?.fail(kernelEnds.unseen());
    });
  }

  #learn(answer: JsonObject): void {
    this.#info = learnInfo(this.#info, { answer, spec: this.#options.spec, kernelName: this.#session?.kernelName });
  }

  #take(message: KernelMessage): void {
    const { channel, type, parentId, content } = message;
    this.comms.take(message);
    if (type === 'status' && tellsOfCells(message, this.#client.id)) this.#takeStatus(String(content.execution_state), parentId);
    if (type === 'shutdown_reply' && channel === 'iopub' && !this.#isRestarting) this.#takeEnd(content.restart === true);
    if (this.#requests.take(message)) return;
    const execution = this.#running.ofMessage(parentId);
    if (!execution || execution.hasEnded) return void execution?.take(message);
    if (channel === 'stdin' && type === 'input_request') return void this.#answerInput(execution, content);
    const { hasBegun } = execution;
    if (execution.take(message) === 'aborted') return this.#send(execution);
    if (execution.hasBegun !== hasBegun) this.#tell(parentId, execution);
    if (execution.isAbandoned && execution.hasBegun && !execution.isInterrupted) void this.#stop(execution).catch(() => {});
  }

  #tell(messageId: string, { source, hasBegun }: RemoteExecution): void {
    const { kernelId, id: clientId } = this.#client;
    this.#options.onSent?.({ kernelId, clientId, messageId, source, hasBegun });
  }

  #takeStatus(state: string, parentId: string): void {
    if (state === 'busy' || state === 'idle') {
      if (this.#state !== 'dead' || parentId !== '') this.#setState(state);
      return;
    }
    if (state === 'dead') this.#setState('dead');
    const isOther = state === 'restarting' || state === 'starting';
    this.#isReady = false;
    if ((isOther || state === 'dead') && !this.#isRestarting)
      this.#running.end((execution) => execution.fail(state === 'dead' ? kernelEnds.notRestarted() : kernelEnds.restarted()));
    if (isOther && !this.#isRestarting) this.#setState('idle');
  }

  /** It says so when it is asked to end. Its session tells whether another one takes its place; the server does not close the socket. */
  #takeEnd(isRestart: boolean): void {
    this.#isReady = false;
    if (isRestart) return this.#running.end((execution) => execution.fail(kernelEnds.restarted()));
    this.#drop();
    void this.#reconnect();
  }

  async #isBusy(): Promise<boolean | undefined> {
    return this.#channel?.isOpen && this.#session ? isBusy(this.#options.server, this.#session.kernelId) : undefined;
  }

  async #answerInput(execution: RemoteExecution, question: JsonObject): Promise<void> {
    const answer = await execution.answer(question);
    if (answer === 'ended') return;
    if (answer === undefined) await this.#stop(execution).catch(() => {});
    else this.#channel?.send({ channel: 'stdin', type: 'input_reply', content: { status: 'ok', value: answer.value } });
  }

  /** The answer to a request; undefined where none comes in time, or while a cell of ours runs. */
  async #ask(type: string, content: JsonObject): Promise<JsonObject | undefined> {
    return this.#running.execution ? undefined : this.#requests.ask(this.#channel, { type, content, timeoutMs: answerTimeoutMs });
  }

  #onClosed(channel: KernelChannel): void {
    if (channel !== this.#channel || this.#closed.signal.aborted || this.#isRestarting) return;
    this.#channel = undefined;
    void this.#reconnect();
  }

  /** A socket that is lost costs nothing, as long as its kernel is there: what it said meanwhile comes with the next one. */
  async #reconnect(): Promise<void> {
    const before = this.#session?.kernelId;
    for (const delayMs of reconnectDelaysMs) {
      await pause(delayMs, this.#closed.signal);
      if (this.#closed.signal.aborted || this.#isRestarting || this.#channel) return;
      const outcome = await this.#tryAgain(before);
      if (outcome === 'done') return;
    }
    this.#giveUp(kernelEnds.unreachable());
  }

  async #tryAgain(before: string | undefined): Promise<'done' | 'again'> {
    try {
      const session = this.#session && (await readKernelSession(this.#options.server, this.#session.id));
      if (!session) return this.#giveUp(kernelEnds.shutDown());
      if (session.kernelId !== before) this.#running.end((execution) => execution.fail(kernelEnds.exchanged()));
      await this.#attached();
      return 'done';
    } catch (error) {
      return error instanceof NotebookError && error.code === 'server_refused'
        ? this.#giveUp(kernelEnds.refused(messageOf(error)))
        : 'again';
    }
  }

  #giveUp(end: NotebookError): 'done' {
    this.#setState('dead');
    this.#running.end((execution) => execution.fail(end));
    return 'done';
  }

  #drop(): void {
    const channel = this.#channel;
    this.#channel = undefined;
    channel?.close();
  }

  #setState(state: KernelState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#states.emit(state);
  }
}
