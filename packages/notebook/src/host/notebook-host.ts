import { basename, dirname, resolve } from 'node:path';
import { nearest } from '@notebridge/protocol/util/did-you-mean';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { openSandbox } from '../kernel/open-sandbox.js';
import type { CodeReach } from '../kernels/allowed-reach.js';
import { createFoundKernel } from '../kernels/create-kernel.js';
import { openFinder } from '../kernels/find-usable.js';
import type { FoundKernel } from '../kernels/found-kernel.js';
import type { KernelChoice } from '../kernels/kernel-choice.js';
import type { KernelFinder } from '../kernels/kernel-finder.js';
import { type KernelSetup, NotebookKernels } from '../kernels/notebook-kernels.js';
import { createPyodideReach } from '../kernels/pyodide-reach.js';
import { createDocument, type NotebookDocument } from '../model/document.js';
import { NotebookError } from '../model/errors.js';
import { createImageScaler } from '../outputs/scale-image.js';
import { HostError, stackOf } from '../session/host-error.js';
import { createNotebookSession, type NotebookSession } from '../session/session.js';
import { createNotebookTools } from '../tools/notebook-tools.js';
import type { NotebookTool, ToolContext, ToolResult } from '../tools/tool.js';
import { type ConnectedAgent, type FileState, whyUnsaved } from '../viewer/protocol.js';
import { type BesideHost, BesideHosts } from './beside-hosts.js';
import { FileStore } from './file-store.js';
import { HeadlessWindow } from './headless-window.js';
import { notebookFolder } from './notebook-folder.js';
import type { NotebookHostOptions } from './notebook-host-options.js';
import { openWindowsPort, type WindowsPort } from './open-windows-port.js';
import { OutputTrust } from './output-trust.js';
import type { LeaseDesk } from './viewer-actions.js';
import { ViewerWindows } from './viewer-windows.js';

/** A window tries again more often. Milliseconds. */
const comesBackMs = 5000;

/** Everything that lives between start and close. */
interface Parts {
  file: FileStore | undefined;
  session: NotebookSession;
  kernels: NotebookKernels | undefined;
  trust: OutputTrust;
  tools: readonly NotebookTool[];
  windows: ViewerWindows;
  port: WindowsPort;
}

/** A notebook with its file, its kernel and its windows. Document, kernel and file live here; windows come and go. */
export class NotebookHost implements AsyncDisposable {
  readonly #options: NotebookHostOptions;
  readonly #logger: Logger;
  readonly #disconnects = new Listeners<string>();
  #starting: Promise<Parts> | undefined;
  #parts: Parts | undefined;
  #closing: Promise<void> | undefined;
  readonly #beside = new BesideHosts((file) => this.#createBeside(file));
  /** The notebook's, by its real path once the file is open: a link that takes its place later leads no kernel anywhere. */
  #folder: string;

