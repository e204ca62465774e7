import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { BridgeError } from '../../core/errors.js';

/** Our entry, and where it belongs in a host's file. */
export interface MergeRequest {
  /** Only for errors. */
  file: string;
  container: string;
  name: string;
  entry: JsonObject;
}

export interface Merged {
  text: string;
  change: 'none' | 'added' | 'updated';
}

/** What has to happen to a parsed file. `keys` are those of an existing entry that differ from ours. */
export type MergePlan = { kind: 'none' } | { kind: 'add' } | { kind: 'update'; keys: JsonObject };

/** @throws BridgeError `bad_config` if the file holds something else where our entry belongs. */
export function planMerge(config: unknown, request: MergeRequest): MergePlan {
  const { container, name, entry } = request;
  if (!isJsonObject(config)) throw misfit(request, 'is not an object', 'Fix the file');
  const servers = Object.hasOwn(config, container) ? config[container] : {};
  if (!isJsonObject(servers)) throw misfit(request, `has a "${container}" that is not an object of servers`, 'Fix it');
  if (!Object.hasOwn(servers, name)) return { kind: 'add' };
  const existing = servers[name];
  if (!isJsonObject(existing) || typeof existing.command !== 'string') {
    throw misfit(request, `has a server "${name}" of another kind, without a "command"`, 'Delete or rename it');
  }
  const keys: JsonObject = {};
  if (existing.command !== entry.command) keys.command = entry.command;
  if (!beginsWith(existing.args, entry.args)) keys.args = entry.args;
  return Object.keys(keys).length === 0 ? { kind: 'none' } : { kind: 'update', keys };
}

/** Guards the text edit: afterwards the file must say exactly what it said, but for our entry. */
export function assertMerged(before: unknown, after: unknown, request: MergeRequest): void {
  const rest = isDeepStrictEqual(withoutEntry(before, request), withoutEntry(after, request));
  if (rest && planMerge(after, request).kind === 'none') return;
  throw misfit(request, `is written in a way that cannot be edited safely`, `Add the server "${request.name}" by hand`);
}

/** Options that a person put behind our arguments are theirs: an entry that has them is as it should be. */
function beginsWith(existing: unknown, ours: unknown): boolean {
  if (!Array.isArray(ours) || !Array.isArray(existing ?? [])) return false;
  const words = (existing ?? []) as unknown[];
  return ours.every((word, index) => words[index] === word);
}

function withoutEntry(config: unknown, { container, name }: MergeRequest): unknown {
  if (!isJsonObject(config)) return config;
  const { [container]: servers = {}, ...others } = config;
  if (!isJsonObject(servers)) return config;
  const { [name]: _ours, ...otherServers } = servers;
  return { ...others, [container]: otherServers };
}

function misfit({ file }: MergeRequest, found: string, next: string): BridgeError {
  return new BridgeError('bad_config', `${file}: The file ${found}. Nothing was changed. ${next}, then run this again.`, {
    data: { file, found },
  });
}
