import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { EntryGate } from '@notebridge/system/net/entry-gate';
import { type WebSocket, WebSocketServer } from 'ws';
import { sandboxedHeaders, sandboxedPath } from '../../../src/host/assets.js';
import { answerDoor } from '../../../src/host/entry-door.js';
import { OutputTrust } from '../../../src/host/output-trust.js';
import { createActions } from '../../../src/host/viewer-actions.js';
import { parseViewerMessage } from '../../../src/host/viewer-request.js';
import { WindowTickets } from '../../../src/host/window-tickets.js';
import { WidgetTraffic } from '../../../src/host/window-widgets.js';
import type { CellContent } from '../../../src/model/cell.js';
import { createDocument, type NotebookDocument } from '../../../src/model/document.js';
import { createNotebookSession, type NotebookSession } from '../../../src/session/session.js';
import {
  type ConnectedAgent,
  type FileState,
  type HostMessage,
  type LeaseState,
  personAt,
  type ToolAccess,
  type ViewerAction,
} from '../../../src/viewer/protocol.js';
import { builtUi } from './built-ui.js';
import { type Scenes, ToyKernel } from './toy-kernel.js';

export interface TestHostOptions {
  cells: readonly Partial<CellContent>[];
  title?: string;
  agents?: readonly ConnectedAgent[];
  lease?: LeaseState;
  tools?: ToolAccess;
  scenes?: Scenes;
  outputsTrusted?: boolean;
}

const key = 'a-key-of-the-test';
const types: { readonly [extension: string]: string } = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.html': 'text/html',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** The policy that the real host is asked to send; the nonce is for the styles of CodeMirror alone. */
export function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "frame-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types dompurify notebridge-thread',
  ].join('; ');
}

