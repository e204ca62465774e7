import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { appendAll } from '@notebridge/kit/long-lists';
import { BridgeError } from '../../core/errors.js';

/** Our entry, and where it belongs in a host's file. */
export interface MergeRequest {
  /** Only for errors. */
  file: string;
  /** The keys that lead to the servers. */
  container: readonly string[];
  name: string;
  /** For a file that does not have us: its `args` end with `options`. */
  entry: JsonObject;
  /** Options with their values: they take the place of all options of the entry that say the same kind of thing. Those of other kinds stay. */
  options?: readonly EntryOption[];
}

/** Its name, and its value if it has one. */
export type EntryOption = readonly [name: string] | readonly [name: string, value: string];

/** Options that are replaced together, by what they have behind them: a value, perhaps one, or nothing. */
type OptionKind = Readonly<Record<string, 'value' | 'perhaps' | 'nothing'>>;

/** What the agents work in, and how; and how they call tools. */
const kinds: readonly OptionKind[] = [
  { '--notebook': 'value', '--kernel': 'value', '--files': 'value', '--allow-net': 'value', '--allow-edits': 'nothing' },
  { '--code-mode': 'perhaps' },
];

export interface Merged {
  text: string;
  change: 'none' | 'added' | 'updated';
  /** Which of these options the entry had; none for one that was not there. */
  former: readonly EntryOption[];
}

/** What has to happen to a parsed file. `keys` are those of an existing entry that differ from ours. */
export type MergePlan = { former: readonly EntryOption[] } & ({ kind: 'none' } | { kind: 'add' } | { kind: 'update'; keys: JsonObject });

/** What says how a host comes to a server: by starting a program, or at an address. */
const kindKeys = ['command', 'url', 'httpUrl'];

/** @throws BridgeError `bad_config` if the file holds something else where our entry belongs. */
export function planMerge(config: unknown, request: MergeRequest): MergePlan {
  const { name, entry } = request;
  if (!isJsonObject(config)) throw misfit(request, 'is not an object', 'Fix the file');
  const servers = serversIn(config, request);
  if (!Object.hasOwn(servers, name)) return { kind: 'add', former: [] };
  const existing = servers[name];
  const kind = kindKeys.find((key) => Object.hasOwn(entry, key)) ?? 'command';
  if (!isJsonObject(existing) || typeof existing[kind] !== 'string') {
    throw misfit(request, `has a server "${name}" of another kind, without a "${kind}"`, 'Delete or rename it');
  }
  // Headers are the person's: the token may come from elsewhere.
  if (kind !== 'command')
    return existing[kind] === entry[kind] ? { kind: 'none', former: [] } : { kind: 'update', keys: { [kind]: entry[kind] }, former: [] };
  const keys: JsonObject = {};
  if (existing.command !== entry.command) keys.command = entry.command;
  const { args, former } = toArgs(existing, request);
  if (!isDeepStrictEqual(existing.args ?? [], args)) keys.args = args;
  return Object.keys(keys).length === 0 ? { kind: 'none', former } : { kind: 'update', keys, former };
}

function serversIn(config: JsonObject, request: MergeRequest): JsonObject {
  let servers = config;
  for (const key of request.container) {
    const inner = Object.hasOwn(servers, key) ? servers[key] : {};
    if (!isJsonObject(inner)) throw misfit(request, `has a "${key}" that is not an object of servers`, 'Fix it');
    servers = inner;
  }
  return servers;
}

/** Guards the text edit: afterwards the file must say exactly what it said, but for our entry. */
export function assertMerged(before: unknown, after: unknown, request: MergeRequest): void {
  const rest = isDeepStrictEqual(withoutEntry(before, request), withoutEntry(after, request));
  if (rest && planMerge(after, request).kind === 'none') return;
  throw misfit(request, `is written in a way that cannot be edited safely`, `Add the server "${request.name}" by hand`);
}

/** Our arguments, and behind them those of the person, as they are but for options of a kind that is asked for. */
function toArgs({ command, args = [] }: JsonObject, { entry, options = [] }: MergeRequest): { args: unknown[]; former: EntryOption[] } {
  const words = Array.isArray(args) ? (args as unknown[]) : [];
  const ours = (entry.args as unknown[]).slice(0, (entry.args as unknown[]).length - toWords(options).length);
  let own = words.slice(startsWith(words, ours) ? ours.length : launcherLength(command, words));
  const former: EntryOption[] = [];
  for (const kind of kinds) {
    const asked = options.filter(([name]) => Object.hasOwn(kind, name));
    const split = splitOptions(own, kind);
    appendAll(former, split.former);
    if (asked.length > 0 && !isDeepStrictEqual(split.former, asked)) own = [...split.others, ...toWords(asked)];
  }
  return { args: [...ours, ...own], former };
}

/** As a command line has them. A value that may be left out stands in one word with its name, or the next word would be taken for it. */
export function toWords(options: readonly EntryOption[]): string[] {
  return options.flatMap((option) => (isOptional(option[0]) && option.length === 2 ? [option.join('=')] : [...option]));
}

function isOptional(name: string): boolean {
  return kinds.some((kind) => kind[name] === 'perhaps');
}

/** The options of a kind, and all other words. */
function splitOptions(words: readonly unknown[], kind: OptionKind): { former: EntryOption[]; others: unknown[] } {
  const former: EntryOption[] = [];
  const others: unknown[] = [];
  for (let at = 0; at < words.length; at++) {
    const [, name = '', joined] = /^(--[^=]+)(?:=(.*))?$/s.exec(String(words[at])) ?? [];
    const next = words[at + 1];
    if (!Object.hasOwn(kind, name)) others.push(words[at]);
    else if (joined !== undefined) former.push([name, joined]);
    else if (kind[name] === 'value' || (kind[name] === 'perhaps' && typeof next === 'string' && !next.startsWith('-'))) {
      former.push([name, String(next ?? '')]);
      at++;
    } else former.push([name]);
  }
  return { former, others };
}

/** The options that stand for the same kind of thing as one of the others. */
export function sameKind(options: readonly EntryOption[], others: readonly EntryOption[]): EntryOption[] {
  const named = kinds.filter((kind) => others.some(([name]) => Object.hasOwn(kind, name)));
  return options.filter(([name]) => named.some((kind) => Object.hasOwn(kind, name)));
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

/** With the objects on the way to it, whether they were there or not. */
function withoutEntry(config: unknown, { container, name }: Pick<MergeRequest, 'container' | 'name'>): unknown {
  if (!isJsonObject(config)) return config;
  const [key, ...deeper] = container;
  if (key === undefined) {
    const { [name]: _ours, ...others } = config;
    return others;
  }
  return { ...config, [key]: withoutEntry(config[key] ?? {}, { container: deeper, name }) };
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
