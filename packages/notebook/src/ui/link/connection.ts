import { CodedError } from '../../model/errors.js';
import type { HostMessage, ViewerAction, ViewerMessage } from '../../viewer/protocol.js';
import { takeTicket } from './take-ticket.js';

export type LinkState =
  | { readonly kind: 'connecting' | 'open' }
  /** The host said that it closes. */
  | { readonly kind: 'ended' }
  /** Another program has the host's port now. */
  | { readonly kind: 'foreign' }
  /** `wasOpen`: false if no connection ever came about. */
  | { readonly kind: 'lost'; readonly wasOpen: boolean };

export interface HostConnectionOptions {
  /** The windows' key. It is never sent. */
  key: string;
  /** It draws pictures for agents, and no person looks at it. Default false. */
  isUnseen?: boolean;
  onMessage: (message: HostMessage) => void;
  /** Called when the state has become another one. */
  onState: (state: LinkState) => void;
}

/** A request that the host refused, or that got no answer (`connection_lost`). */
export class RequestFailed extends CodedError<string> {
  override name = 'RequestFailed';
}

const firstDelayMs = 400;
/** So that a program that starts again finds its windows back before it opens another one. */
const longestDelayMs = 3000;
/** Then nobody is about to start it again. */
const quickAttempts = 200;
const idleDelayMs = 15_000;
/** "Going away": with it a host closes that ends. */
const endedCode = 1001;

/**
 * One WebSocket to the host, opened anew with growing pauses whenever it is lost, also after the host has ended: the next program that opens the
 * notebook is found where this one was. Nothing is sent twice.
 */
export class HostConnection {
  readonly #options: HostConnectionOptions;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempts = 0;
  #lastId = 0;
  #isInitialized = false;
  #wasOpen = false;
  #hasEnded = false;
  /** Counts attempts: what an earlier one still brings is of no use. */
  #turn = 0;
  #state: LinkState = { kind: 'connecting' };

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
    this.#timer = undefined;
    this.#drop();
    void this.#dial(++this.#turn);
  }

  request(action: ViewerAction): Promise<unknown> {
    const socket = this.#socket;
    if (!socket || !this.#isInitialized) return Promise.reject(notConnected());
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    socket.send(JSON.stringify({ type: 'request', id, action } satisfies ViewerMessage));
    return waiting.promise;
  }

  async #dial(turn: number): Promise<void> {
    const entry = await takeTicket(this.#options.key);
    if (turn !== this.#turn) return;
    if ('fault' in entry) return this.#lose({ isForeign: entry.fault === 'foreign' });
    const socket = new WebSocket(viewerUrl(entry.ticket, this.#options.isUnseen === true), 'notebridge-viewer');
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket === socket) this.#receive(JSON.parse(String(data)) as HostMessage);
    });
    socket.addEventListener('close', ({ code }) => {
      if (this.#socket === socket) this.#lose({ hasEnded: code === endedCode });
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
    this.#setState({ kind: 'open' });
  }

  #settle(answer: Extract<HostMessage, { type: 'done' | 'failed' }>): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.type === 'done') waiting?.resolve(answer.value);
    else waiting?.reject(new RequestFailed(answer.code, answer.message));
  }

  #lose({ hasEnded = false, isForeign = false }): void {
    this.#drop();
    this.#hasEnded ||= hasEnded;
    const longestMs = this.#attempts > quickAttempts ? idleDelayMs : longestDelayMs;
    const delayMs = Math.min(longestMs, firstDelayMs * 2 ** this.#attempts++) * (0.8 + Math.random() * 0.4);
    this.#timer = setTimeout(() => this.open(), delayMs);
    if (isForeign) this.#setState({ kind: 'foreign' });
    else this.#setState(this.#hasEnded ? { kind: 'ended' } : { kind: 'lost', wasOpen: this.#wasOpen });
  }

  #setState(state: LinkState): void {
    const isSame = this.#state.kind === state.kind;
    this.#state = state;
    if (!isSame) this.#options.onState(state);
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
    if (this.#timer !== undefined) this.open();
  }
}

function viewerUrl(ticket: string, isUnseen: boolean): string {
  const url = new URL('/viewer', location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  url.searchParams.set('ticket', ticket);
  if (isUnseen) url.searchParams.set('unseen', '');
  return url.href;
}

function notConnected(): RequestFailed {
  return new RequestFailed('connection_lost', 'The notebook is not connected at the moment; try again when it is.');
}

/** Runs a request to its end, and shows a failure; undefined then. */
export type AskHost = (action: ViewerAction) => Promise<unknown>;

/** Shows the person what went wrong. */
export type Complain = (message: string, cellId?: string) => void;

/** What ends a run without being news: the person or the agent wanted it so, and the cell shows it. */
const expectedEnds = new Set(['cancelled', 'cell_deleted', 'kernel_dead', 'kernel_failed', 'connection_lost']);

export function createAsk(connection: HostConnection, complain: Complain): AskHost {
  return async (action) => {
    try {
      return await connection.request(action);
    } catch (error) {
      const code = error instanceof RequestFailed ? error.code : '';
      const isRun = action.do === 'run' || action.do === 'runAll';
      if (!(isRun && expectedEnds.has(code))) complain((error as Error).message, 'cellId' in action ? action.cellId : undefined);
      return undefined;
    }
  };
}
