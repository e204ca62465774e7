import { join } from 'node:path';
import { currentSkillsServer, skillsCallerRevision } from '@notebridge/code-mode/skills/proxy-caller';
import type { SavedSkillShelf } from '@notebridge/code-mode/skills/saved-skills';
import type { SkillFolder } from '@notebridge/code-mode/skills/skill-folder';
import { createSkillsServer, type SkillsServer } from '@notebridge/code-mode/skills/skills-server';
import { LogLevels } from '@notebridge/protocol/core/log-levels';
import { MemoryToolServers } from '@notebridge/protocol/core/memory-tool-server';
import type { ToolServer, ToolServerEvent, ToolServers } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { Redactor } from '@notebridge/protocol/util/redactor';
import { secretsOfVariable } from '@notebridge/protocol/util/secrets';
import { emptyFolderIn } from '@notebridge/system/files/empty-folder';
import type { Environment } from '@notebridge/system/processes/environment';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { ServerTools } from '../catalog/server-tools.js';
import type { Config } from '../config/config.js';
import { userConfigFile } from '../config/load-config.js';
import type { Telemetry } from '../telemetry/outgoing-calls.js';
import type { OpenLink } from '../upstreams/link.js';
import { Logins } from '../upstreams/oauth/logins.js';
import { openLink } from '../upstreams/open-link.js';
import type { SoleAgent } from '../upstreams/sole-agent.js';
import { createUpstreams, type Upstreams } from '../upstreams/upstreams.js';
import type { SessionRecorder } from './settings.js';

export interface OpenServersOptions {
  config: Config;
  logger: Logger;
  redactor: Redactor;
  serverInfo: JsonObject;
  recorder?: Pick<SessionRecorder, 'record'> | undefined;
  telemetry?: Pick<Telemetry, 'follow'> | undefined;
  /** Where it is kept which era each server speaks. Default: nowhere. */
  stateDir?: string | undefined;
  /** Where the user's own folders are. */
  env: Environment;
  /** A folder of which `skills` is looked through besides those of the config. Absolute. */
  sharedDir?: string | undefined;
  /** The skills are there for code in any case. Default false. */
  isCodeMode?: boolean | undefined;
  /** In a cluster: the servers as all its hubs have them. Default: each runs here. */
  place?: ((servers: PlaceableServers) => PlaceableServers & { close(): Promise<void> }) | undefined;
  /** The process serves one agent alone. Default: it may serve several. */
  soleAgent?: SoleAgent | undefined;
  /** Servers of the program itself. One of the same name in the config is not reached. */
  own?: readonly ToolServer[] | undefined;
}

/** Servers of which agents' sessions may have something of their own. */
export type PlaceableServers = ToolServers & { endSession(sessionId: string): Promise<void> };

/** Longer than any hub lives; a timer can wait no longer. */
const neverMs = 2 ** 31 - 1;

/** The servers of a config, with those of the program itself: upstreams, and the skills. Nothing runs before `start`, or a call. */
export class ConfigServers implements ToolServers {
  /** For agents: the same tools as `server__tool`. */
  readonly provider: ServerTools;
  /** Which log lines agents have asked for: the hub says it to the servers. */
  readonly logLevels = new LogLevels();
  readonly #options: OpenServersOptions;
  /** Undefined: there are none. */
  readonly #own: MemoryToolServers | undefined;
  readonly #upstreams: Upstreams;
  readonly #placed: PlaceableServers & { close(): Promise<void> };
  readonly #skills: SkillsServer;
  readonly #events = new Listeners<ToolServerEvent>();
  takenNames: ReadonlySet<string> | undefined;
  readonly #isCounted: boolean;
  #changes = 0;
  #hasSkills: boolean;

