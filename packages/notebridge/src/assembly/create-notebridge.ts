import type { Tool } from '@notebridge/protocol/core/mcp';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import type { ToolServers } from '@notebridge/protocol/core/tool-server';
import { assertAllowedNames } from '@notebridge/system/net/allowed-names';
import { describeServers, type HubReport } from '../catalog/describe-servers.js';
import { createToolNaming } from '../catalog/tool-naming.js';
import type { Config } from '../config/config.js';
import { type StdioDoor, type StdioOptions, serveStdio } from '../doors/mcp/stdio.js';
import { McpHost } from '../reference/mcp-host.js';
import { Closers } from './closers.js';
import type { ClusterOfHub } from './cluster/cluster-of-hub.js';
import type { ClusterView } from './cluster/open-cluster.js';
import type { OpenCodeMode } from './code-mode/code-mode.js';
import { ConfigEdits, followConfig } from './config-edits.js';
import type { ConfigServers } from './config-servers.js';
import type { HttpDoors } from './http-doors.js';
import { createHubGuard, type HubGuard } from './hub-guard.js';
import { createCluster, createServers, withCodeExposure, withCodeMode } from './load-parts.js';
import { findNotebook } from './notebooks/kinds.js';
import { NotebookPlace, namesOfTools, type OpenedNotebook, type OpenNotebook } from './notebooks/open-notebook.js';
import { toNotebookOpener } from './notebooks/to-opener.js';
import { OneAgent } from './one-agent.js';
import type { NotebridgeOptions } from './options.js';
import { readSettings, type Settings } from './settings.js';

/** Hub, servers, notebook and doors, put together. */
export interface Notebridge {
  /** What the doors of a library user's own hand messages to. */
  readonly hub: McpHost;
  /** The servers of the config, with the skills. */
  readonly servers: ToolServers;
  /** The notebook; undefined before `start`, and where there is none. */
  readonly notebook: OpenedNotebook | undefined;
  /** Address of the HTTP doors; undefined before `start`, and where there are none. */
  readonly url: string | undefined;
  /** The cluster of this hub, and the names of its hubs as far as they are known, this one first. Undefined: this hub is alone. */
  readonly cluster: ClusterView | undefined;
  /** How long `drain` lets calls end. Milliseconds; 0 without HTTP doors. */
  readonly drainMs: number;
  /** An address that opens the owner's console in a browser, once, within 15 minutes: a secret until then. Undefined without HTTP doors. */
  newConsoleAddress(): string | undefined;
  /**
   * Opens everything but the stdio door. Rejects with `port_in_use`, `write_failed`, or as the notebook does; whatever was opened by then
   * is closed with `close`.
   */
  start(): Promise<void>;
  /** Starts the servers that are not lazy. Resolves when each runs or was given up. Never rejects. */
  startServers(): Promise<void>;
  /** Serves one agent over stdio, from now on. */
  serveStdio(options?: Pick<StdioOptions, 'input' | 'output'>): StdioDoor;
  /** All servers with what is known of their tools, and how these are called. Starts and asks nothing. */
  describe(): HubReport;
  /** Begins no more calls of the HTTP doors, and lets those that run end, for `drainMs` or until the signal. Twice is harmless. Never rejects. */
  drain(signal?: AbortSignal): Promise<void>;
  /** Closes everything that was opened, in the opposite order, the log last; a hub of a cluster drains first. Closing twice is harmless. */
  close(): Promise<void>;
}

