/** The ids of the cells in the order of each version. */
interface Orders {
  readonly base: readonly string[];
  readonly mine: readonly string[];
  readonly theirs: readonly string[];
}

/**
 * The order of all cells of both sides: that of the side which has moved cells, with the cells that only the other one has behind
 * the cell that they follow there. It overlaps if both sides have moved cells, and not to the same order.
 */
export function mergeOrder({ base, mine, theirs }: Orders, prefer: 'mine' | 'theirs'): { ids: string[]; overlaps: boolean } {
  const isMoved = { mine: hasMoved(base, mine), theirs: hasMoved(base, theirs) };
  const isMovedByBoth = isMoved.mine && isMoved.theirs;
  const overlaps = isMovedByBoth && !isSameOrder(common(mine, theirs), common(theirs, mine));
  const isMine = isMovedByBoth ? prefer === 'mine' : !isMoved.theirs;
  return { ids: isMine ? weave(mine, theirs) : weave(theirs, mine), overlaps };
}

function hasMoved(base: readonly string[], now: readonly string[]): boolean {
  return !isSameOrder(common(base, now), common(now, base));
}

/** The ids of `ids` that `others` has too. */
function common(ids: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return ids.filter((id) => known.has(id));
}

function isSameOrder(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((id, index) => id === right[index]);
}

/** `spine`, and what only `others` has, behind what it follows there. */
function weave(spine: readonly string[], others: readonly string[]): string[] {
  const inSpine = new Set(spine);
  const followers = new Map<string | undefined, string[]>();
  let last: string | undefined;
  for (const id of others) {
    if (inSpine.has(id)) last = id;
    else followers.set(last, [...(followers.get(last) ?? []), id]);
  }
  return [...(followers.get(undefined) ?? []), ...spine.flatMap((id) => [id, ...(followers.get(id) ?? [])])];
}
