import { type Address, AddressKeeper, type PageHistory, type PageLocation, type PageStorage, parseEntry, takeFragment } from './address.js';
import { Backoff, type ReconnectOptions } from './backoff.js';
import { type CallEvent, createCallRunner } from './call-runner.js';
import { Connection, type ConnectionEnd, type PageSocketConstructor } from './connection.js';
import { askInDialog, askToHandOver, type ConsentRequest, type HandOverRequest, showAgent } from './consent-dialog.js';
import { type Agent, checkTools, type PageTool } from './definitions.js';
import { diagnose, type PagePermissions } from './diagnose.js';
import { TypedEmitter } from './emitter.js';
import type { LogLevel, McpServerOptions, PageDefinition } from './mcp-server.js';
import type { Diagnosis, DisconnectReason, PageState } from './page-state.js';

export interface PageSessionOptions extends PageDefinition {
  /** Asked before the page dials an address that it was given by a URL. Default: `askInDialog`. */
  consent?: (request: ConsentRequest) => boolean | Promise<boolean>;
  /**
   * Asked when an agent wants to change and run what another one holds (`take_over`); only `true` hands it over. Default: `askToHandOver`; where
   * there is no document, nobody can be asked.
   */
  handOver?: (request: HandOverRequest) => boolean | Promise<boolean>;
  /** Dial again when a connection that worked is lost. Default true. */
  reconnect?: boolean | ReconnectOptions;
  /** After so long without a frame the program is asked for one, and after as long again the connection counts as lost. Milliseconds. Default 10000. */
  quietMs?: number;
  /** Called with what was skipped or went wrong without harm. Default: none. */
  log?: (message: string) => void;
  /** Keeps the address over a reload. Default: `sessionStorage`, if there is one. */
  storage?: PageStorage;
  /** Default: those of the browser; needed only where there is none. */
  location?: PageLocation;
  history?: PageHistory;
  WebSocket?: PageSocketConstructor;
  permissions?: PagePermissions;
}

export interface SessionEvents {
  state: PageState;
  /** What an agent does with the tools. */
  call: CallEvent;
  /** Who is connected; undefined when nobody is any more. */
  agent: Agent | undefined;
}

/** A connection that lasted so long was no accident: the next tries start from the shortest wait. */
const steadyMs = 10_000;

const busyCode = 1013;
/** The close codes for 401 and 403: policy violation, unauthorized, forbidden, and what many servers use instead. */
const refusedCodes: unknown[] = [1008, 3000, 3003, 4401, 4403];

/** Makes a session of this page. Takes the address out of the URL at once; dials when `connect` is called. */
export function createPageSession(options: PageSessionOptions): PageSession {
  return new PageSession(options);
}

/** The lasting session of a page: who may connect, the connection of the moment, and how it comes back when it is lost. */
export class PageSession {
  readonly #options: PageSessionOptions;
  readonly #events = new TypedEmitter<SessionEvents>();
  readonly #runCall = createCallRunner((event) => this.#events.emit('call', event));
  readonly #keeper: AddressKeeper;
  readonly #backoff: Backoff;
  #tools: readonly PageTool[];
  #state: PageState = { status: 'idle' };
  #address: Address | undefined;
  #asking: AbortController | undefined;
  #connection: Connection | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #connectedAt = 0;
  #refusals = 0;

