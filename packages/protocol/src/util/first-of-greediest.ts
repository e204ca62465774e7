/**
 * Of things that several share, the first of who has most: what one has taken is taken from that one. `weight`: what a thing counts.
 * Undefined if there is none.
 */
export function firstOfGreediest<Thing>(
  things: Iterable<Thing>,
  { of, weight = () => 1 }: { of: (thing: Thing) => string; weight?: (thing: Thing) => number },
): Thing | undefined {
  const byHolder = new Map<string, { sum: number; first: Thing }>();
  for (const thing of things) {
    const held = byHolder.get(of(thing));
    if (held === undefined) byHolder.set(of(thing), { sum: weight(thing), first: thing });
    else held.sum += weight(thing);
  }
  let greediest: { sum: number; first: Thing } | undefined;
  for (const held of byHolder.values()) if (greediest === undefined || held.sum > greediest.sum) greediest = held;
  return greediest?.first;
}
