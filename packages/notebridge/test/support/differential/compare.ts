import { envelope } from '../agents.js';
import { membersOf, sorted } from '../raw-json.js';
import { type Cell, differences } from './differences.js';
import { type TableMessage, tableMessages } from './messages.js';
import type { Lane } from './mirror-hosts.js';

/** Messages that are on their way at once. */
const width = 16;
/**
 * What is not the same, a line each, though no known difference explains it. What is not answered before the signal is one, and hides
 * nothing else that differs.
 */
export async function compareCell(cell: Cell, lanes: { direct: Lane; bridged: Lane }, signal: AbortSignal): Promise<string[]> {
  const faults: string[] = [];
  const waiting = tableMessages.map((message, at) => ({ message, at })).filter(({ message }) => canSay(cell, message));
  const over = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
  const next = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined && !signal.aborted; one = waiting.shift()) {
      const { message, at } = one;
      const answers = Promise.all([
        exchange(lanes.direct, cell, { message, at, isBridged: false }),
        exchange(lanes.bridged, cell, { message, at, isBridged: true }),
      ]);
      const pair = await Promise.race([answers, over]);
      const fault = pair === undefined ? `${message.name}: no answer` : faultOf(cell, message, ...pair);
      if (fault !== undefined) faults.push(fault);
    }
  };
  await Promise.all(Array.from({ length: width }, next));
  return faults;
}

let lastId = 0;

async function exchange(
  lane: Lane,
  cell: Cell,
  { message, at, isBridged }: { message: TableMessage; at: number; isBridged: boolean },
): Promise<string> {
  const id = `"m ${++lastId}"`;
  const text = toParams(cell, message, { at, isBridged });
  const request = (params: string): string => `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(message.method)},"params":${params}}`;
  const members = membersOf(await lane.send(request(text)));
  members.delete('jsonrpc');
  members.delete('id');
  const answer = toObjectText(members);
  if (!message.method.endsWith('/list') || !members.has('result')) return answer;
  return restOfList(lane, answer, (cursor) => request(withCursor(text, cursor)));
}

/** All pages of a list as one answer. */
async function restOfList(lane: Lane, first: string, toRequest: (cursor: string) => string): Promise<string> {
  const result = membersOf(membersOf(first).get('result') ?? '{}');
  const key = [...result].find(([, value]) => value.startsWith('['))?.[0] ?? '';
  const items = [result.get(key)?.slice(1, -1) ?? ''];
  for (let cursor = result.get('nextCursor'); cursor !== undefined; ) {
    const next = membersOf(membersOf(await lane.send(toRequest(cursor))).get('result') ?? '{}');
    items.push(next.get(key)?.slice(1, -1) ?? '');
    cursor = next.get('nextCursor');
  }
  result.delete('nextCursor');
  result.set(key, `[${items.filter((some) => some !== '').join(',')}]`);
  return toObjectText(new Map([['result', toObjectText(result)]]));
}

function toParams(
  { era, kind, name }: Cell,
  { params, answer }: TableMessage,
  { at, isBridged }: { at: number; isBridged: boolean },
): string {
  const prefix = isBridged && kind !== 'page' ? `${name}__` : '';
  const named = params.replaceAll('§tool', `${prefix}odd`).replaceAll('§prompt', `${prefix}ask`).replaceAll('§uri', `${name}:`);
  const members = membersOf(named);
  const meta = membersOf(members.get('_meta') ?? '{}');
  if (answer !== undefined) meta.set('mirror', `"${at}"`);
  const isModern = era === 'modern' && (isBridged || kind !== 'page');
  if (isModern) for (const [key, value] of Object.entries(envelope)) meta.set(key, JSON.stringify(value));
  if (meta.size > 0) members.set('_meta', toObjectText(meta));
  return toObjectText(members);
}

function withCursor(params: string, cursor: string): string {
  return toObjectText(membersOf(params).set('cursor', cursor));
}

/** Applies each difference that concerns the message, until the two answers are the same. */
function faultOf(cell: Cell, message: TableMessage, straight: string, crossed: string): string | undefined {
  // Most often nothing at all was changed, which is cheaper to see.
  if (straight === crossed) return undefined;
  let pair = { straight: sorted(straight), crossed: sorted(crossed) };
  for (const difference of differences) {
    if (pair.straight === pair.crossed) return undefined;
    if (!difference.concerns(cell, message, pair)) continue;
    const even = difference.even(pair, cell);
    if (even.straight === pair.straight && even.crossed === pair.crossed) continue;
    difference.uses++;
    pair = { straight: sorted(even.straight), crossed: sorted(even.crossed) };
  }
  if (pair.straight === pair.crossed) return undefined;
  let at = 0;
  while (at < pair.straight.length && pair.straight[at] === pair.crossed[at]) at++;
  const shown = (text: string): string => text.slice(Math.max(0, at - 60), at + 100);
  return `${message.name}: …${shown(pair.straight)} without a bridge, …${shown(pair.crossed)} with it`;
}

/** Whether cell and message go together. */
function canSay({ door, era }: Cell, { method, params }: TableMessage): boolean {
  if (era === 'legacy') return true;
  const meta = membersOf(params).get('_meta') ?? '{}';
  return meta.startsWith('{') && (door === 'stdio' || /^[\x21-\x7e]+$/.test(method));
}

function toObjectText(members: Map<string, string>): string {
  return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}
