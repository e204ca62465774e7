import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { Listeners } from '@notebridge/kit/listeners';
import { messageOf } from '@notebridge/kit/message-of';
import type { Completions, ExecuteOptions, Execution, Kernel, KernelInfo, KernelState, MimeBundle } from '../kernel/kernel.js';
import { NotebookError } from '../model/errors.js';
import { toCodePoints, toUtf16 } from './code-positions.js';
import type { JupyterServer } from './jupyter-server.js';
import { KernelChannel } from './kernel-channel.js';
import { kernelEnds } from './kernel-ends.js';
import { learnInfo } from './kernel-info.js';
import type { KernelMessage } from './kernel-message.js';
import { KernelRequests } from './kernel-requests.js';
import { createKernelSession, findKernelSession, type KernelSession, type KernelSpec, readKernelSession } from './kernel-sessions.js';
import { answerTimeoutMs, endlessMs, meetTimeoutMs, reconnectDelaysMs, startTimeoutMs } from './kernel-waits.js';
import { pause } from './pause.js';
import { RemoteExecution } from './remote-execution.js';
import { watchExecution } from './watch-execution.js';

export interface LabKernelOptions {
  server: JupyterServer;
  /** Of the notebook, as it is now: it may have been renamed. */
  path: () => string;
  /** What the server would start for the notebook. */
  spec: KernelSpec;
}

/** The kernel of the notebook's own session on a Jupyter server: the one that runs the cells of people in JupyterLab, too. */
export class LabKernel implements Kernel {
  readonly #options: LabKernelOptions;
  readonly #states = new Listeners<KernelState>();
  /** The same for each socket to one kernel: what it sent while there was none comes with the next one. */
  #clientId = randomUUID();
  #state: KernelState = 'starting';
  #info: KernelInfo;
  #session: KernelSession | undefined;
  #ownSessionId: string | undefined;
  #channel: KernelChannel | undefined;
  #attaching: Promise<void> | undefined;
  #running: { id: string; execution: RemoteExecution } | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  readonly #requests = new KernelRequests();
  #isRestarting = false;
  /** It has answered since it was started. */
  #isReady = false;
  readonly #closed = new AbortController();

