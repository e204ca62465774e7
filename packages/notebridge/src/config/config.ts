import type { ClusterSettings } from '@notebridge/cluster/cluster-settings';
import { type CodeModeLimits, defaultCodeModeLimits, type TypeCheckMode } from '@notebridge/code-mode/execution/code-mode-limits';
import type { SkillFolder } from '@notebridge/code-mode/skills/skill-folder';
import type { DoorAuth } from './door-auth.js';
import type { ExchangeRule } from './exchange-rule.js';
import type { OtlpSettings } from './otlp-settings.js';
import type { ApprovalMode, ServerConfig } from './server-config.js';

/** Bounds of the hub. Every one is a whole number; times are in milliseconds. */
export const defaultLimits = {
  /** How long a tool call may take before it is given up. Default one hour. */
  callTimeoutMs: 3_600_000,
  /** How long an agent, and the person before it, may take to answer what a server asks in the middle of a call. Default 10 min. */
  answerTimeoutMs: 600_000,
  /** How long a call waits for a page that dropped to come back. 0 does not wait. Default 30 s. */
  graceMs: 30_000,
  /** The largest message that is read or sent. Default 64 MiB. */
  maxMessageBytes: 67_108_864,
  /** Calls under way at once; one more is refused. Default 1024. */
  maxInFlight: 1024,
  /** How long a page may take for its handshake. Default 5 s. */
  handshakeMs: 5000,
  /** How often a silent page is asked whether it lives. Default 20 s. */
  pingMs: 20_000,
  /** The largest result of a tool that code in a kernel is given. Default 64 MiB. */
  maxResultBytes: 67_108_864,
  /** The largest body of a request to an HTTP door. Default 16 MiB. */
  maxBodyBytes: 16_777_216,
  /** How long a server of the config may take to start and answer `initialize`. Default 30 s. */
  startTimeoutMs: 30_000,
  /** A `lazy` server is ended after so long without a call; the next call starts it anew. 0 keeps it, which is the default. */
  idleStopMs: 0,
  /** A stream of an agent of 2025-11-25 over HTTP is closed after so long, and the agent comes back for the rest. 0, the default: never. */
  pollAfterMs: 0,
};

export type Limits = typeof defaultLimits;

/** How calls are recorded. */
export const defaultAudit = {
  /** Absolute. Undefined: a file in the user's state folder. */
  file: undefined as string | undefined,
  /** Arguments as they are; else only their hash. Default false: they may hold secrets. */
  logArguments: false,
  /** A file that has grown to this size is put aside, and a new one begun. Default 10 MiB. */
  maxBytes: 10_485_760,
};

/** How long a script of a skill may run unless the config says otherwise. Milliseconds. */
export const defaultScriptTimeoutMs = 60_000;

/** How long a grant lives that was given for a token of another issuer. Milliseconds. */
export const defaultExchangedTtlMs = 900_000;

/** How often traces and metrics are sent. Milliseconds. */
export const defaultOtlpIntervalMs = 10_000;

export interface Config {
  /** The file that was read, absolute; undefined if there is none. */
  file: string | undefined;
  /** Where the user's own is looked for, and is not: when it comes, it is taken into use. Left out: there is none to wait for. */
  awaited?: string | undefined;
  /** The folder that relative paths of the config start from, absolute. */
  baseDir: string;
  servers: ServerConfig[];
  /** Module paths as written, relative to `baseDir`. */
  middleware: string[];
  /** Whether changes of a Colab page are journalled, so that they can be undone. Default true. */
  journal: boolean;
  skills: SkillFolder[];
  /** False: calls are not recorded. */
  audit: typeof defaultAudit | false;
  /** Whether the hub keeps in memory what was sent and answered of the last calls, for its owner to look at. Default true. */
  keepCalls: boolean;
  /** Issuers whose tokens are exchanged for a grant. Default: none. */
  exchange: ExchangeRule[];
  /** The authorization server before the door for agents. Default: none. */
  auth?: DoorAuth | undefined;
  /** Whether agents call tools by code unless the command line says so, and the bounds of that code. */
  codeMode: CodeModeLimits & {
    enabled: boolean;
    typeCheck: TypeCheckMode;
  };
  /** Which calls of servers a person is asked about. Default `none`. */
  approve: ApprovalMode;
  /** What is counted and told to those who watch, and what is measured of calls and sent. Default: nothing. */
  telemetry: {
    metrics: boolean;
    /** A folder, absolute: each file in it is a token that opens the metrics. */
    scrapeTokens?: string | undefined;
    otlp?: OtlpSettings | undefined;
  };
  /** How long calls that run may still end when `serve` is told to end, alone; of a hub of a cluster that of `cluster`. Milliseconds. */
  drainMs: number;
  /** The hubs that share the work with this one. Default: none. */
  cluster?: ClusterSettings | undefined;
  limits: Limits;
  /** What is read otherwise than it is written: sentences for people. */
  warnings: string[];
}

/** Below the ten seconds after which container engines kill. Milliseconds. */
export const defaultAloneDrainMs = 8000;

/** What holds when there is no config file. */
export function defaultConfig(baseDir: string): Config {
  const journal = true;
  const [audit, limits] = [{ ...defaultAudit }, { ...defaultLimits }];
  const codeMode = { ...defaultCodeModeLimits, enabled: false, typeCheck: 'auto' as const };
  return {
    file: undefined,
    baseDir,
    servers: [],
    middleware: [],
    journal,
    skills: [],
    audit,
    keepCalls: true,
    drainMs: defaultAloneDrainMs,
    exchange: [],
    codeMode,
    approve: 'none',
    telemetry: { metrics: false },
    limits,
    warnings: [],
  };
}