  constructor(options: PageSessionOptions) {
    checkTools(options.tools);
    this.#options = options;
    this.#tools = options.tools;
    this.#backoff = new Backoff(options.reconnect);
    this.#keeper = new AddressKeeper(options.storage ?? browserStorage(), options.name);
    if (!this.#takeFragment()) this.#address = this.#keeper.read();
    // A browser loads nothing when only the fragment differs, as when the agent's URL is pasted into the page's own tab.
    if (options.location === undefined && typeof window !== 'undefined') {
      window.addEventListener('hashchange', () => {
        if (!this.#takeFragment()) return;
        this.#hangUp();
        void this.#ask();
      });
      // After sleep, or a network that is back, there is nothing to wait for.
      const tryNow = (): void => {
        if (this.#state.status === 'waiting') this.#dial();
      };
      window.addEventListener('online', tryNow);
      window.addEventListener('pageshow', tryNow);
      document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && tryNow());
    }
  }

  get state(): PageState {
    return this.#state;
  }

  /** Calls `listener` with each event from now on. Returns the unsubscribe function. */
  on<Name extends keyof SessionEvents>(name: Name, listener: (event: SessionEvents[Name]) => void): () => void {
    return this.#events.on(name, listener);
  }

  /**
   * Connects to the program that opened this page, or that it was connected to before a reload; `idle` if there is none. Asks for
   * consent, unless it was given in this tab before a reload, or it waits to try again: then it tries now. Resolves to the state that this led to.
   */
  async connect(): Promise<PageState> {
    const { status } = this.#state;
    if (status === 'waiting') this.#dial();
    else if (status === 'idle' && this.#address?.isAgreed === true) this.#dialAgain();
    else if (status === 'idle' || status === 'disconnected') await this.#ask();
    return this.#settled();
  }

  /**
   * Connects to the address that a person has pasted: `<token>&<port>`, or the whole URL. Pasting it is consent. Rejects if it
   * is neither, and then changes nothing.
   */
  async connectManually(text: string): Promise<PageState> {
    this.#address = parseEntry(text);
    this.#keeper.keep(this.#address);
    this.#backoff.reset();
    this.#dial();
    return this.#settled();
  }

  /** Closes the connection, aborts the calls, and forgets the address over a reload. `connect` asks again. Calling it twice is harmless. */
  disconnect(): void {
    this.#keeper.forget();
    this.#hangUp();
    const isOn = this.#state.status !== 'idle' && this.#state.status !== 'disconnected';
    if (isOn) this.#setState({ status: 'disconnected', reason: 'person' });
  }

  /** Why the last address cannot be reached; undefined if there is none, or it is connected. */
  async diagnose(): Promise<Diagnosis | undefined> {
    if (this.#address === undefined || this.#state.status === 'connected') return undefined;
    const { permissions = typeof navigator === 'undefined' ? undefined : navigator.permissions } = this.#options;
    return diagnose(this.#address.port, permissions);
  }

  /** Offers other tools from now on. Throws a `TypeError` for tools that cannot be offered. */
  setTools(tools: readonly PageTool[]): void {
    checkTools(tools);
    this.#tools = tools;
    this.toolsChanged();
  }

  /** Notifies the agent to read the list again. */
  toolsChanged(): void {
    this.#connection?.server.notify('notifications/tools/list_changed');
  }

  resourcesChanged(): void {
    this.#connection?.server.notify('notifications/resources/list_changed');
  }

  promptsChanged(): void {
    this.#connection?.server.notify('notifications/prompts/list_changed');
  }

  /** Notifies the agent that a resource's content changed, if it has subscribed to it. */
  resourceUpdated(uri: string): void {
    this.#connection?.server.resourceUpdated(uri);
  }

  /** Sends the agent a log line, if it wants that level: from `info` on, or as it has set. */
  log(level: LogLevel, data: unknown): void {
    this.#connection?.server.log(level, data);
  }

  #takeFragment(): boolean {
    const { location = globalThis.location, history = globalThis.history } = this.#options;
    const address = takeFragment(location, history);
    if (address === undefined) return false;
    this.#address = address;
    this.#keeper.keep(address);
    return true;
  }

  async #ask(): Promise<void> {
    const address = this.#address;
    if (address === undefined) return;
    const { consent = askInDialog, title, name } = this.#options;
    const { port, agentName } = address;
    const asking = new AbortController();
    this.#asking = asking;
    this.#setState({ status: 'asking', port });
    if (asking.signal.aborted) return;
    let agreed = false;
    try {
      agreed = await consent({
        page: title ?? name,
        tools: this.#tools.map((tool) => tool.title ?? tool.name),
        port,
        ...(agentName === undefined ? {} : { agentName }),
        signal: asking.signal,
        session: this,
      });
    } finally {
      // A manual entry, a newer address or a disconnect meanwhile takes precedence.
      if (this.#asking === asking) {
        this.#asking = undefined;
        this.#backoff.reset();
        if (agreed === true) this.#dial();
        else this.#stop({ reason: 'consent' });
      }
    }
  }

  /** What was agreed in this tab is not asked again; who is connected is shown as after the question. */
  #dialAgain(): void {
    if (this.#options.consent === undefined && typeof document !== 'undefined') showAgent(this);
    this.#dial();
  }

  #dial(): void {
    const address = this.#address;
    const { WebSocket = globalThis.WebSocket as PageSocketConstructor | undefined, log } = this.#options;
    if (WebSocket === undefined) throw new TypeError('There is no WebSocket here: give the session one (of "ws", before Node 22).');
    if (address === undefined) return;
    this.#hangUp();
    const connection = new Connection({
      address,
      WebSocket,
      quietMs: this.#options.quietMs,
      runCall: this.#runCall,
      definition: () => ({ ...this.#options, tools: this.#tools }),
      onHandshake: (agent, resumeToken) => this.#keepHandshake(agent, resumeToken),
      onReady: (agent) => this.#becomeConnected(agent),
      onFault: (fault) => log?.(fault),
      askToHandOver: this.#toAskHandOver(),
      onEnd: (end) => void this.#ended(connection, end),
    });
    this.#connection = connection;
    this.#setState({ status: 'connecting', port: address.port });
    // A listener may have disconnected already.
    if (this.#connection === connection) connection.open();
  }

  #toAskHandOver(): McpServerOptions['askToHandOver'] {
    const { handOver = typeof document === 'undefined' ? undefined : askToHandOver, title, name } = this.#options;
    return handOver && ((question, signal) => handOver({ ...question, page: title ?? name, signal }));
  }

  #keepHandshake({ name }: Agent, resumeToken: string | undefined): void {
    if (this.#address === undefined) return;
    this.#address = { ...this.#address, agentName: name, isAgreed: true, ...(resumeToken === undefined ? {} : { token: resumeToken }) };
    this.#keeper.keep(this.#address);
  }

  #becomeConnected(agent: Agent): void {
    this.#connectedAt = performance.now();
    this.#refusals = 0;
    this.#setState({ status: 'connected', agent });
  }

  async #ended(connection: Connection, { code, wasOpen }: ConnectionEnd): Promise<void> {
    const closed = code === undefined ? {} : { code };
    if (code === busyCode) return this.#stop({ reason: 'busy', code });
    if (refusedCodes.includes(code)) return this.#stop({ reason: 'refused', ...closed });
    if (this.#state.status === 'connected' && performance.now() - this.#connectedAt > steadyMs) this.#backoff.reset();
    if (wasOpen) return this.#wait({ reason: 'lost', ...closed });
    const diagnosis = await this.diagnose();
    // While the browser was asked, the person may have gone on.
    if (this.#connection !== connection || diagnosis === undefined) return;
    const end = { reason: diagnosis === 'refused' ? 'refused' : 'unreachable', ...closed, diagnosis } as const;
    // The first refusal may come from a program that returned between the dial and the question: it gets another try.
    const mayReturn = diagnosis === 'nobody' || (diagnosis === 'refused' && this.#refusals++ === 0);
    // If nobody ever answered, the person should know at once.
    if (mayReturn && this.#address?.agentName !== undefined) this.#wait(end);
    else this.#stop(end);
  }

  #wait(end: Ending): void {
    const waitMs = this.#backoff.next();
    if (waitMs === undefined) return this.#stop(end);
    this.#timer = setTimeout(() => this.#dial(), waitMs);
    const { diagnosis } = end;
    this.#setState({ status: 'waiting', retryAt: Date.now() + waitMs, ...(diagnosis === undefined ? {} : { diagnosis }) });
  }

  /** Ends until `connect` is called. What was refused is not asked again after a reload. */
  #stop(end: Ending): void {
    if (end.reason === 'consent' || end.reason === 'refused') this.#keeper.forget();
    this.#refusals = 0;
    this.#hangUp();
    this.#setState({ status: 'disconnected', ...end });
  }

  #hangUp(): void {
    clearTimeout(this.#timer);
    const asking = this.#asking;
    this.#asking = undefined;
    asking?.abort();
    this.#connection?.close();
    this.#connection = undefined;
  }

  #setState(state: PageState): void {
    const before = agentOf(this.#state);
    const agent = agentOf(state);
    this.#state = state;
    this.#events.emit('state', state);
    if (agent !== before) this.#events.emit('agent', agent);
  }

  /** The state, as soon as nothing is under way. */
  #settled(): Promise<PageState> {
    const isSettled = (state: PageState): boolean => state.status !== 'asking' && state.status !== 'connecting';
    return new Promise((resolve) => {
      if (isSettled(this.#state)) return resolve(this.#state);
      const stop = this.on('state', (state) => {
        if (!isSettled(state)) return;
        stop();
        resolve(state);
      });
    });
  }
}

interface Ending {
  reason: DisconnectReason;
  code?: number;
  diagnosis?: Diagnosis;
}

function agentOf(state: PageState): Agent | undefined {
  return state.status === 'connected' ? state.agent : undefined;
}

/** Where storage is forbidden, even to look at it throws. */
function browserStorage(): PageStorage | undefined {
  try {
    return globalThis.sessionStorage;
  } catch {
    return undefined;
  }
}