  constructor(options: LabKernelOptions) {
    this.#options = options;
    this.#info = { ...options.spec, version: '' };
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

  async interrupt(): Promise<void> {
    const { execution } = this.#running ?? {};
    if (execution) await this.#stop(execution);
    else await this.#post('interrupt');
  }

  async complete(code: string, position: number): Promise<Completions> {
    const nothing = { matches: [], start: position, end: position };
    const content = await this.#ask('complete_request', { code, cursor_pos: toCodePoints(code, position) });
    if (content?.status !== 'ok' || !Array.isArray(content.matches)) return nothing;
    const { matches, cursor_start: start, cursor_end: end } = content;
    return { matches: matches.map(String), start: toUtf16(code, Number(start)), end: toUtf16(code, Number(end)) };
  }

  async inspect(code: string, position: number, detail: 0 | 1 = 0): Promise<MimeBundle | undefined> {
    const content = await this.#ask('inspect_request', { code, cursor_pos: toCodePoints(code, position), detail_level: detail });
    return content?.found === true && isJsonObject(content.data) ? content.data : undefined;
  }

  /** Also where the kernel has died, or its session was ended: then the server starts another one. */
  async restart(): Promise<void> {
    this.#isRestarting = true;
    try {
      this.#endRunning((execution) => execution.end('interrupted'));
      this.#setState('starting');
      const session = this.#session && (await readKernelSession(this.#options.server, this.#session.id));
      if (session) {
        this.#session = session;
        await this.#post('restart');
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
    this.#endRunning((execution) => execution.fail(kernelEnds.closed()));
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
    const content = {
      code: execution.source,
      silent: false,
      store_history: true,
      user_expressions: {},
      allow_stdin: execution.hasInput,
      // Others' cells that wait in the kernel are not ours to drop.
      stop_on_error: false,
    };
    const id = this.#channel?.send({ channel: 'shell', type: 'execute_request', content }) ?? '';
    this.#running = { id, execution };
    const forget = () => {
      if (this.#running?.execution === execution) this.#running = undefined;
    };
    execution.ended.then(forget, forget);
    const lose = () => execution.fail(kernelEnds.restarted());
    void watchExecution(execution, () => this.#isBusy(), lose);
  }

  async #stop(execution: RemoteExecution): Promise<void> {
    execution.isAbandoned = true;
    // Its code stays in the kernel's queue, behind another's cell, and is interrupted when it begins.
    if (!execution.hasBegun) return;
    execution.isInterrupted = true;
    await this.#post('interrupt');
  }

  async #post(action: 'interrupt' | 'restart'): Promise<void> {
    if (!this.#session) return;
    await this.#options.server.request(`api/kernels/${encodeURIComponent(this.#session.kernelId)}/${action}`, { method: 'POST', body: {} });
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
    const known = this.#session && (await readKernelSession(server, this.#session.id));
    const found = known ?? (await findKernelSession(server, path()));
    const session = found ?? (await createKernelSession(server, path(), spec.name === '' ? undefined : spec.name));
    if (!found) this.#ownSessionId = session.id;
    if (session.kernelId !== this.#session?.kernelId) this.#clientId = randomUUID();
    this.#session = session;
    const channel = await KernelChannel.open(server, session.kernelId, this.#clientId);
    this.#channel = channel;
    channel.onMessage((message) => this.#take(message));
    void channel.closed.then(() => this.#onClosed(channel));
    if (this.#running) return this.#awaitLost();
    // One that runs another's cell answers when that has ended, which may be tomorrow.
    const isBusy = (await this.#isBusy()) === true;
    this.#isReady = isBusy;
    if (isBusy) return this.#setState('busy');
    await this.#meet();
  }

  /** Asked until it answers: what is sent to a kernel that is just starting may be lost, and a cell that is lost would never end. */
  async #meet(): Promise<void> {
    const deadline = Date.now() + startTimeoutMs;
    for (;;) {
      const answer = await this.#ask('kernel_info_request', {}, meetTimeoutMs);
      if (answer) this.#info = learnInfo(this.#info, { answer, spec: this.#options.spec, kernelName: this.#session?.kernelName });
      // One that runs another's cell hears us, and answers when that has ended.
      this.#isReady = answer !== undefined || this.#state === 'busy';
      if (this.#isReady) return this.#state === 'busy' ? undefined : this.#setState('idle');
      if (Date.now() > deadline || !this.#channel?.isOpen)
        throw new NotebookError('kernel_failed', `The kernel of "${this.#options.path()}" does not answer. Restart it.`);
    }
  }

  /** The kernel's answer comes behind the end of the cell: one that has not ended by then has ended while nobody listened. */
  #awaitLost(): void {
    const { execution } = this.#running ?? {};
    void this.#ask('kernel_info_request', {}, endlessMs).then((answer) => {
      if (answer) execution?.fail(kernelEnds.unseen());
    });
  }

  #take(message: KernelMessage): void {
    const { channel, type, parentId, content } = message;
    if (type === 'status') this.#takeStatus(String(content.execution_state), parentId);
    if (type === 'shutdown_reply' && channel === 'iopub' && !this.#isRestarting) this.#takeEnd(content.restart === true);
    if (this.#requests.take(message)) return;
    const { id, execution } = this.#running ?? {};
    if (!execution || parentId !== id) return;
    if (channel === 'stdin' && type === 'input_request') return void this.#answerInput(execution, content);
    if (execution.take(message) === 'aborted') return this.#send(execution);
    if (execution.isAbandoned && execution.hasBegun && !execution.isInterrupted) void this.#stop(execution).catch(() => {});
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
      this.#endRunning((execution) => execution.fail(state === 'dead' ? kernelEnds.notRestarted() : kernelEnds.restarted()));
    if (isOther && !this.#isRestarting) this.#setState('idle');
  }

  /** It says so when it is asked to end. Its session tells whether another one takes its place; the server does not close the socket. */
  #takeEnd(isRestart: boolean): void {
    this.#isReady = false;
    if (isRestart) return this.#endRunning((execution) => execution.fail(kernelEnds.restarted()));
    this.#drop();
    void this.#reconnect();
  }

  async #isBusy(): Promise<boolean | undefined> {
    if (!this.#channel?.isOpen || !this.#session) return undefined;
    const model = await this.#options.server.request(`api/kernels/${encodeURIComponent(this.#session.kernelId)}`);
    return isJsonObject(model) ? model.execution_state === 'busy' : undefined;
  }

  async #answerInput(execution: RemoteExecution, question: JsonObject): Promise<void> {
    const answer = await execution.answer(question);
    if (answer === 'ended') return;
    if (answer === undefined) await this.#stop(execution).catch(() => {});
    else this.#channel?.send({ channel: 'stdin', type: 'input_reply', content: { status: 'ok', value: answer.value } });
  }

  /** The answer to a request; undefined where none comes in time, or while a cell of ours runs. */
  async #ask(type: string, content: JsonObject, timeoutMs = answerTimeoutMs): Promise<JsonObject | undefined> {
    const channel = this.#channel;
    if (!channel?.isOpen || (this.#running && timeoutMs === answerTimeoutMs)) return undefined;
    return this.#requests.ask(channel, { type, content, timeoutMs });
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
      if (!session) {
        this.#giveUp(kernelEnds.shutDown());
        return 'done';
      }
      if (session.kernelId !== before) {
        this.#endRunning((execution) => execution.fail(kernelEnds.exchanged()));
      }
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
    this.#endRunning((execution) => execution.fail(end));
    return 'done';
  }

  #endRunning(end: (execution: RemoteExecution) => void): void {
    const { execution } = this.#running ?? {};
    this.#running = undefined;
    if (execution) end(execution);
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