  constructor(options: OpenServersOptions) {
    const { config, logger, redactor, serverInfo, stateDir, env, recorder, telemetry } = options;
    const { callTimeoutMs, answerTimeoutMs, startTimeoutMs, maxMessageBytes, idleStopMs } = config.limits;
    this.#options = options;
    const lazyIdleMs = idleStopMs === 0 ? neverMs : idleStopMs;
    const limits = { callTimeoutMs, answerTimeoutMs, startTimeoutMs, maxMessageBytes, lazyIdleMs };
    const erasFile = stateDir === undefined ? undefined : join(stateDir, 'server-eras.json');
    this.#upstreams = createUpstreams({
      servers: config.servers,
      logger,
      redactor,
      clientInfo: serverInfo,
      limits,
      erasFile,
      logLevels: this.logLevels,
      env,
      follow: telemetry?.follow,
      soleAgent: options.soleAgent,
      // The cluster decides where its one server runs.
      ...(options.place !== undefined && { mayStart: ({ placement }) => placement !== 'one' }),
      openLink: recordedBy(recorder, stateDir === undefined ? openLink : beginningIn(stateDir)),
      logins: new Logins({ stateDir, redactor, clientName: 'Notebridge', commandOptions: configOptions(options) }),
    });
    this.#own = options.own === undefined || options.own.length === 0 ? undefined : new MemoryToolServers(options.own);
    this.#own?.subscribe((event) => this.#notify(event));
    this.#placed = options.place?.(this.#upstreams) ?? this.#upstreams;
    this.#placed.subscribe((event) => {
      if (this.#own?.get(event.server) === undefined) this.#notify(event);
    });
    // A program's own may change without a word, and so does what a cluster has somewhere.
    this.#isCounted = options.place === undefined && this.#own === undefined;
    const folders = this.#foldersOf(config);
    this.#knowSkillSecrets(folders);
    const { isCodeMode = false } = options;
    this.#hasSkills = isCodeMode || folders.length > 0;
    this.#skills = createSkillsServer({ folders, logger, isCodeMode });
    this.provider = new ServerTools({ servers: this, logger, configFile: config.file });
  }

  all(): readonly ToolServer[] {
    const skills = this.#currentSkills;
    const upstreams = this.#placed.all().filter(({ name }) => this.#own?.get(name) === undefined);
    return [...(this.#own?.all() ?? []), ...upstreams, ...(skills === undefined ? [] : [skills])];
  }

  get(name: string): ToolServer | undefined {
    const upstream = this.#own?.get(name) ?? this.#placed.get(name);
    if (upstream !== undefined) return upstream;
    const skills = this.#currentSkills;
    return skills?.name === name ? skills : undefined;
  }

  subscribe(listener: (event: ToolServerEvent) => void): () => void {
    return this.#events.add(listener);
  }

  get revision(): number | undefined {
    return this.#isCounted ? this.#changes + skillsCallerRevision() : undefined;
  }

  /** Starts all that are not lazy. Resolves when each runs or was given up. Never rejects. */
  start(): Promise<void> {
    return this.#upstreams.start();
  }

  /** Takes another config: only what changed is started, stopped or restarted. Never rejects. */
  async change(config: Config): Promise<void> {
    const folders = this.#foldersOf(config);
    this.#knowSkillSecrets(folders);
    this.#skills.setFolders(folders);
    const hadSkills = this.#hasSkills;
    this.#hasSkills = this.#options.isCodeMode === true || folders.length > 0;
    if (hadSkills !== this.#hasSkills) this.#notify({ server: this.#skills.name, kind: this.#hasSkills ? 'added' : 'removed' });
    await this.#upstreams.reconcile(config.servers);
  }

  /** The skills that code saves, from now on. */
  setSkillShelf(shelf: SavedSkillShelf): void {
    this.#skills.setShelf(shelf);
  }

  /** An agent's session has ended, and with it what was started for it alone. */
  endSession(sessionId: string): Promise<void> {
    return this.#placed.endSession(sessionId);
  }

  /** Ends all of them with their whole trees. Closing twice is harmless. */
  async close(): Promise<void> {
    // What is placed ends first, and is released when its program has ended; all the others end meanwhile.
    await Promise.all([this.#placed.close(), this.#upstreams.close(), this.#skills.close()]);
  }

  #notify(event: ToolServerEvent): void {
    if (event.kind !== 'notification') this.#changes++;
    this.#events.emit(event);
  }

  get #currentSkills(): ToolServer | undefined {
    return currentSkillsServer(this.#hasSkills ? this.#skills : undefined);
  }

  #knowSkillSecrets(folders: readonly SkillFolder[]): void {
    const variables = folders.flatMap(({ env }) => Object.entries(env));
    this.#options.redactor.replace(
      'skills',
      variables.flatMap(([name, value]) => secretsOfVariable(name, value)),
    );
  }

  #foldersOf(config: Config): SkillFolder[] {
    const { sharedDir } = this.#options;
    if (sharedDir === undefined) return config.skills;
    // Code in kernels may write there: what it puts down may be read, and is not run.
    return [...config.skills, { path: join(sharedDir, 'skills'), below: sharedDir, trusted: false, timeoutMs: 60_000, env: {} }];
  }
}

/** Servers without a folder of their own begin in an empty one. */
function beginningIn(stateDir: string): OpenLink {
  return async (config, options) => {
    if (config.transport !== 'stdio' || config.cwd !== undefined) return openLink(config, options);
    return openLink({ ...config, cwd: emptyFolderIn(stateDir, { uid: ownUserId() }) }, options);
  };
}

/** Reaches servers as always, and records what is said. */
function recordedBy(recorder: Pick<SessionRecorder, 'record'> | undefined, openLink: OpenLink): OpenLink {
  if (recorder === undefined) return openLink;
  const { record } = recorder;
  return async (config, options) => {
    const link = await openLink(config, options);
    return {
      channel: record(link.channel, { name: `server:${config.name}`, we: 'client' }),
      pid: link.pid,
      setProtocolVersion: (version) => link.setProtocolVersion?.(version),
      close: () => link.close(),
    };
  };
}

/** What another command needs to read the same config. */
function configOptions({ config: { file }, env }: OpenServersOptions): string[] {
  return file === undefined || file === userConfigFile(env) ? [] : ['--config', file];
}
