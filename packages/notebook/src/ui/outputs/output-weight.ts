import { largestOf } from '@notebridge/protocol/util/long-lists';
import type { Output } from '../../model/output.js';
import { pieceLimits } from './bound-html.js';

/** Elements, roughly, that the outputs of one cell may make before a person asks for more. */
export const cellBudget = 3 * pieceLimits.maxNodes;

/** Of cells that nobody has seen yet, all together: what is beyond it is drawn when it comes into sight. */
export const documentBudget = 30 * pieceLimits.maxNodes;

/** An element takes about this many characters of source. */
const charactersPerNode = 12;
const imageWeight = 100;

const weights = new WeakMap<Output, number>();

/** About how many elements an output makes, known before it is drawn. */
export function weightOf(output: Output): number {
  const known = weights.get(output);
  if (known !== undefined) return known;
  const weight = Math.min(pieceLimits.maxNodes, 10 + charactersOf(output) / charactersPerNode);
  weights.set(output, weight);
  return weight;
}

/** Of streams, which never change but grow, nothing is counted twice: a longer one is another output. */
function charactersOf(output: Output): number {
  if (output.output_type === 'stream') return Math.min(sizeOf(output.text), 20_000);
  if (output.output_type === 'error') return Math.min(sizeOf(output.traceback), 20_000);
  const entries = Object.entries(output.data ?? {});
  return largestOf(
    entries.map(([type, value]) => (/^image\/(?!svg)/.test(type) ? imageWeight * charactersPerNode : sizeOf(value))),
    0,
  );
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, line: unknown) => sum + (typeof line === 'string' ? line.length : 10), 0);
  return 1000;
}
