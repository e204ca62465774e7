import { randomUUID } from 'node:crypto';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { WebSocket } from 'ws';
import { within } from '../kernel/within.js';
import type { PlacedCell } from '../model/document.js';
import type { JournalEntry } from '../model/journal.js';
import { HostError } from '../session/host-error.js';
import { type ConnectedAgent, type Hello, type HostMessage, personAt } from '../viewer/protocol.js';
import { ChartPictures } from './chart-pictures.js';
import type { HeadlessWindow } from './headless-window.js';
import type { LeaseDesk } from './viewer-actions.js';
import { createActions, type ViewerTarget } from './viewer-actions.js';
import { type LinkLimits, ViewerLink } from './viewer-link.js';
import { WidgetTraffic } from './window-widgets.js';

export interface ViewerWindowsOptions extends Pick<ViewerTarget, 'session' | 'file' | 'folder' | 'kernels' | 'trust' | 'codeTools'> {
  title: string;
  logger: Logger;
  onDisconnectAgent: (agentId: string) => Promise<void>;
  /** Draws charts where no window is open. Default: they are described. */
  headless?: HeadlessWindow | undefined;
  limits?: Partial<LinkLimits> | undefined;
}

/** The journal holds whole cells; while an agent works, windows get it this often. */
const journalMs = 100;
/** After this long without a window, nobody answers what an agent's code asks. */
const leaveMs = 30_000;
/** Characters of source that a journal of a window has. What is older is not shown. */
const maxJournalCharacters = 2_000_000;

/** All windows on one notebook. Each gets everything in the same order. */
export class ViewerWindows {
  readonly #options: ViewerWindowsOptions;
  readonly #links = new Set<ViewerLink>();
  /** Windows that draw pictures, and nobody sees. */
  readonly #unseen = new Set<ViewerLink>();
  readonly #widgets: WidgetTraffic;
  readonly pictures: ChartPictures;
  readonly #stopListening: (() => void)[];
  /** Called when there is a first window, and when there is none any more. */
  onOpen: (isOpen: boolean) => void = () => {};
  readonly #waiting: (() => void)[] = [];
  #agents: readonly ConnectedAgent[] = [];
  #lease: LeaseDesk | undefined;
  readonly #life = randomUUID();
  #lastWindow = 0;
  #journalTimer: NodeJS.Timeout | undefined;
  #leaveTimer: NodeJS.Timeout | undefined;

