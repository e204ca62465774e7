import type { JsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import { type ConnectionState, describeConnection, isTrouble } from '../connection-state.js';
import type { PageProfile } from '../profiles/profile.js';
import { ConnectionWatch, type ConnectionWatchOptions } from './connection-watch.js';
import { PageClient, type PageLimits } from './page-client.js';
import { createPageProxy, type ProxyServer } from './proxy-server.js';
import type { Slot } from './slot.js';
import type { KeptSlot } from './slot-store.js';

export interface PageNotebookOptions extends PageLimits {
  /** Which notebook it is; lasting. */
  key: string;
  slot: Slot;
  /** The port that its pages dial. */
  listener: ConnectionWatchOptions['listener'];
  /** What is opened for it. */
  url: string;
  /** True if an earlier process had it. */
  isRestored: boolean;
  /** Why its pages cannot come back by themselves, if they cannot: a sentence. */
  voided: () => string | undefined;
  /** The tool that opens the page. */
  openTool: string;
  logger: Logger;
}

/** A page as one notebook among others: its slot, the session with whatever page is in it, and the provider in front. */
export class PageNotebook {
  readonly key: string;
  readonly slot: Slot;
  readonly client: PageClient;
  readonly provider: ProxyServer;
  /** What keeps its page away. */
  readonly connection: ConnectionWatch;
  readonly url: string;
  readonly #options: PageNotebookOptions;
  /** True once a page has been in it, also one of an earlier process. */
  #hadPage: boolean;
  readonly #stop: (() => void)[];

  constructor(options: PageNotebookOptions) {
    const { key, slot, url, isRestored, logger, clientInfo, handshakeMs, graceMs, callTimeoutMs } = options;
    this.#options = options;
    this.key = key;
    this.slot = slot;
    this.url = url;
    this.#hadPage = isRestored;
    this.client = new PageClient(slot, { clientInfo, handshakeMs, graceMs, callTimeoutMs, logger });
    this.connection = new ConnectionWatch({ slot, listener: options.listener, isConnected: this.client.isConnected });
    const { provider, stop } = createPageProxy({
      slot,
      client: this.client,
      instructions: `Works in a notebook that a person has open in a page (${slot.profile.title}).`,
      isStatic: true,
      nextStep: () => this.nextStep,
      logger,
    });
    this.provider = provider;
    this.#stop = [stop, this.client.connectionChanged.add((isConnected) => this.#onChange(isConnected))];
    this.client.start();
    if (isRestored && this.#returns && options.voided() === undefined) this.client.expect();
  }

  get profile(): PageProfile {
    return this.slot.profile;
  }

  /** What an agent does, and has its person do, while no page is there. */
  get nextStep(): string {
    const { openTool, voided } = this.#options;
    const why = voided();
    if (why !== undefined) return `${why} Call "${openTool}": the page is opened anew.`;
    const { state } = this.connection;
    if (isTrouble(state)) return `${explain(state, this.url)} Call "${openTool}": its answer says what a person can do.`;
    if (!this.#hadPage) return `Call "${openTool}" first.`;
    if (this.#returns) return `A page that is still open comes back by itself within seconds; if it was closed, call "${openTool}".`;
    return `Its tab does not dial again by itself, even if it shows that it is connected. Ask the person to reload the ${this.profile.title} tab, and to press "Connect" if it asks; if the tab was closed, call "${openTool}".`;
  }

  /** What the page calls itself, else what kind of page it is. */
  get title(): string {
    const info = this.client.proxyMcpClient?.initializeResult?.serverInfo as JsonObject | undefined;
    const { title, name } = info ?? {};
    const own = [title, name].find((text) => typeof text === 'string' && text !== '') as string | undefined;
    return own === undefined ? this.profile.title : `${this.profile.title}: ${own.replace(/\p{C}/gu, '').slice(0, 80)}`;
  }

  get state(): 'connected' | 'expected' | 'absent' {
    if (this.client.isConnected()) return 'connected';
    return this.client.expectedForMs() > 0 ? 'expected' : 'absent';
  }

  /** What is written of it. */
  get kept(): KeptSlot {
    const { key, url, profile, slot } = this;
    return { key, profile: profile.name, url, allowOrigins: slot.allowedOrigins, tokens: slot.tokens.kept, tools: slot.rememberedTools };
  }

  /** Hangs up and lets no page in any more. Closing twice is harmless. */
  async close(): Promise<void> {
    // First, so that the page is told that we go away, not that the conversation is over.
    const gone = this.slot.close();
    this.connection.close();
    await this.client.close();
    for (const stop of this.#stop.splice(0)) stop();
    await gone;
  }

  /** A page of ours dials again by itself; one that came by a token of Colab's does not. */
  get #returns(): boolean {
    const { tokens, allowedOrigins } = this.slot;
    return tokens.kept.lasting.length === 0 && (this.profile.keepsToken !== true || allowedOrigins.length > 0);
  }

  #onChange(isConnected: boolean): void {
    if (isConnected) this.#hadPage = true;
    this.provider.emit({ method: 'notifications/tools/list_changed' });
  }
}

/** Without what holds the token, which the open tool alone names. */
function explain(state: ConnectionState, url: string): string {
  const { origin } = new URL(url);
  return describeConnection(state, { title: '', origin, port: 0, url: '', code: undefined, sshLine: '' }).text;
}
