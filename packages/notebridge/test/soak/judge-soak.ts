/** One call, as the one who made it saw it. Times are milliseconds since the epoch. */
export interface SoakCall {
  n: number;
  /** `sdk-v1`, `sdk-v2`, `modern`, `sandbox`, `page`. */
  by: string;
  /** Index of the hub that was asked. */
  hub: number;
  startMs: number;
  endMs: number;
  /** `timeout`: nothing came within the caller's limit. */
  outcome: 'ok' | 'wrong' | 'error' | 'timeout';
  /** Code or text of an error. */
  why?: string;
  /** The grant, of calls that have a budget. */
  grant?: string;
}

/** A fault, as it came about. */
export interface HappenedFault {
  kind: string;
  at: number;
  startMs: number;
  endMs: number;
}

export interface SoakEvidence {
  calls: readonly SoakCall[];
  /** Numbers that the tools noted, one for each execution. */
  executed: readonly number[];
  faults: readonly HappenedFault[];
  /** Calls that each grant may make. */
  budgets: Readonly<Record<string, number>>;
  /** Callers that did not get an answer after the last fault. */
  notBack: readonly string[];
}

export interface SoakVerdict {
  /** By who called and the outcome. */
  counts: Record<string, Record<string, number>>;
  /** One line each; none if all promises were kept. */
  broken: string[];
}

/** A hub that was paused, killed or cut off needs so long to answer again. Milliseconds. */
const recoveryMs = 3000;

/** Holds what was seen against what is promised. */
export function judgeSoak({ calls, executed, faults, budgets, notBack }: SoakEvidence): SoakVerdict {
  const times = countBy(executed, (n) => n);
  const known = new Map(calls.map((call) => [call.n, call]));
  return {
    counts: countsOf(calls),
    broken: [
      ...calls.filter(({ outcome }) => outcome === 'wrong').map(({ n, by, why }) => `call ${n} of ${by} got a wrong answer: ${why}`),
      ...[...times].filter(([, count]) => count > 1).map(([n, count]) => `call ${n} of ${known.get(n)?.by} was executed ${count} times`),
      ...calls.filter(({ n, outcome }) => outcome === 'ok' && !times.has(n)).map(({ n }) => `call ${n} was answered and never executed`),
      ...[...times.keys()].filter((n) => !known.has(n)).map((n) => `${n} was executed, and nobody called it`),
      ...calls.filter(isToldOfNoTool).map(({ n, by, hub, why }) => `call ${n} of ${by} at hub ${hub}, of a tool that there is, got ${why}`),
      ...calls.filter((call) => call.outcome === 'timeout' && !isExcused(call, faults)).map(toHanging),
      ...overBudget(calls, times, budgets),
      ...notBack.map((who) => `${who} is not back after the last fault`),
    ],
  };
}

/** An agent gives up a tool that it is told there is not. A page's own tool is there only while the agent has found that page. */
function isToldOfNoTool({ by, why = '' }: SoakCall): boolean {
  return by !== 'page' && why.includes('Unknown tool');
}

/** Nothing can come from a hub that is paused or cut off while the caller waits at that very hub. */
function isExcused({ hub, startMs, endMs }: SoakCall, faults: readonly HappenedFault[]): boolean {
  const isLocal = (kind: string): boolean => kind === 'pause' || kind === 'cut' || kind === 'kill';
  return faults.some((fault) => isLocal(fault.kind) && fault.at === hub && fault.startMs <= endMs && fault.endMs + recoveryMs >= startMs);
}

const toHanging = ({ n, by, hub, startMs, endMs }: SoakCall): string =>
  `call ${n} of ${by} at hub ${hub} got nothing in ${endMs - startMs} ms, and that hub was well`;

function overBudget(calls: readonly SoakCall[], times: ReadonlyMap<number, number>, budgets: SoakEvidence['budgets']): string[] {
  const used = new Map<string, number>();
  for (const { n, grant } of calls) if (grant !== undefined) used.set(grant, (used.get(grant) ?? 0) + (times.get(n) ?? 0));
  return [...used]
    .filter(([grant, count]) => count > (budgets[grant] ?? 0))
    .map(([grant, count]) => `grant ${grant} made ${count} calls and may make ${budgets[grant] ?? 0}`);
}

function countsOf(calls: readonly SoakCall[]): SoakVerdict['counts'] {
  const counts: SoakVerdict['counts'] = {};
  for (const { by, outcome, why = '' } of calls) {
    counts[by] ??= {};
    const row = counts[by];
    const name = outcome === 'error' ? `error: ${why.slice(0, 60)}` : outcome;
    row[name] = (row[name] ?? 0) + 1;
  }
  return counts;
}

function countBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, number> {
  const counts = new Map<Key, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