  constructor(options: ViewerWindowsOptions) {
    this.#options = options;
    const { session, file, trust, codeTools, kernels, headless } = options;
    this.#widgets = new WidgetTraffic(session);
    this.pictures = new ChartPictures({
      document: session.document,
      kernel: session.kernel,
      windows: [
        (message) => this.#askOne(this.#links, message),
        async (message) => (await headless?.open()) === true && this.#askOne(this.#unseen, message),
      ],
    });
    session.questions.isAttended = () => this.#links.size > 0;
    this.#stopListening = [
      session.document.onChange(({ change }) => this.#notify({ type: 'change', change })),
      session.onEvent((event) => this.#notify({ type: 'session', event })),
      session.journal.onChange(() => this.#notifyJournalSoon()),
      trust?.onChange((outputsTrusted) => this.#notify({ type: 'outputsTrusted', outputsTrusted })) ?? (() => {}),
      trust?.onRanHere((ranHere) => this.#notify({ type: 'ranHere', ranHere })) ?? (() => {}),
      file?.onState((state) => this.#notify({ type: 'file', file: state })) ?? (() => {}),
      kernels?.onChoice((choice) => this.#notify({ type: 'choice', choice })) ?? (() => {}),
      codeTools?.onAccess((tools) => this.#notify({ type: 'tools', tools })) ?? (() => {}),
    ];
  }

  get count(): number {
    return this.#links.size;
  }

  setAgents(agents: readonly ConnectedAgent[]): void {
    this.#agents = agents.map(({ id, name }) => ({ id, name }));
    this.#notify({ type: 'agents', agents: this.#agents });
  }

  /** Who decides which agent writes; `showLease` tells what has changed. */
  setLease(lease: LeaseDesk): void {
    this.#lease = lease;
    this.showLease();
  }

  showLease(): void {
    if (this.#lease) this.#notify({ type: 'lease', lease: this.#lease.state });
  }

  /** A window starts with the whole state, and receives each change that follows. */
  add(socket: WebSocket, { isUnseen = false } = {}): void {
    const { logger, limits } = this.#options;
    // Counted on: what a window did that is closed was not done by the next one.
    const by = personAt(isUnseen ? 0 : ++this.#lastWindow);
    const widgets = this.#widgets.join((news) => link.send({ type: 'widgets', news }));
    const link: ViewerLink = new ViewerLink(socket, {
      perform: createActions({
        ...this.#options,
        ...{ widgets, by, pictures: this.pictures, lease: this.#lease },
        disconnectAgent: (id) => this.#disconnect(id),
      }),
      onClose: () => {
        widgets.close();
        this.#remove(link);
      },
      logger,
      limits,
    });
    link.send(this.#hello(by.name));
    (isUnseen ? this.#unseen : this.#links).add(link);
    if (isUnseen) this.#options.headless?.join();
    else if (this.#links.size === 1) this.#opened();
  }

  /** Resolves when a window is open, or after so many milliseconds. */
  async untilOne(timeoutMs: number): Promise<void> {
    if (this.#links.size === 0) await within(timeoutMs, new Promise<void>((resolve) => this.#waiting.push(resolve)));
  }

  async close(): Promise<void> {
    clearTimeout(this.#journalTimer);
    clearTimeout(this.#leaveTimer);
    for (const stop of [...this.#stopListening, ...this.#waiting]) stop();
    this.#widgets.close();
    await Promise.all([...this.#links, ...this.#unseen].map((link) => link.close()));
    await this.#options.headless?.close();
  }

  #hello(you: string): Hello {
    const { session, file, trust, title, codeTools, kernels } = this.#options;
    const { state, layers, info } = session.kernel;
    return {
      type: 'hello',
      title,
      document: session.document.snapshot(),
      kernel: { ...info, state, ...(layers ? { layers } : {}) },
      choice: kernels?.choice ?? null,
      running: session.running ?? null,
      queued: session.queued,
      questions: session.questions.open,
      journal: newest(session.journal.entries),
      agents: this.#agents,
      lease: this.#lease?.state ?? null,
      tools: codeTools?.access ?? null,
      file: file?.state ?? { kind: 'none' },
      path: file?.path ?? null,
      life: this.#life,
      readOnly: session.readOnly,
      you,
      durations: session.durations,
      now: Date.now(),
      outputsTrusted: trust?.isTrusted ?? false,
      ranHere: trust?.ranHere ?? [],
    };
  }

  #opened(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.onOpen(true);
  }

  /** The window that was opened last. */
  #askOne(links: ReadonlySet<ViewerLink>, message: HostMessage): boolean {
    const link = [...links].at(-1);
    link?.send(message);
    return link !== undefined;
  }

  #remove(link: ViewerLink): void {
    if (this.#unseen.delete(link)) return;
    this.#links.delete(link);
    if (this.#links.size === 0) this.onOpen(false);
    // A reload is back at once; whoever does not come back would leave an agent waiting.
    clearTimeout(this.#leaveTimer);
    this.#leaveTimer = setTimeout(() => this.#links.size > 0 || this.#options.session.questions.refuseUnattended(), leaveMs).unref();
  }

  #notify(message: HostMessage): void {
    if (this.#links.size + this.#unseen.size === 0) return;
    const text = JSON.stringify(message);
    for (const link of [...this.#links, ...this.#unseen]) link.sendText(text);
  }

  #notifyJournalSoon(): void {
    if (this.#links.size === 0) return;
    this.#journalTimer ??= setTimeout(() => {
      this.#journalTimer = undefined;
      this.#notify({ type: 'journal', journal: newest(this.#options.session.journal.entries) });
    }, journalMs).unref();
  }

  async #disconnect(agentId: string): Promise<void> {
    const agent = this.#agents.find(({ id }) => id === agentId);
    if (!agent) throw new HostError('unknown_agent', 'That agent is not connected any more.');
    await this.#options.onDisconnectAgent(agent.id);
  }
}

/** The last entries, oldest first; one at least. */
function newest(entries: readonly JournalEntry[]): JournalEntry[] {
  let left = maxJournalCharacters;
  const older = entries.findLastIndex(({ before, after }) => {
    const isFirst = left === maxJournalCharacters;
    left -= 1 + (before?.cell.source.length ?? 0) + (after?.cell.source.length ?? 0);
    return left < 0 && !isFirst;
  });
  return entries.slice(older + 1).map(withoutOutputs);
}

/** A window shows what an agent changed, which outputs never are; they may be many megabytes. */
function withoutOutputs(entry: JournalEntry): JournalEntry {
  const { before, after } = entry;
  const strip = (placed: PlacedCell): PlacedCell => ({ ...placed, cell: { ...placed.cell, outputs: [] } });
  return { ...entry, ...(before ? { before: strip(before) } : {}), ...(after ? { after: strip(after) } : {}) };
}