/** Reads the config that it is told of. Nothing is opened before `start`. Rejects with `bad_config`, `bad_middleware` or `bad_usage`. */
export async function createNotebridge(options: NotebridgeOptions = {}): Promise<Notebridge> {
  for (const names of [options.http, options.pages]) assertAllowedNames(names ?? {});
  const openNotebook = toNotebookOpener(options.notebook ?? 'none');
  const read = await readSettings(options);
  const config = withCodeMode(read.config, options.codeMode);
  const codeModeTools = config.codeMode.enabled ? await loadCodeModeTools(config) : undefined;
  const settings = codeModeTools === undefined ? read : { ...read, config: withCodeExposure(config) };
  const cluster = await createCluster(settings, options);
  const agent = options.oneAgent === true ? new OneAgent() : undefined;
  const servers = await createServers(settings, options, { isCodeMode: codeModeTools !== undefined, cluster, agent });
  return new Assembly({ options, settings, written: read.config, openNotebook, servers, codeModeTools, cluster, agent });
}

async function loadCodeModeTools({ codeMode }: Config): Promise<readonly Tool[]> {
  return (await import('@notebridge/code-mode/code-mode-tools')).codeModeTools(codeMode);
}

const noServers: ToolServers = { all: () => [], get: () => undefined, subscribe: () => () => {} };

interface Parts {
  options: NotebridgeOptions;
  settings: Settings;
  /** The config as its file has it, without what the command line says. */
  written: Config;
  openNotebook: OpenNotebook | undefined;
  servers: ConfigServers | undefined;
  /** Undefined: agents call tools one by one. */
  codeModeTools: readonly Tool[] | undefined;
  /** Undefined: this hub is alone. */
  cluster: ClusterOfHub | undefined;
  /** Undefined: it may serve several. */
  agent: OneAgent | undefined;
}

class Assembly implements Notebridge {
  readonly hub: McpHost;
  readonly servers: ToolServers;
  readonly #parts: Parts;
  readonly #place = new NotebookPlace();
  readonly #guard: HubGuard;
  readonly #closers = new Closers();
  readonly #edits = new ConfigEdits();
  #doors: HttpDoors | undefined;
  #drained: Promise<void> | undefined;
  #codeMode: OpenCodeMode | undefined;

