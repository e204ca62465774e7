import { dirname, resolve } from 'node:path';
import type { ClusterSettings } from '@notebridge/cluster/cluster-settings';
import { isJsonObject } from '@notebridge/protocol/json';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import type { Environment } from '@notebridge/system/processes/environment';
import type { z } from 'zod';
import type { Config } from './config.js';
import { expandStrings, variablesIn } from './expand.js';
import { faultyFile, isFilled, type KeyPath, kindOfValue, type Problem, quoteValue, writePath } from './fault.js';
import { mostFaults, parseJsonDocument } from './json-document.js';
import { parseServers } from './parse-servers.js';
import { type CheckedConfig, type CheckedServer, configSchema, formerKeys } from './schema.js';
import type { ServerConfig } from './server-config.js';
import { keySeparator } from './value-kinds.js';

export interface ConfigText {
  /** The absolute path that errors name and relative paths start from. */
  file: string;
  text: string;
  env: Environment;
}

/** Turns the text of a config file into a config. @throws BridgeError `bad_config` with every fault that was found. */
export function parseConfig({ file, text, env }: ConfigText): Config {
  const parsed = parseJsonDocument(text);
  if ('faults' in parsed) throw faultyFile(file, parsed.faults);
  const written = parsed.document.value;
  const expanded = expandConfig(written, env);
  const checked = configSchema.safeParse(expanded.value);
  const problems = [...expanded.problems, ...parseServers(expanded.value), ...schemaProblems(checked.error, written)];
  const faults = parsed.document.locate(problems);
  if (isFilled(faults)) throw faultyFile(file, faults);
  if (!checked.success) throw checked.error;
  return toConfig({ file, written, env }, checked.data);
}

/** `inputs` are VS Code's, with a syntax of their own: they stay as they are. */
function expandConfig(written: unknown, env: Environment): { value: unknown; problems: Problem[] } {
  if (!isJsonObject(written)) return { value: written, problems: [] };
  const { inputs, ...ours } = written;
  const { value, problems } = expandStrings(ours, env);
  return { value: inputs === undefined ? value : { ...value, inputs }, problems };
}

function schemaProblems(error: z.ZodError | undefined, written: unknown): Problem[] {
  return (error?.issues ?? []).flatMap((issue) => issueProblems(issue, [], written));
}

function issueProblems(issue: z.core.$ZodIssue, parent: KeyPath, written: unknown): Problem[] {
  const path = [...parent, ...issue.path.filter((step) => typeof step !== 'symbol')];
  if (issue.code === 'unrecognized_keys') return issue.keys.slice(0, mostFaults).map((key) => unknownKey(path, key, issue.message));
  if (issue.code === 'invalid_union') {
    // What was meant is the form of the right kind; its own fault says more than "one of these forms".
    const isOtherKind = ({ code, path: inner }: z.core.$ZodIssue): boolean => inner.length === 0 && /^invalid_(type|value)$/.test(code);
    const meant = issue.errors.find((issues) => !issues.some(isOtherKind));
    if (meant !== undefined) return meant.flatMap((inner) => issueProblems(inner, path, written));
  }
  return [wrongValue(path, issue.message, written)];
}

function unknownKey(path: KeyPath, key: string, known: string): Problem {
  const former = formerKeys[writePath([...path, key])];
  if (former !== undefined) return { path: [...path, key], at: 'key', found: 'is no longer a key', next: former };
  const meant = didYouMean(key, known.split(keySeparator));
  const next = meant === undefined ? `Known here: ${known}.` : `Did you mean "${meant}"?`;
  return { path: [...path, key], at: 'key', found: 'is not a known key', next };
}

/** Quotes the value as it was written, before variables were expanded: what they hold may be secret. */
function wrongValue(path: KeyPath, wanted: string, written: unknown): Problem {
  const value = valueAt(written, path);
  if (value === undefined) return { path, at: 'value', found: `is missing: it must be ${wanted}`, next: 'Add it, then start again.' };
  const found = mayBeSecret(path) ? kindOfValue(value) : quoteValue(value);
  const meant = typeof value === 'string' ? didYouMean(value, choicesIn(wanted)) : undefined;
  const next = meant === undefined ? 'Fix this value, then start again.' : `Did you mean "${meant}"?`;
  return { path, at: 'value', found: `is ${found}, but must be ${wanted}`, next };
}