  constructor(options: NotebookHostOptions) {
    this.#options = options;
    this.#folder = options.file === undefined ? process.cwd() : dirname(resolve(options.file));
    this.#logger = options.logger ?? silentLogger;
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

  get url(): string {
    return this.newUrl();
  }

  /** Where a window opens: for the person's own browser only. Its token opens one window, once, within 15 minutes, or so many milliseconds. */
  newUrl(lifeMs?: number): string {
    const code = this.#started.port.server.issueCode(lifeMs);
    this.#options.onSecret?.(code);
    return `http://localhost:${this.port}/#token=${code}`;
  }

  get port(): number {
    return this.#started.port.server.port;
  }

  get session(): NotebookSession {
    return this.#started.session;
  }

  /** Which kernel runs the code, why, and what it can do. Undefined for a kernel of the caller's. */
  get kernelChoice(): KernelChoice | undefined {
    return this.#started.kernels?.choice;
  }

  /** What code may reach by now: `files` and `allowNet`, with what a person has allowed in a window. Undefined for a kernel of the caller's. */
  get reach(): CodeReach | undefined {
    return this.#parts?.kernels?.reach;
  }

  /** Whether this is the kernel that `--kernel` names so, in whatever spelling. */
  isUsing(kernel: string): boolean {
    return this.#parts?.kernels?.isUsing(kernel) ?? false;
  }

  /** The kernel that an agent which joins has asked for, as `--kernel` takes it: where it is another one, the person is asked. */
  async offerKernel(wanted: string): Promise<void> {
    await this.#parts?.kernels?.offer(wanted);
  }

  /** What agents can call. */
  get tools(): readonly NotebookTool[] {
    return this.#started.tools;
  }

  get openWindows(): number {
    return this.#parts?.windows.count ?? 0;
  }

  /**
   * Whether a window that was open when the program before this one ended has come back by itself: asked before another one is opened. Waits
   * five seconds for one, and not at all where none was open.
   */
  async windowIsBack(): Promise<boolean> {
    const { port, windows } = this.#started;
    if (port.awaitsWindow) await windows.untilOne(comesBackMs);
    if (windows.count === 0 && this.#closing === undefined) port.note(false);
    return windows.count > 0;
  }

  /** Why the file does not have what the notebook has; undefined where it has, or will in a moment. */
  get whyUnsaved(): string | undefined {
    return whyUnsaved(this.fileState);
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
    this.#started.windows.setAgents(agents);
  }

  /** Who decides which of its agents writes, for its windows; `showLease` after each change. Default: agents are not kept apart. */
  setLease(lease: LeaseDesk): void {
    this.#started.windows.setLease(lease);
  }

  showLease(): void {
    this.#parts?.windows.showLease();
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
    const { file: path, limits = {}, timing = {}, isRealFile: isReal, title = basename(path ?? 'Untitled') } = options;
    if (options.kernel === undefined && options.sandbox === 'require') await assertSandbox();
    const finder = options.kernel ? undefined : await openFinder({ ...options.kernels, folder: this.#folder });
    const file = path === undefined ? undefined : await FileStore.open({ path, isReal, limits, timing, cellIds: options.cellIds, logger });
    if (file) this.#folder = dirname(file.path);
    const document = file?.document ?? createDocument(undefined, limits);
    let session: NotebookSession | undefined;
    let windows: ViewerWindows | undefined;
    let trust: OutputTrust | undefined;
    try {
      const kernels = finder && (await this.#openKernels(document, finder));
      const kernel = options.kernel ?? kernels?.kernel;
      if (!kernel) throw new Error('There is no kernel');
      session = createNotebookSession({
        document,
        kernel,
        title,
        readOnly: options.readOnly ?? false,
        ...(kernels ? { describeKernel: () => kernels.describe() } : {}),
      });
      kernels?.attach(session);
      const onDisconnectAgent = async (agentId: string) => this.#disconnects.emit(agentId);
      const folder = file && notebookFolder(file.path, (path) => this.#beside.open(path));
      const { tools: codeTools, windowLimits: limits } = options;
      trust = await OutputTrust.open({ document, path: file?.path, kept: options.trustedOutputs, logger });
      const headless = new HeadlessWindow({ program: options.headless, newUrl: () => this.newUrl() });
      windows = new ViewerWindows({ headless, session, file, folder, kernels, trust, title, logger, limits, onDisconnectAgent, codeTools });
      const tools = createNotebookTools(session, {
        onFault: (error) => logger.error('A tool failed.', { error: stackOf(error) }),
        scaleImage: createImageScaler(),
        drawChart: async (output) => windows?.pictures.draw(output),
        ...(file ? { whyUnsaved: () => whyUnsaved(file.state), fileNote: () => file.note } : {}),
      });
      const port = await this.#openPort(windows, session, file?.path);
      return { file, session, kernels, trust, tools, windows, port };
    } catch (error) {
      await windows?.close();
      await session?.close();
      await trust?.close();
      await file?.close();
      throw error;
    }
  }

  #openKernels(document: NotebookDocument, finder: KernelFinder): Promise<NotebookKernels> {
    const { file, sandbox, files, allowNet, ours, runs, tools, kernels, isByPerson } = this.#options;
    const { folder, logger } = { folder: this.#folder, logger: this.#logger };
    const findReach = createPyodideReach({ files, allowNet: allowNet ?? [], folder, hasFile: file !== undefined, ours });
    const reach = (isAttended: boolean) => findReach(isAttended || isByPerson === true);
    const create = (found: FoundKernel, { isAttended, ...setup }: KernelSetup) =>
      createFoundKernel(found, { folder, file, tools, ...setup, ours, runs, reach: () => reach(isAttended), logger });
    return NotebookKernels.open({
      ...kernels,
      folder,
      finder,
      metadata: document.metadata,
      sandbox,
      files,
      allowNet: allowNet ?? [],
      reach,
      create,
    });
  }

  async #openPort(windows: ViewerWindows, session: NotebookSession, notebook: string | undefined): Promise<WindowsPort> {
    const port = await openWindowsPort({
      ...this.#options,
      ...this.#options.windowLimits,
      notebook,
      logger: this.#logger,
      onWindow: (socket, isUnseen) => {
        windows.add(socket, { isUnseen });
        // A person who opens a window will run something soon. The first run reports why it cannot start.
        session.start().catch((error: unknown) => this.#logger.warn('The kernel did not start.', { error: messageOf(error) }));
      },
    });
    // Agents that end with the host come back to the next one.
    windows.onOpen = (isOpen) => this.#closing === undefined && port.note(isOpen);
    return port;
  }

  async #close(): Promise<void> {
    const parts = await this.#starting?.catch(() => undefined);
    this.#parts = undefined;
    if (!parts) return;
    const { file, session, trust, windows, port } = parts;
    // The windows hear that all is in the file, or why it is not: they cannot ask later.
    await file?.save().catch(() => {});
    // No new window is let in while the open ones are notified.
    const freed = port.server.close();
    try {
      await windows.close();
      await freed;
      await session.close();
      await trust.close();
    } finally {
      await Promise.all([this.#beside.close(), file?.close(), port.noted()]);
    }
  }

  #createBeside(file: string): BesideHost {
    const { createBeside, kernel, ...same } = this.#options;
    if (createBeside) return createBeside(file);
    if (kernel === undefined)
      return createNotebookHost({ ...same, file, isRealFile: true, isByPerson: true, title: undefined, tools: undefined, port: 0 });
    const text = `This window cannot open another notebook. Run: notebridge notebook ${JSON.stringify(file)}`;
    throw new HostError('not_openable_here', text);
  }
}

/** A notebook that is open as long as its host lives, with or without a window. */
export function createNotebookHost(options: NotebookHostOptions = {}): NotebookHost {
  return new NotebookHost(options);
}

function notStarted(): HostError {
  return new HostError('not_started', 'The notebook’s host is not started, or closed already.');
}

/** Now, and not when Python is needed: nothing else is opened without it. */
async function assertSandbox(): Promise<void> {
  try {
    await openSandbox('require');
  } catch (error) {
    throw new HostError('sandbox_unavailable', messageOf(error), { cause: error });
  }
}
