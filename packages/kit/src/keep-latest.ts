/** Puts an entry last into a map, and drops the first ones that are too many: what was not asked for the longest time goes. */
export function keepLatest<Key, Value>(map: Map<Key, Value>, [key, value]: readonly [Key, Value], most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
