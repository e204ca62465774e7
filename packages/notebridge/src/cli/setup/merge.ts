import { isDeepStrictEqual } from 'node:util';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { appendAll } from '@notebridge/protocol/util/long-lists';

/** Where a host keeps servers. */
export interface ServersPlace {
  /** Absolute. */
  file: string;
  /** The keys of that file that lead to the servers by name. */
  container: readonly string[];
}

/** Our entry, and where it belongs in a host's file. */
export interface MergeRequest extends ServersPlace {
  /** For a file that does not have us: its `args` end with `options`. */
  entry: JsonObject;
  /** Options with their values: they take the place of all options of the entry that say the same kind of thing. Those of other kinds stay. */
  options?: readonly EntryOption[];
}

/** What our entry is called. */
export const entryName = 'notebridge';

/** Its name, and its value if it has one. */
export type EntryOption = readonly [name: string] | readonly [name: string, value: string];

/** Options that are replaced together, by what they have behind them: a value, perhaps one, or nothing. */
type OptionKind = Readonly<Record<string, 'value' | 'perhaps' | 'nothing'>>;

/** What the agents work in, and how; and how they call tools. */
const kinds: readonly OptionKind[] = [
  { '--notebook': 'value', '--kernel': 'value', '--files': 'value', '--allow-net': 'value', '--allow-edits': 'nothing' },
  { '--code-mode': 'perhaps' },
];

/** What has to happen to a parsed file. */
export interface MergePlan {
  change: 'unchanged' | 'added' | 'updated';
  /** Keys of an existing entry that differ from ours. */
  keys: JsonObject;
  /** Which of these options the entry had; none for one that was not there. */
  former: readonly EntryOption[];
}

/** How a host writes its file. */
export interface HostFormat {
  /** @throws BridgeError `bad_config` for a file that is broken. */
  parse(text: string, file: string): unknown;
  /** The text with our entry in it. What cannot be edited safely may come back as it is, or fail: `mergeEntry` checks it. */
  edit(text: string, plan: MergePlan, request: MergeRequest): string;
}

export type Merged = Pick<MergePlan, 'change' | 'former'> & { text: string };

/**
 * Puts our entry into the text of a host's file, keeping everything else as it is written. The edit is checked by parsing the file before and
 * after.
 *
 * @throws BridgeError `bad_config` for a file that is broken or cannot be edited safely.
 */
export function mergeEntry({ parse, edit }: HostFormat, text: string, request: MergeRequest): Merged {
  const before = parse(text, request.file);
  const plan = planMerge(before, request);
  const { change, former } = plan;
  if (change === 'unchanged') return { text, change, former };
  const after = edit(text, plan, request);
  assertMerged(before, () => parse(after, request.file), request);
  return { text: after, change, former };
}

/** What says how a host comes to a server: by starting a program, or at an address. */
const kindKeys = ['command', 'url', 'httpUrl'];

/** @throws BridgeError `bad_config` if the file holds something else where our entry belongs. */
function planMerge(config: unknown, request: MergeRequest): MergePlan {
  const { entry } = request;
  if (!isJsonObject(config)) throw misfit(request, 'is not an object', 'Fix the file');
  const servers = serversIn(config, request);
  if (!Object.hasOwn(servers, entryName)) return { change: 'added', keys: {}, former: [] };
  const existing = servers[entryName];
  const kind = kindKeys.find((key) => Object.hasOwn(entry, key)) ?? 'command';
  if (!isJsonObject(existing) || typeof existing[kind] !== 'string') {
    throw misfit(request, `has a server "${entryName}" of another kind, without a "${kind}"`, 'Delete or rename it');
  }
  const keys: JsonObject = {};
  if (existing[kind] !== entry[kind]) keys[kind] = entry[kind];
  // Headers are the person's: the token may come from elsewhere.
  const { args, former } = kind === 'command' ? toArgs(existing, request) : { args: undefined, former: [] };
  if (args !== undefined && !isDeepStrictEqual(existing.args ?? [], args)) keys.args = args;
  return { change: Object.keys(keys).length === 0 ? 'unchanged' : 'updated', keys, former };
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
function assertMerged(before: unknown, parseAfter: () => unknown, request: MergeRequest): void {
  let after: unknown;
  try {
    after = parseAfter();
  } catch {
    // It is no file of that format any more.
  }
  const isRestKept = isDeepStrictEqual(withoutEntry(before, request.container), withoutEntry(after, request.container));
  if (isRestKept && planMerge(after, request).change === 'unchanged') return;
  throw misfit(request, 'is written in a way that cannot be edited safely', `Add the server "${entryName}" by hand`);
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
function withoutEntry(config: unknown, [key, ...deeper]: readonly string[]): unknown {
  if (!isJsonObject(config)) return config;
  if (key !== undefined) return { ...config, [key]: withoutEntry(config[key] ?? {}, deeper) };
  const { [entryName]: _ours, ...others } = config;
  return others;
}

export function misfit({ file }: MergeRequest, found: string, next: string): BridgeError {
  return new BridgeError('bad_config', `${file}: The file ${found}. Nothing was changed. ${next}, then run this again.`, {
    data: { file, found },
  });
}
