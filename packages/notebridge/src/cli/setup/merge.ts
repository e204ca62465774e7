import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { BridgeError } from '../../core/errors.js';

/** Our entry, and where it belongs in a host's file. */
export interface MergeRequest {
  /** Only for errors. */
  file: string;
  container: string;
  name: string;
  /** For a file that does not have us: its `args` end with `options`. */
  entry: JsonObject;
  /** Options that the entry has to have, each with its value: they replace those of the same name, and no others. */
  options?: readonly (readonly [name: string, value: string])[];
}

export interface Merged {
  text: string;
  change: 'none' | 'added' | 'updated';
}

/** What has to happen to a parsed file. `keys` are those of an existing entry that differ from ours. */
export type MergePlan = { kind: 'none' } | { kind: 'add' } | { kind: 'update'; keys: JsonObject };

/** What says how a host comes to a server: by starting a program, or at an address. */
const kindKeys = ['command', 'url', 'httpUrl'];

/** @throws BridgeError `bad_config` if the file holds something else where our entry belongs. */
export function planMerge(config: unknown, request: MergeRequest): MergePlan {
  const { container, name, entry } = request;
  if (!isJsonObject(config)) throw misfit(request, 'is not an object', 'Fix the file');
  const servers = Object.hasOwn(config, container) ? config[container] : {};
  if (!isJsonObject(servers)) throw misfit(request, `has a "${container}" that is not an object of servers`, 'Fix it');
  if (!Object.hasOwn(servers, name)) return { kind: 'add' };
  const existing = servers[name];
  const kind = kindKeys.find((key) => Object.hasOwn(entry, key)) ?? 'command';
  if (!isJsonObject(existing) || typeof existing[kind] !== 'string') {
    throw misfit(request, `has a server "${name}" of another kind, without a "${kind}"`, 'Delete or rename it');
  }
  // Headers are the person's: the token may come from elsewhere.
  if (kind !== 'command') return existing[kind] === entry[kind] ? { kind: 'none' } : { kind: 'update', keys: { [kind]: entry[kind] } };
  const keys: JsonObject = {};
  if (existing.command !== entry.command) keys.command = entry.command;
  const args = toArgs(existing, request);
  if (!isDeepStrictEqual(existing.args ?? [], args)) keys.args = args;
  return Object.keys(keys).length === 0 ? { kind: 'none' } : { kind: 'update', keys };
}

/** Guards the text edit: afterwards the file must say exactly what it said, but for our entry. */
export function assertMerged(before: unknown, after: unknown, request: MergeRequest): void {
  const rest = isDeepStrictEqual(withoutEntry(before, request), withoutEntry(after, request));
  if (rest && planMerge(after, request).kind === 'none') return;
  throw misfit(request, `is written in a way that cannot be edited safely`, `Add the server "${request.name}" by hand`);
}

/** Our arguments, and behind them those of the person, as they are but for the options that are asked for. */
function toArgs({ command, args = [] }: JsonObject, { entry, options = [] }: MergeRequest): unknown[] {
  const words = Array.isArray(args) ? (args as unknown[]) : [];
  const ours = (entry.args as unknown[]).slice(0, (entry.args as unknown[]).length - 2 * options.length);
  const own = words.slice(startsWith(words, ours) ? ours.length : launcherLength(command, words));
  return [...ours, ...options.reduce((rest, [name, value]) => withOption(rest, name, value), own)];
}

function startsWith(words: readonly unknown[], ours: readonly unknown[]): boolean {
  return ours.every((word, index) => words[index] === word);
}

/** How many of the words say which program is started; what stands behind them is the person's. */
function launcherLength(command: unknown, words: readonly unknown[]): number {
  const isOurs = (word: unknown): boolean => typeof word === 'string' && /(^|[\\/])notebridge(\.js|\.cmd)?(@[\w.-]+)?$/.test(word);
  if (isOurs(command)) return 0;
  const named = words.findIndex(isOurs);
  // Of an unknown program the first word that is no option: `node /old.js`.
  return (named >= 0 ? named : words.findIndex((word) => typeof word === 'string' && !word.startsWith('-'))) + 1;
}

function withOption(words: readonly unknown[], name: string, value: string): unknown[] {
  const joined = words.findIndex((word) => typeof word === 'string' && word.startsWith(`${name}=`));
  if (joined >= 0) return words.with(joined, `${name}=${value}`);
  const at = words.indexOf(name);
  return at >= 0 ? [...words.slice(0, at + 1), value, ...words.slice(at + 2)] : [...words, name, value];
}

function withoutEntry(config: unknown, { container, name }: MergeRequest): unknown {
  if (!isJsonObject(config)) return config;
  const { [container]: servers = {}, ...others } = config;
  if (!isJsonObject(servers)) return config;
  const { [name]: _ours, ...otherServers } = servers;
  return { ...others, [container]: otherServers };
}

/** Why an edit is not made that would take a person's comment away, and what to do. */
export function lostComment({ name, entry }: MergeRequest): [found: string, next: string] {
  return [
    `has comments inside the "command" or "args" of "${name}", which would be lost`,
    `Write "args": ${JSON.stringify(entry.args)} there by hand`,
  ];
}

export function misfit({ file }: MergeRequest, found: string, next: string): BridgeError {
  return new BridgeError('bad_config', `${file}: The file ${found}. Nothing was changed. ${next}, then run this again.`, {
    data: { file, found },
  });
}
