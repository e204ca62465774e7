import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ToolServerEvent } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import { onTestFinished } from 'vitest';
import type { ServerConfig } from '../../src/config/server-config.js';
import type { Upstream } from '../../src/upstreams/upstream.js';
import { createUpstreams, type Upstreams, type UpstreamsOptions } from '../../src/upstreams/upstreams.js';
import { type ContextForTest, createContext } from './create-context.js';

type StdioConfig = Extract<ServerConfig, { transport: 'stdio' }>;

const defaults = {
  disabled: false,
  timeoutMs: undefined,
  tools: { allow: undefined, deny: [] },
  expose: 'direct',
  names: 'prefixed',
  lazy: false,
  description: undefined,
  instances: 'shared',
  placement: 'each',
  era: 'auto',
  maxInFlight: 256,
  questions: 'auto',
} as const;

/** The path of a program in `test/fixtures/servers`. */
export function fixtureServer(file: string): string {
  return fileURLToPath(new URL(`../fixtures/servers/${file}`, import.meta.url));
}

/** A config of a program in `test/fixtures/servers`, with these arguments. */
export function fixtureConfig(file: string, args: string[] = [], more: Partial<StdioConfig> = {}): StdioConfig {
  const settings = { ...defaults, tools: { allow: undefined, deny: [] } };
  return {
    ...settings,
    name: 'it',
    transport: 'stdio',
    command: process.execPath,
    args: [fixtureServer(file), ...args],
    env: {},
    cwd: undefined,
    ...more,
  };
}

export function httpConfig(url: string, more: Partial<Extract<ServerConfig, { url: string }>> = {}): ServerConfig {
  return { ...defaults, tools: { allow: undefined, deny: [] }, name: 'it', transport: 'http', url, headers: {}, ...more };
}

export interface UpstreamsForTest {
  upstreams: Upstreams;
  /** Everything that was logged, a line each. */
  log: string[];
  events: ToolServerEvent[];
  /** The server of that name. Default: the first. */
  server(name?: string): Upstream;
  call(tool: string, args?: JsonObject, context?: ContextForTest): Promise<JsonObject>;
  /** Resolves when it is so; looks after each event and line of the log. */
  until(isSo: () => boolean): Promise<void>;
}

/** The real thing, closed when the test ends. Nothing is started. */
export function openUpstreams(servers: ServerConfig[], options: Partial<UpstreamsOptions> = {}): UpstreamsForTest {
  const log: string[] = [];
  const events: ToolServerEvent[] = [];
  const lookers = new Set<() => void>();
  const look = (): void => {
    for (const looker of [...lookers]) looker();
  };
  const logAt = (level: string) => (message: string, fields?: JsonObject) => {
    log.push(`${level}: ${message} ${JSON.stringify(fields ?? {})}`);
    look();
  };
  const logger: Logger = { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
  const upstreams = createUpstreams({ servers, logger, ...options });
  upstreams.subscribe((event) => {
    events.push(event);
    look();
  });
  onTestFinished(() => upstreams.close());
  const server = (name = servers[0]?.name ?? ''): Upstream => {
    const found = upstreams.get(name);
    if (found === undefined) throw new Error(`There is no server "${name}".`);
    return found;
  };
  return {
    upstreams,
    log,
    events,
    server,
    call: (tool, args = {}, context = createCall(tool, args)) => server().request('tools/call', context.message, context),
    until: (isSo) =>
      new Promise((resolve) => {
        const looker = (): void => {
          if (!isSo()) return;
          lookers.delete(looker);
          resolve();
        };
        lookers.add(looker);
        looker();
      }),
  };
}

/** The context of a call of a tool. */
export function createCall(tool: string, args: JsonObject = {}, options: Parameters<typeof createContext>[2] = {}): ContextForTest {
  return createContext('tools/call', { name: tool, arguments: args }, options);
}

/** A path in a folder that is removed when the test ends. */
export function temporaryPath(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-upstreams-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, name);
}

/** The lines of a file; none if there is no such file. */
export function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(0, -1).filter(Boolean);
  } catch {
    return [];
  }
}
