import { didYouMean } from '@notebridge/kit/did-you-mean';
import type { ErrorCode } from '../core/errors.js';
import { type ToolResult, toFailedResult } from '../core/mcp.js';
import { foldSkillName } from '../util/fold-skill-name.js';
import { quote } from '../util/quote.js';

/** Why a tool of the skills failed, in words for the caller. Becomes a result marked as failed. */
export class SkillFault extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.name = 'SkillFault';
    this.code = code;
  }

  toResult(): ToolResult {
    return toFailedResult(this.code, this.message);
  }
}

/** More names make a message unreadable. */
const mostNames = 50;

/** There is no such skill, script or resource: says what there is, and which may have been meant. */
export function notFound(what: string, wanted: string, available: readonly string[]): SkillFault {
  const meant = didYouMean(wanted, available);
  const more = available.length > mostNames ? `, and ${available.length - mostNames} more` : '';
  const list = available.length === 0 ? 'There are none.' : `Available: ${available.slice(0, mostNames).join(', ')}${more}.`;
  return new SkillFault(
    'invalid_arguments',
    `There is no ${what} ${quote(wanted)}.${meant === undefined ? '' : ` Did you mean "${meant}"?`} ${list}`,
  );
}

/** The one that was meant: by its very name, else by the only one that differs in case, spaces, `_` and `-` alone. */
export function findByName<Item>(wanted: string, items: readonly Item[], nameOf: (item: Item) => string): Item | undefined {
  const exact = items.find((item) => nameOf(item) === wanted);
  if (exact !== undefined) return exact;
  const near = items.filter((item) => foldSkillName(nameOf(item)) === foldSkillName(wanted));
  return near.length === 1 ? near[0] : undefined;
}
