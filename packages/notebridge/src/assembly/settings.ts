import type { Middleware } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import type { RecordChannel } from '@notebridge/protocol/rpc/tapped-channel';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { type Redacting, Redactor } from '@notebridge/protocol/util/redactor';
import type { ClosableLogger } from '@notebridge/system/files/closable-logger';
import { ownVersion } from '@notebridge/system/files/own-files';
import type { Environment } from '@notebridge/system/processes/environment';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { type Config, defaultConfig } from '../config/config.js';
import { loadConfig } from '../config/load-config.js';
import { loadMiddlewareModules } from '../config/load-middleware.js';
import { heedRecord } from '../identity/heed-record.js';
import { RecentLog } from '../recent/recent-log.js';
import type { Telemetry } from '../telemetry/outgoing-calls.js';

/** What is read before anything is opened. */
export interface SettingsOptions {
  /** Path of the config file, or what was read from one. Default: no file is read, nor the one that the user's commands read. */
  config?: string | Config | undefined;
  /** Variables that the config may name, and where the user's own folders are. Default: those of this process. */
  env?: Environment | undefined;
  /** Folder of the owner's token, grants and audit. Default: `notebridge` in the user's XDG state folder. */
  stateDir?: string | undefined;
  /** Sent to agents as `serverInfo`: `name`, `version` … Default: Notebridge's own. */
  serverInfo?: JsonObject | undefined;
  /** Added inside those of the config. */
  middlewares?: readonly Middleware[] | undefined;
  /** Makes the log; what passes `redact` holds no secret. It is closed with the rest. Default: no log. */
  createLogger?: ((redactor: Redacting) => ClosableLogger) | undefined;
  /** Makes what records the connections with the agent on stdio, servers and pages. It is closed with the rest. Default: nothing is recorded. */
  createRecorder?: ((redactor: Redactor, logger: Logger) => SessionRecorder) | undefined;
}

/** Records connections until it is closed. */
export interface SessionRecorder {
  readonly record: RecordChannel;
  close(): void;
}

/** What is known before anything is opened. */
export interface Settings {
  config: Config;
  /** The user's own: of the config, then of the options. */
  middlewares: readonly Middleware[];
  env: Environment;
  stateDir: string;
  logger: ClosableLogger;
  /** The last lines of the log. */
  recentLog: RecentLog;
  redactor: Redactor;
  recorder: SessionRecorder | undefined;
  /** Undefined: nothing is measured of calls. */
  telemetry: Telemetry | undefined;
  serverInfo: JsonObject;
}

/** Reads the config and makes the log. Rejects with `bad_config` or `bad_middleware`. */
export async function readSettings(options: SettingsOptions): Promise<Settings> {
  const env = options.env ?? process.env;
  const dir = options.stateDir ?? stateDir(env);
  heedRecord(dir);
  const config = await readConfig({ ...options, env, stateDir: dir });
  const ofConfig = await loadMiddlewareModules(config.middleware, config.baseDir);
  const redactor = new Redactor();
  const recentLog = new RecentLog();
  const logger = recentLog.tee(options.createLogger?.(redactor) ?? silentLogger);
  for (const warning of config.warnings) logger.warn(warning);
  return {
    config,
    middlewares: [...ofConfig, ...(options.middlewares ?? [])],
    env,
    stateDir: dir,
    logger,
    recentLog,
    redactor,
    recorder: options.createRecorder?.(redactor, logger),
    telemetry: await openTelemetry(config, { redactor, logger }),
    serverInfo: options.serverInfo ?? ownServerInfo(),
  };
}

/** The config that a program gives, or names; without one what holds for everybody. Rejects with `bad_config`. */
export async function readConfig({
  config,
  env = process.env,
  stateDir,
}: Pick<SettingsOptions, 'config' | 'env' | 'stateDir'>): Promise<Config> {
  if (config === undefined) return defaultConfig(process.cwd());
  return typeof config === 'string' ? loadConfig({ file: config, env, stateDir }) : config;
}

/** Rejects with `bad_config` if this Node, or what is installed beside us, cannot send it. */
async function openTelemetry(
  { file, telemetry: { otlp } }: Config,
  { redactor, logger }: { redactor: Redactor; logger: Logger },
): Promise<Telemetry | undefined> {
  if (otlp === undefined) return undefined;
  const { loadOtlp } = await import('../telemetry/load-otlp.js');
  return loadOtlp({ settings: otlp, file, logger, redactor, version: ownVersion(), nodeVersion: process.versions.node });
}

export function ownServerInfo(): JsonObject {
  return { name: 'notebridge', title: 'Notebridge', version: ownVersion() };
}
