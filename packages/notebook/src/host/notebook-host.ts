import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nearest } from '@notebridge/kit/did-you-mean';
import { Listeners } from '@notebridge/kit/listeners';
import { type Logger, silentLogger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import { createToken } from '@notebridge/kit/token';
import type { Kernel } from '../kernel/kernel.js';
import { createNodeKernel } from '../kernel/node-kernel.js';
import { createDocument, type DocumentLimits } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import type { NotebookLimits } from '../model/nbformat.js';
import { openSandbox } from '../sandbox/sandbox.js';
import type { SandboxMode } from '../sandbox/spec.js';
import { createNotebookSession, type NotebookSession } from '../session.js';
import { createNotebookTools } from '../tools/notebook-tools.js';
import type { NotebookTool, ToolContext, ToolResult } from '../tools/tool.js';
import type { ConnectedAgent, FileState } from '../viewer/protocol.js';
import type { WindowAccess } from './admission.js';
import type { NotebookTools } from './agent-tools.js';
import { EntryCodes } from './entry-codes.js';
import { FileStore } from './file-store.js';
import { HostError } from './host-error.js';
import { OutputTrust } from './output-trust.js';
import type { SaveTiming } from './save-timer.js';
import type { TrustedOutputs } from './trusted-outputs.js';
import type { LinkLimits } from './viewer-link.js';
import { ViewerServer } from './viewer-server.js';
import { ViewerWindows } from './viewer-windows.js';

export interface NotebookHostOptions extends WindowAccess {
  /** The notebook's file, made if it is not there. Without one the notebook lives in memory only. */
  file?: string | undefined;
  /** What people call the notebook. Default: the name of the file. */
  title?: string | undefined;
  /** Agents may look only, until a person allows more. Default false. */
  readOnly?: boolean | undefined;
  /** The folder of the built UI. Default: `ui` beside this package's built code. */
  uiFolder?: string | undefined;
  /** Default: Python in a process of its own, begun with the first run or the first window. The host closes it. */
  kernel?: Kernel | undefined;
  /**
   * Whether Python of our own is in a sandbox of the operating system: `require` (else `start` rejects with `sandbox_unavailable`),
   * `auto` (where one works) or `off`. Default `auto`. What came of it: `session.kernel.layers`.
   */
  sandbox?: SandboxMode | undefined;
  /** What code in the notebook may call, and what windows show of it. The caller closes them, after the host. Default: nothing. */
  tools?: NotebookTools | undefined;
  /** Keeps which outputs with scripts a person trusts. Default: as long as the host lives. */
  trustedOutputs?: TrustedOutputs | undefined;
  limits?: (NotebookLimits & DocumentLimits) | undefined;
  timing?: Partial<SaveTiming> | undefined;
  windowLimits?: (Partial<LinkLimits> & { maxWindows?: number; maxMessageBytes?: number }) | undefined;
  logger?: Logger | undefined;
  /** Called with each new token, so that logs can be kept free of it. Default: none. */
  onSecret?: ((secret: string) => void) | undefined;
}

/** Everything that lives between start and close. */
interface Parts {
  file: FileStore | undefined;
  session: NotebookSession;
  trust: OutputTrust;
  tools: readonly NotebookTool[];
  windows: ViewerWindows;
  server: ViewerServer;
}

/** A notebook with its file, its kernel and its windows. Document, kernel and file live here; windows come and go. */
export class NotebookHost implements AsyncDisposable {
  readonly #options: NotebookHostOptions;
  readonly #logger: Logger;
  readonly #token = createToken();
  readonly #codes = new EntryCodes();
  readonly #disconnects = new Listeners<string>();
  #starting: Promise<Parts> | undefined;
  #parts: Parts | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: NotebookHostOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
    options.onSecret?.(this.#token);
  }

  /** Opens file and port. Rejects with a `HostError` or `NotebookError`, and leaves nothing behind. */
  async start(): Promise<void> {
    if (this.#closing !== undefined) throw notStarted();
    this.#starting ??= this.#open();
    try {
      this.#parts = await this.#starting;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
  }

  /**
   * Where a window opens: for the person's own browser only. Its token opens one window, once, within 15 minutes; each reading of this
   * property gives another one.
   */
  get url(): string {
    const { port } = this.#started.server;
    const code = this.#codes.issue();
    this.#options.onSecret?.(code);
    return `http://localhost:${port}/#token=${code}`;
  }

  get port(): number {
    return this.#started.server.port;
  }

  get session(): NotebookSession {
    return this.#started.session;
  }

  /** What agents can call. */
  get tools(): readonly NotebookTool[] {
    return this.#started.tools;
  }

  get openWindows(): number {
    return this.#parts?.windows.count ?? 0;
  }

  get fileState(): FileState {
    return this.#started.file?.state ?? { kind: 'none' };
  }

  /** Never rejects for an error of a tool: that is a result with `isError`. Rejects with `unknown_tool`. */
  async callTool(name: string, args: unknown, context: ToolContext = {}): Promise<ToolResult> {
    const { tools } = this.#started;
    const tool = tools.find((candidate) => candidate.name === name);
    if (tool) return tool.run(args, context);
    const names = tools.map((candidate) => candidate.name);
    const near = nearest(name, names, 3);
    const hint = near.length > 0 ? ` Nearest: ${near.join(', ')}.` : '';
    throw new NotebookError('unknown_tool', `The notebook has no tool ${JSON.stringify(name.slice(0, 100))}.${hint}`, { data: { near } });
  }

  /** Who is connected, as windows show it. */
  setAgents(agents: readonly ConnectedAgent[]): void {
    this.#started.windows.agents = agents;
  }

  /** Called when a person disconnects an agent; the owner of its connection ends it, and sets the agents again. */
  onDisconnectAgent(listener: (agentId: string) => void): () => void {
    return this.#disconnects.add(listener);
  }

  /** Saves now. Rejects with `conflict`, `not_saved` or `no_file`. */
  async save(): Promise<void> {
    const { file } = this.#started;
    if (!file) throw new HostError('no_file', 'This notebook has no file.');
    await file.save();
  }

  /** Saves, ends kernel and windows, frees port and lock. Rejects with `not_saved` if something is not in the file, when all is closed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #started(): Parts {
    if (!this.#parts) throw notStarted();
    return this.#parts;
  }

  async #open(): Promise<Parts> {
    const { options, logger } = { options: this.#options, logger: this.#logger };
    const { limits = {}, timing = {}, title = options.file === undefined ? 'Untitled' : basename(options.file) } = options;
    if (options.kernel === undefined && options.sandbox === 'require') await assertSandbox();
    const file = options.file === undefined ? undefined : await FileStore.open({ path: options.file, limits, timing, logger });
    const document = file?.document ?? createDocument(undefined, limits);
    const kernel = options.kernel ?? createNodeKernel({ tools: options.tools, sandbox: options.sandbox });
    const session = createNotebookSession({ document, kernel, title, readOnly: options.readOnly ?? false });
    const trust = await OutputTrust.open({ document, path: file?.path, kept: options.trustedOutputs, logger });
    const onDisconnectAgent = async (agentId: string) => this.#disconnects.emit(agentId);
    const windows = new ViewerWindows({
      session,
      file,
      trust,
      title,
      logger,
      limits: options.windowLimits,
      onDisconnectAgent,
      codeTools: options.tools,
    });
    const tools = createNotebookTools(session, { onFault: (error) => logger.error('A tool failed.', { error: stackOf(error) }) });
    try {
      const server = await this.#openServer(windows, session);
      return { file, session, trust, tools, windows, server };
    } catch (error) {
      await windows.close();
      await session.close();
      await trust.close();
      await file?.close();
      throw error;
    }
  }

  #openServer(windows: ViewerWindows, session: NotebookSession): Promise<ViewerServer> {
    const { uiFolder = fileURLToPath(new URL('../ui/', import.meta.url)), windowLimits } = this.#options;
    return ViewerServer.open({
      ...this.#options,
      ...windowLimits,
      token: this.#token,
      codes: this.#codes,
      uiFolder,
      logger: this.#logger,
      onWindow: (socket) => {
        windows.add(socket);
        // A person who opens a window will run something soon. The first run reports why it cannot start.
        session.start().catch((error: unknown) => this.#logger.warn('The kernel did not start.', { error: messageOf(error) }));
      },
    });
  }

  async #close(): Promise<void> {
    const parts = await this.#starting?.catch(() => undefined);
    this.#parts = undefined;
    if (!parts) return;
    const { file, session, trust, windows, server } = parts;
    // No new window is let in while the open ones are notified.
    const freed = server.close();
    try {
      await windows.close();
      await freed;
      await session.close();
      await trust.close();
    } finally {
      await file?.close();
    }
  }
}

/** A notebook that is open as long as its host lives, with or without a window. */
export function createNotebookHost(options: NotebookHostOptions = {}): NotebookHost {
  return new NotebookHost(options);
}

/** Now, and not when Python is needed: nothing else is opened without it. */
async function assertSandbox(): Promise<void> {
  try {
    await openSandbox('require');
  } catch (error) {
    throw new HostError('sandbox_unavailable', messageOf(error), { cause: error });
  }
}

function notStarted(): HostError {
  return new HostError('not_started', 'The notebook’s host is not started, or closed already.');
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