function mayBeSecret(path: KeyPath): boolean {
  return path.some(
    (step) => step === 'env' || step === 'headers' || step === 'args' || step === 'url' || step === 'auth' || step === 'proxy',
  );
}

/** The words of `one of "a", "b"`; none for other wishes. */
function choicesIn(wanted: string): string[] {
  return wanted.startsWith('one of ') ? Array.from(wanted.matchAll(/"([^"]+)"/g), ([, word]) => word ?? '') : [];
}

function valueAt(value: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (part, step) => (typeof part === 'object' && part !== null ? (part as Record<string | number, unknown>)[step] : undefined),
    value,
  );
}

function toConfig(
  { file, written, env }: { file: string; written: unknown; env: Environment },
  { mcpServers, servers, notebridge }: CheckedConfig,
): Config {
  const baseDir = dirname(file);
  const variablesOf = (name: string): Record<string, string> =>
    variablesIn([valueAt(written, ['mcpServers', name]), valueAt(written, ['servers', name])], env);
  const { audit, telemetry } = notebridge;
  return {
    ...notebridge,
    file,
    baseDir,
    servers: Object.entries({ ...mcpServers, ...servers }).map(([name, server]) => {
      const variables = variablesOf(name);
      return { ...toServer(name, server, baseDir), ...(Object.keys(variables).length > 0 && { variables }) };
    }),
    skills: notebridge.skills.map((folder) => ({ ...folder, path: resolve(baseDir, folder.path) })),
    audit: audit && { ...audit, file: audit.file === undefined ? undefined : resolve(baseDir, audit.file) },
    exchange: notebridge.exchange.map((rule) => ({ ...rule, keys: resolve(baseDir, rule.keys) })),
    telemetry: { ...telemetry, scrapeTokens: telemetry.scrapeTokens && resolve(baseDir, telemetry.scrapeTokens) },
    cluster: notebridge.cluster && toCluster(notebridge.cluster, baseDir),
    warnings: placedAnywhere({ ...mcpServers, ...servers }),
  };
}

/** One sentence on all servers with the former `placement: any`. */
function placedAnywhere(servers: Readonly<Record<string, CheckedServer>>): string[] {
  const names = Object.keys(servers).filter((name) => servers[name]?.placement === 'any');
  if (names.length === 0) return [];
  const where = names.map((name) => JSON.stringify(name)).join(', ');
  return [
    `"placement": "any", of ${where}, is read as "each": every hub runs its own, and calls stay at the hub where they came in. Write "each", or "one" for one in the whole cluster.`,
  ];
}

function toCluster({ url, tls, ...rest }: NonNullable<CheckedConfig['notebridge']['cluster']>, baseDir: string): ClusterSettings {
  const place = (file: string | undefined): string | undefined => (file === undefined ? undefined : resolve(baseDir, file));
  return {
    ...rest,
    urls: typeof url === 'string' ? [url] : url,
    credentials: place(rest.credentials),
    key: place(rest.key),
    tls: tls && { ca: place(tls.ca), cert: place(tls.cert), key: place(tls.key) },
  };
}

function toServer(name: string, server: CheckedServer, baseDir: string): ServerConfig {
  const { type, command, args, env, cwd, url, headers, auth, ca, proxy, placement, ...rest } = server;
  const settings = { ...rest, name, placement: placement === 'any' ? ('each' as const) : placement };
  if (command !== undefined) {
    return { ...settings, transport: 'stdio', command, args, env, cwd: cwd === undefined ? undefined : resolve(baseDir, cwd) };
  }
  const access = {
    ...(auth && { auth: { ...auth, ...(auth.privateKey !== undefined && { privateKey: resolve(baseDir, auth.privateKey) }) } }),
    ...(ca !== undefined && { ca: resolve(baseDir, ca) }),
    ...(proxy !== undefined && { proxy }),
  };
  return { ...settings, ...access, transport: type === 'sse' ? 'sse' : 'http', url: url ?? '', headers };
}
