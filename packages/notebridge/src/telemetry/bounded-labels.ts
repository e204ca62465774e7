import { errorTable } from '@notebridge/protocol/core/errors';

const longestLabel = 120;
/** Stands for names past a bound, and for those that nothing is known of. */
export const otherLabel = 'other';

export function toLabel(name: string): string {
  return name.length > longestLabel ? `${name.slice(0, longestLabel - 1)}…` : name;
}

const outcomes: ReadonlySet<string> = new Set(['ok', 'asked', 'tool_error', 'remote_error', 'internal', ...Object.keys(errorTable)]);

/** As in the audit; `other` for a word that is none of ours. */
export function outcomeLabel(outcome: string): string {
  return outcomes.has(outcome) ? outcome : otherLabel;
}