/** A host as the window knows it: pages over HTTP, the protocol over one WebSocket, and a real session behind them. */
export class TestHost {
  readonly session: NotebookSession;
  readonly kernel: ToyKernel;
  /** What windows asked for, in order. */
  readonly asked: ViewerAction[] = [];
  /** Paths that were fetched. */
  readonly fetched: string[] = [];
  file: FileState = { kind: 'saved' };
  agents: readonly ConnectedAgent[];
  lease: LeaseState | null;
  tools: ToolAccess | null;
  isRefusing = false;
  readonly #widgets: WidgetTraffic;
  #lastWindow = 0;
  readonly #title: string;
  readonly #trust: OutputTrust;
  readonly #gate = new EntryGate();
  readonly #tickets = new WindowTickets(key);
  readonly #server = createServer((request, response) => {
    const door = {
      gate: this.#gate,
      key,
      tickets: this.#tickets,
      origins: new Set<string>(),
      later: (answer: () => void) => answer(),
      onRefused() {},
    };
    if (request.method === 'POST' && this.isRefusing) return void response.destroy();
    if (request.method === 'POST') return void answerDoor(request, response, door);
    void this.#serve(request.url ?? '/').then(([status, type, body, csp]) => {
      response.writeHead(status, { 'content-type': type, ...(csp ? { 'content-security-policy': csp } : {}) });
      response.end(body);
    });
  });
  readonly #sockets = new WebSocketServer({ noServer: true });

  constructor({ cells, title = 'analysis.ipynb', agents = [], lease, tools, scenes = {}, outputsTrusted = false }: TestHostOptions) {
    this.#title = title;
    this.agents = agents;
    this.tools = tools ?? null;
    this.lease = lease ?? null;
    this.kernel = new ToyKernel(scenes);
    const whole = cells.map((cell, index) => ({
      id: `cell-${index}`,
      type: 'code' as const,
      source: '',
      metadata: {},
      outputs: [],
      executionCount: null,
      ...cell,
    }));
    this.session = createNotebookSession({
      document: createDocument({ metadata: {}, minor: 5, cells: whole }),
      kernel: this.kernel,
      title,
    });
    this.#trust = new OutputTrust({ document: this.document, path: undefined, kept: undefined, logger: silentLogger }, undefined);
    this.#trust.set(outputsTrusted);
    this.#trust.onChange((outputsTrusted) => this.#tellAll({ type: 'outputsTrusted', outputsTrusted }));
    this.#trust.onRanHere((ranHere) => this.#tellAll({ type: 'ranHere', ranHere }));
    this.#widgets = new WidgetTraffic(this.session);
    this.session.questions.isAttended = () => this.windows > 0;
    this.document.onChange(({ change }) => this.#tellAll({ type: 'change', change }));
    this.session.onEvent((event) => this.#tellAll({ type: 'session', event }));
    this.session.journal.onChange((journal) => this.#tellAll({ type: 'journal', journal }));
    this.#server.on('upgrade', (request: IncomingMessage, socket, head) => {
      const url = new URL(request.url ?? '/', 'http://host');
      const ticket = url.searchParams.get('ticket') ?? '';
      const isIn = url.pathname === '/viewer' && this.#tickets.redeem(ticket, request.headers.origin ?? '');
      if (this.isRefusing || !isIn) return void socket.destroy();
      this.#sockets.handleUpgrade(request, socket, head, (window) => this.#performHandshake(window));
    });
  }

  get document(): NotebookDocument {
    return this.session.document;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/#token=${this.#gate.issue()}`;
  }

  get windows(): number {
    return this.#sockets.clients.size;
  }

  async open(): Promise<this> {
    await this.session.start();
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async close(): Promise<void> {
    this.dropWindows();
    this.#widgets.close();
    await this.#trust.close();
    await this.session.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  dropWindows(): void {
    for (const window of this.#sockets.clients) window.terminate();
  }

  setFile(file: FileState): void {
    this.file = file;
    this.#tellAll({ type: 'file', file });
  }

  setAgents(agents: readonly ConnectedAgent[]): void {
    this.agents = agents;
    this.#tellAll({ type: 'agents', agents });
  }

  setLease(lease: LeaseState): void {
    this.lease = lease;
    this.#tellAll({ type: 'lease', lease });
  }

  setTools(tools: ToolAccess | null): void {
    this.tools = tools;
    this.#tellAll({ type: 'tools', tools });
  }

  #performHandshake(window: WebSocket): void {
    const by = personAt(++this.#lastWindow);
    const disconnectAgent = async (agentId: string) => this.setAgents(this.agents.filter(({ id }) => id !== agentId));
    const widgets = this.#widgets.join((news) => window.send(JSON.stringify({ type: 'widgets', news })));
    const perform = createActions({
      session: this.session,
      file: undefined,
      codeTools: undefined,
      kernels: undefined,
      folder: undefined,
      widgets,
      by,
      disconnectAgent,
      lease: undefined,
    });
    window.on('close', () => widgets.close());
    window.on('message', (data) => {
      const { id, action } = parseViewerMessage(String(data));
      this.asked.push(action);
      const answer = (message: HostMessage) => window.send(JSON.stringify(message));
      Promise.resolve()
        .then(() => (this.#isStaged(action) ? undefined : perform(action)))
        .then((value) => answer({ type: 'done', id, ...(value === undefined ? {} : { value }) }))
        .catch((error: unknown) =>
          answer({ type: 'failed', id, code: (error as { code?: string }).code ?? 'internal', message: messageOf(error) }),
        );
    });
    const { session } = this;
    const { state, info } = this.kernel;
    const hello: HostMessage = {
      type: 'hello',
      title: this.#title,
      document: session.document.snapshot(),
      kernel: { ...info, state },
      choice: null,
      running: session.running ?? null,
      queued: session.queued,
      questions: session.questions.open,
      journal: session.journal.entries,
      agents: this.agents,
      lease: this.lease,
      tools: this.tools,
      file: this.file,
      path: null,
      life: 'the only one',
      readOnly: session.readOnly,
      you: by.name,
      durations: session.durations,
      now: Date.now(),
      outputsTrusted: this.#trust.isTrusted,
      ranHere: this.#trust.ranHere,
    };
    window.send(JSON.stringify(hello));
  }

  /** There is no file and no grant here: a test says how they stand. */
  #isStaged(action: ViewerAction): boolean {
    if (action.do === 'trustOutputs') this.#trust.set(action.trusted);
    if (action.do === 'setToolAccess' && this.tools) this.setTools({ ...this.tools, allowed: action.allowed });
    if (action.do === 'save' || action.do === 'resolveConflict') this.setFile({ kind: 'saved' });
    return ['trustOutputs', 'setToolAccess', 'save', 'resolveConflict', 'answerTakeOver', 'setMayHold'].includes(action.do);
  }

  #tellAll(message: HostMessage): void {
    const text = JSON.stringify(message);
    for (const window of this.#sockets.clients) window.send(text);
  }

  async #serve(url: string): Promise<[status: number, type: string, body: string | Buffer, csp?: string]> {
    const { pathname } = new URL(url, 'http://host');
    this.fetched.push(pathname);
    const name = pathname === '/' ? 'index.html' : pathname.slice(1);
    if (!/^[\w.-]+$/.test(name)) return [404, 'text/plain', ''];
    try {
      if (pathname === sandboxedPath) {
        const page = await readFile(join(await builtUi(), name));
        return [200, 'text/html', page, sandboxedHeaders['content-security-policy'] ?? ''];
      }
      const body = await readFile(join(await builtUi(), name));
      const nonce = crypto.randomUUID();
      const type = types[extname(name)] ?? 'text/plain';
      return [200, type, type === 'text/html' ? String(body).replace('__NONCE__', nonce) : body, policy(nonce)];
    } catch {
      return [404, 'text/plain', ''];
    }
  }
}

export function openHost(options: TestHostOptions): Promise<TestHost> {
  return new TestHost(options).open();
}
