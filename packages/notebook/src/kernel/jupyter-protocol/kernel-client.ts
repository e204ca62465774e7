import type { JsonObject } from '@notebridge/protocol/json';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import { maxRecentRuns, type PendingExecution } from '../execution-queue.js';
import { within } from '../within.js';
import { ExecuteFuture, type FutureOptions } from './execute-future.js';
import { type CommMessage, parseComm, type ShownByCode, type ShownListener, toCommRequest } from './kernel-comms.js';
import type { KernelMessage, KernelRequest } from './kernel-message.js';
import { toShown } from './shown-by-code.js';

export interface KernelClientOptions {
  /** Returns the id that the message was sent by; undefined where none can be sent now. */
  send: (request: KernelRequest) => string | undefined;
  /** Others run code in the kernel too. */
  isShared: boolean;
  onComm: (message: CommMessage) => void;
  /** True: it was taken, and its cell does not get it. Default: nothing is. */
  onShown?: ShownListener;
}

interface PendingRequest {
  readonly resolve: (reply: JsonObject | undefined) => void;
  /** The reply is waited for until all is heard that the kernel said before it: output comes another way. */
  readonly behindOutput: boolean;
  /** Receives what the request makes code show, which is no cell's. Undefined: nobody does, nor is anybody asked. */
  readonly onShown?: (shown: ShownByCode) => void;
  readonly reply?: JsonObject;
  readonly isIdle?: boolean;
}

/** The client's side of Jupyter's kernel protocol, on any transport: it gives each message of the kernel to what it belongs to. */
export class KernelClient {
  readonly #options: KernelClientOptions;
  readonly #requests = new Map<string, PendingRequest>();
  /** The last ones, by their requests: threads and tasks that they have begun may still show something. */
  readonly #futures = new Map<string, ExecuteFuture>();
  #latest: ExecuteFuture | undefined;

  constructor(options: KernelClientOptions) {
    this.#options = options;
  }

  /** Takes a message that the transport has received. */
  receive(message: KernelMessage): void {
    const { channel, parentId, content } = message;
    if (channel === 'iopub') this.#receiveOutput(message);
    else this.#futures.get(parentId)?.receive(message);
    if (channel === 'shell') this.#answer(parentId, { reply: content });
  }

  /** The content of the reply; undefined where none comes in time, or before the requests are ended. It has any time by default. */
  async request(
    type: string,
    content: JsonObject,
    timeoutMs?: number,
    { behindOutput = false }: { behindOutput?: boolean } = {},
  ): Promise<JsonObject | undefined> {
    const reply = this.#ask({ channel: 'shell', type, content }, { behindOutput });
    return timeoutMs === undefined ? reply : within(timeoutMs, reply);
  }

  /** Resolves when the kernel has dealt with it, or the requests are ended. */
  async sendComm(message: CommMessage, onShown: (shown: ShownByCode) => void = () => {}): Promise<void> {
    // It has no reply: the kernel is idle behind it.
    await this.#ask(toCommRequest(message), { reply: {}, behindOutput: true, onShown });
  }

  /** A message of a comm may run code just now. */
  get hasComms(): boolean {
    return [...this.#requests.values()].some(({ onShown }) => onShown !== undefined);
  }

  /** Code that is not sent yet. */
  createFuture(execution: PendingExecution, options: FutureOptions): ExecuteFuture {
    const { send, isShared } = this.#options;
    return new ExecuteFuture(execution, {
      ...options,
      isShared,
      answer: (value, parentHeader) => void send({ channel: 'stdin', type: 'input_reply', content: { status: 'ok', value }, parentHeader }),
      sendAgain: (future) => this.execute(future),
    });
  }

  execute(future: ExecuteFuture): void {
    const { source, canAsk } = future.execution;
    const content = {
      code: source,
      silent: false,
      store_history: true,
      user_expressions: {},
      allow_stdin: canAsk,
      // Its error is not to drop the code that waits in the kernel behind it.
      stop_on_error: false,
    };
    const id = this.#options.send({ channel: 'shell', type: 'execute_request', content });
    if (id === undefined) return;
    this.#keep(id, future);
    future.sentAs(id);
  }

  /** An earlier client has sent its code, by the request of this id. */
  follow(id: string, future: ExecuteFuture): void {
    this.#keep(id, future);
    future.id = id;
  }

  #keep(id: string, future: ExecuteFuture): void {
    this.#latest = future;
    keepLatest(this.#futures, [id, future], maxRecentRuns);
  }

  /** No reply comes any more: the connection or the kernel has ended. Code that was sent may go on. */
  endRequests(): void {
    for (const { resolve } of this.#requests.values()) resolve(undefined);
    this.#requests.clear();
  }

  #receiveOutput(message: KernelMessage): void {
    const { type, parentId, content } = message;
    const comm = parseComm(message);
    if (comm) return this.#options.onComm(comm);
    const request = this.#requests.get(parentId);
    const future = this.#futures.get(parentId);
    if (type === 'status' || type === 'execute_input') {
      future?.receive(message);
      if (content.execution_state === 'idle') this.#answer(parentId, { isIdle: true });
      return;
    }
    if (request && !request.onShown) return;
    const read = () => toShown(type, content);
    const { onShown, isShared } = this.#options;
    if (onShown?.(parentId, read)) return future?.keepAlive();
    const shown = request && read();
    if (shown) request.onShown?.(shown);
    // Output that names no cell of ours, as a process writes it, is the latest one's, or another client's.
    if (!request) (future ?? (isShared ? undefined : this.#latest))?.receive(message);
  }

  #ask(request: KernelRequest, how: Omit<PendingRequest, 'resolve'>): Promise<JsonObject | undefined> {
    const id = this.#options.send(request);
    if (id === undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#requests.set(id, { resolve, ...how }));
  }

  /** It is kept until the kernel is idle behind it, whoever still waits: what it shows until then is no cell's. */
  #answer(id: string, heard: Pick<PendingRequest, 'reply' | 'isIdle'>): void {
    const known = this.#requests.get(id);
    if (!known) return;
    const request = { ...known, ...heard };
    this.#requests.set(id, request);
    const { reply, isIdle, behindOutput, resolve } = request;
    if (reply && (isIdle || !behindOutput)) resolve(reply);
    if (reply && isIdle) this.#requests.delete(id);
  }
}