  constructor(parts: Parts) {
    const { settings, servers, codeModeTools, cluster, agent } = parts;
    const { serverInfo, logger, middlewares, recorder, telemetry } = settings;
    const guard = createHubGuard(settings, { servers, place: this.#place, codeModeTools, cluster: cluster?.cluster });
    this.#parts = parts;
    this.#guard = guard;
    this.servers = servers ?? noServers;
    this.hub = new McpHost({
      serverInfo,
      logger,
      logLevels: servers?.logLevels,
      mayHear: (principal, event) => guard.admission.rightsOf(principal).mayHear(event),
      whileLive: guard.whileLive,
    });
    cluster?.routeStates(this.hub);
    // Before the layers that look up names: that starts servers.
    if (agent !== undefined && servers !== undefined) this.hub.addMiddleware(agent.middleware(() => this.startServers()));
    // The guard sees what really came; the user's own layers see every message as the agent does.
    this.hub.addMiddleware(guard.middleware);
    if (servers !== undefined) this.hub.addMiddleware(createToolNaming(servers.provider));
    for (const middleware of middlewares) this.hub.addMiddleware(middleware);
    this.#closers.add(() => logger.close?.());
    // The calls that end with the hub are in it.
    this.#closers.add(() => telemetry?.close());
    this.#closers.add(() => cluster?.close());
    this.#closers.add(() => guard.close());
    // What the servers and the agent say at their end is in it.
    this.#closers.add(() => recorder?.close());
    this.#closers.add(() => servers?.close());
    this.#closers.add(() => this.hub.close());
  }

  get notebook(): OpenedNotebook | undefined {
    return this.#place.notebook;
  }

  get url(): string | undefined {
    return this.#doors?.url;
  }

  get cluster(): ClusterView | undefined {
    return this.#parts.cluster?.cluster.view;
  }

  get drainMs(): number {
    const { cluster, options, settings } = this.#parts;
    return cluster?.cluster.drainMs ?? (options.http === undefined ? 0 : settings.config.drainMs);
  }

  newConsoleAddress(): string | undefined {
    return this.#doors?.newConsoleAddress();
  }

  /** The port before notebook and servers: of two hubs on one port the second starts nothing, but what a cluster lets it take: it gives that back. */
  async start(): Promise<void> {
    await this.#parts.cluster?.start(() => this.#doors);
    await this.#openDoors();
    await this.#openCodeMode();
    await this.#attachNotebook();
    await this.#keepNames(this.#parts.settings.config);
    this.#offerServers();
    await this.#announce();
  }

  async startServers(): Promise<void> {
    await this.#parts.servers?.start();
  }

  serveStdio(streams: Pick<StdioOptions, 'input' | 'output'> = {}): StdioDoor {
    const { config, recorder } = this.#parts.settings;
    const { maxMessageBytes: maxMessageLength, maxInFlight } = config.limits;
    return serveStdio(this.hub, { ...streams, maxMessageLength, maxInFlight, record: recorder?.record });
  }

  describe(): HubReport {
    const { codeModeTools } = this.#parts;
    const policy = this.#guard.policy();
    return {
      servers: describeServers(this.servers, (server, tool) => policy.asksAbout(server, tool)),
      policy: {
        code_mode: codeModeTools !== undefined,
        approvals: policy.isOn,
        owner_can_approve: this.#doors !== undefined,
      },
    };
  }

  drain(signal?: AbortSignal): Promise<void> {
    this.#drained ??= this.#drain(signal);
    return this.#drained;
  }

  async #drain(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return;
    const { cluster } = this.#parts;
    const work = Promise.all([cluster?.drain(), this.#doors?.drain(this.drainMs)]);
    const aborted = signal && new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await Promise.race([work, ...(aborted === undefined ? [] : [aborted])]);
  }

  async close(): Promise<void> {
    // Others take over.
    if (this.#parts.cluster !== undefined) await this.drain();
    await this.#closers.close();
  }

  async #openDoors(): Promise<void> {
    const { options, settings, servers } = this.#parts;
    if (options.http === undefined || servers === undefined) return;
    const { openHttpDoors } = await import('./http-doors.js');
    const guard = { ...this.#guard, store: await this.#guard.open() };
    const doors = await openHttpDoors(options.http, {
      settings,
      hub: this.hub,
      servers,
      guard,
      cluster: this.#parts.cluster,
      endSession: (sessionId) => {
        void servers.endSession(sessionId);
        this.notebook?.endSession?.(sessionId);
        this.#codeMode?.endSession(sessionId);
      },
      adoptSession: (sessionId) => this.notebook?.adoptSession?.(sessionId),
      describe: () => this.describe(),
      notebooks: () => this.notebook?.watched,
      edits: this.#edits,
    });
    this.#closers.add(() => doors.close());
    this.#doors = doors;
  }

  /** Before the notebook: where a page has tools of the same names, these are the ones that are listed. */
  async #openCodeMode(): Promise<void> {
    const { options, settings, servers, openNotebook, codeModeTools: tools } = this.#parts;
    if (tools === undefined || servers === undefined) return;
    const { openCodeMode } = await import('./code-mode/code-mode.js');
    const hasNotebook = openNotebook !== undefined;
    const codeMode = openCodeMode({
      settings,
      hub: this.hub,
      servers,
      guard: this.#guard,
      tools,
      hasNotebook,
      isShared: options.http !== undefined,
      sandbox: options.pages?.sandbox,
      kernelStarts: this.#doors?.kernelStarts,
    });
    this.#closers.add(() => codeMode.close());
    this.#codeMode = codeMode;
    this.hub.addProvider(codeMode.provider);
  }

  async #attachNotebook(): Promise<void> {
    const { options, settings, openNotebook, servers } = this.#parts;
    if (openNotebook === undefined) return servers && this.#addTasks(false);
    const notebook = await openNotebook({
      ...settings,
      pages: options.pages ?? {},
      pagePort: this.#doors?.pagePort,
      onRefused: (attempt) => this.#guard.refusals.add(attempt),
      findNotebook,
      openTools: servers && (() => this.#openTools(servers)),
      clusterPages: this.#parts.cluster?.pages,
      shareNotebooks: this.#parts.cluster && ((own) => this.#parts.cluster?.shareNotebooks(own) ?? own.directory),
    });
    // Code in the notebook gives its grant back before the servers and the grants are closed.
    this.#closers.add(() => notebook.close());
    this.#place.attach(notebook);
    await this.#addTasks(true);
    for (const middleware of notebook.middlewares) this.hub.addMiddleware(middleware);
    this.hub.addProvider(notebook.provider);
  }

  async #addTasks(hasRuns: boolean): Promise<void> {
    const { options, servers } = this.#parts;
    // `dynamic` is exactly the reference's behaviour, which has no tasks.
    if (options.pages?.list === 'dynamic') return;
    const { TaskMiddleware } = await import('../notebooks/runs/task-middleware.js');
    const emit = (event: ProviderEvent): void => this.hub.events.emit(event);
    this.hub.addMiddleware(new TaskMiddleware({ emit, servers: servers?.provider, hasRuns, calls: this.#doors?.calls }));
  }

  async #openTools(servers: ConfigServers) {
    const { CodeTools } = await import('./code-tools/code-tools.js');
    const { maxResultBytes } = this.#parts.settings.config.limits;
    const { open: openStore, delegate } = this.#guard;
    return new CodeTools({ hub: this.hub, servers, openStore, delegate, maxResultBytes });
  }

  /** A server whose names have no prefix leaves the notebook and code mode their own. Asked for only then: else a start would pay for it. */
  async #keepNames({ servers: configs }: Config): Promise<void> {
    const { servers, codeModeTools = [] } = this.#parts;
    const { notebook } = this.#place;
    if (servers === undefined || servers.takenNames !== undefined || !configs.some(({ names }) => names === 'plain')) return;
    const ofNotebook = notebook === undefined ? [] : await namesOfTools(notebook);
    servers.takenNames = new Set([...ofNotebook, ...codeModeTools.map(({ name }) => name)]);
  }

  /** Does not wait until they run: a list of tools does. */
  #offerServers(): void {
    const { options, settings, servers, agent } = this.#parts;
    if (servers === undefined) return;
    this.hub.addProvider(servers.provider);
    const { startServers = true, followConfig: wantsEdits = true } = options;
    const { file = this.#parts.written.awaited } = this.#parts.written;
    if (wantsEdits !== false && file !== undefined) {
      const logger = wantsEdits === true ? settings.logger : wantsEdits.logger;
      const { written, codeModeTools } = this.#parts;
      const watch = followConfig(file, { ...settings, config: written, logger, edits: this.#edits }, async (edited) => {
        const changed = codeModeTools === undefined ? edited : withCodeExposure(edited);
        this.#guard.follow(changed);
        await this.#keepNames(changed);
        // Not until they run: the next edit may take back one that hangs.
        void servers.change(changed);
      });
      this.#closers.add(() => watch.close());
    }
    if (startServers && agent === undefined) void this.startServers();
  }

  /** From now on kernels and the user's other commands find the hub; agents that came before are notified that there is more. */
  async #announce(): Promise<void> {
    const { options, settings } = this.#parts;
    if (this.#doors === undefined) return;
    this.hub.sendToolListChanged();
    if (options.sharedDir !== undefined) {
      const { openSharedFolder } = await import('./shared-folder.js');
      const { toolProxyUrl: hubUrl } = this.#doors;
      const shared = openSharedFolder({ dir: options.sharedDir, servers: this.servers, hubUrl, logger: settings.logger });
      this.#closers.add(() => shared.close());
    }
    this.#parts.cluster?.cluster.membership.setAddresses(this.#doors);
    const file = await this.#doors.writeAddress();
    this.#closers.add(() => file.remove());
  }
}
