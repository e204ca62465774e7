import { CodedError } from '../../model/errors.js';
import type { HostMessage, ViewerAction, ViewerMessage } from '../../viewer/protocol.js';

export type LinkState =
  | { readonly kind: 'connecting' | 'open' }
  /** The host said that it closes. It does not come back, so nothing is tried again unless a person asks for it. */
  | { readonly kind: 'ended' }
  /** `wasOpen`: false if no connection ever came about, which a wrong token looks like too. */
  | { readonly kind: 'lost'; readonly retryAtMs: number; readonly wasOpen: boolean };

export interface HostConnectionOptions {
  url: string;
  onMessage: (message: HostMessage) => void;
  onState: (state: LinkState) => void;
}

/** A request that the host refused, or that got no answer (`connection_lost`). */
export class RequestFailed extends CodedError<string> {
  override name = 'RequestFailed';
}

const firstDelayMs = 400;
const longestDelayMs = 15_000;
/** "Going away": with it a host closes that ends. */
const endedCode = 1001;

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: RequestFailed) => void;
}

/** One WebSocket to the host, opened anew with growing pauses whenever it is lost. Nothing is sent twice. */
export class HostConnection {
  readonly #options: HostConnectionOptions;
  readonly #waiting = new Map<number, Waiting>();
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempts = 0;
  #lastId = 0;
  #isInitialized = false;
  #wasOpen = false;
  #hasEnded = false;

  constructor(options: HostConnectionOptions) {
    this.#options = options;
    // A laptop that wakes up, or a network that is back, need not wait for the pause to end.
    addEventListener('online', () => this.#hurry());
    document.addEventListener('visibilitychange', () => document.hidden || this.#hurry());
  }

  /** True once the host has said hello. */
  get isOpen(): boolean {
    return this.#isInitialized;
  }

  open(): void {
    clearTimeout(this.#timer);
    this.#drop();
    this.#options.onState({ kind: 'connecting' });
    const socket = new WebSocket(this.#options.url, 'notebridge-viewer');
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket === socket) this.#receive(JSON.parse(String(data)) as HostMessage);
    });
    socket.addEventListener('close', ({ code }) => {
      if (this.#socket === socket) this.#lose(code === endedCode);
    });
  }

  request(action: ViewerAction): Promise<unknown> {
    const socket = this.#socket;
    if (!socket || !this.#isInitialized) return Promise.reject(notConnected());
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      socket.send(JSON.stringify({ type: 'request', id, action } satisfies ViewerMessage));
    });
  }

  #receive(message: HostMessage): void {
    if (message.type === 'done' || message.type === 'failed') return this.#settle(message);
    this.#options.onMessage(message);
    if (message.type !== 'hello') return;
    this.#isInitialized = true;
    this.#hasEnded = false;
    this.#wasOpen = true;
    this.#attempts = 0;
    this.#options.onState({ kind: 'open' });
  }

  #settle(answer: Extract<HostMessage, { type: 'done' | 'failed' }>): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.type === 'done') waiting?.resolve(answer.value);
    else waiting?.reject(new RequestFailed(answer.code, answer.message));
  }

  #lose(hasEnded: boolean): void {
    this.#drop();
    // A new try after the host has ended finds nobody: it stays ended.
    this.#hasEnded ||= hasEnded;
    if (this.#hasEnded) return this.#options.onState({ kind: 'ended' });
    const delayMs = Math.min(longestDelayMs, firstDelayMs * 2 ** this.#attempts++) * (0.8 + Math.random() * 0.4);
    this.#timer = setTimeout(() => this.open(), delayMs);
    this.#options.onState({ kind: 'lost', retryAtMs: Date.now() + delayMs, wasOpen: this.#wasOpen });
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isInitialized = false;
    socket?.close();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(notConnected());
  }

  #hurry(): void {
    if (!this.#socket && !this.#hasEnded) this.open();
  }
}

function notConnected(): RequestFailed {
  return new RequestFailed('connection_lost', 'The notebook is not connected at the moment; try again when it is.');
}
