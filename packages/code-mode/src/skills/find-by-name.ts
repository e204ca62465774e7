import { BridgeError } from '@notebridge/protocol/core/errors';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { foldSkillName } from '@notebridge/protocol/util/fold-skill-name';
import { quote } from '@notebridge/protocol/util/quote';

/** More names make a message unreadable. */
const mostNames = 50;

/** There is no such skill, script or resource: says what there is, and which may have been meant. */
export function notFound(what: string, wanted: string, available: readonly string[]): BridgeError {
  const meant = didYouMean(wanted, available);
  const more = available.length > mostNames ? `, and ${available.length - mostNames} more` : '';
  const list = available.length === 0 ? 'There are none.' : `Available: ${available.slice(0, mostNames).join(', ')}${more}.`;
  return new BridgeError(
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
