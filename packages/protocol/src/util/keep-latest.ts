/** Puts an entry last into a map, and drops the first ones that are too many: what was not asked for the longest time goes. Returns what was dropped. */
export function keepLatest<Key, Value>(map: Map<Key, Value>, [key, value]: readonly [Key, Value], most: number): Value[] {
  map.delete(key);
  map.set(key, value);
  const dropped: Value[] = [];
  for (const [oldest, each] of map) {
    if (map.size <= most) break;
    map.delete(oldest);
    dropped.push(each);
  }
  return dropped;
}
