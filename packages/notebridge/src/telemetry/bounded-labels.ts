import { errorTable } from '../core/errors.js';
import type { ToolAddress } from '../core/tool-address.js';

/** Pairs of server and tool that have series of their own; the rest counts under `other`. */
const mostTools = 1000;
const longestLabel = 120;
/** Stands for names past a bound, and for those that nothing is known of. */
export const otherLabel = 'other';

/**
 * Labels of which there is a bounded number, whatever callers and servers write: agents may call names that no server has, and a server
 * may say of a failure what it likes.
 */
export class BoundedLabels {
  readonly #tools = new Set<string>();

  /** The tool in a label. One that nobody has yet called with success counts under `other` until then, if the caller may have made up its name. */
  toolOf({ server, tool }: ToolAddress, { isKnown }: { isKnown: boolean }): string {
    const key = `${server}\0${tool}`;
    if (this.#tools.has(key)) return toLabel(tool);
    if (!isKnown || this.#tools.size >= mostTools) return otherLabel;
    this.#tools.add(key);
    return toLabel(tool);
  }
}

export function toLabel(name: string): string {
  return name.length > longestLabel ? `${name.slice(0, longestLabel - 1)}…` : name;
}

const outcomes: ReadonlySet<string> = new Set(['ok', 'asked', 'tool_error', 'remote_error', 'internal', ...Object.keys(errorTable)]);

/** As in the audit; `other` for a word that is none of ours. */
export function outcomeLabel(outcome: string): string {
  return outcomes.has(outcome) ? outcome : otherLabel;
}
