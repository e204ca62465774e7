/** The value below which a share of the numbers lies. */
export function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Least, middle and greatest; undefined if there is nothing to tell. */
export function spread(numbers) {
  const known = numbers.filter((number) => Number.isFinite(number)).sort((a, b) => a - b);
  if (known.length === 0) return undefined;
  const half = known.length / 2;
  const median = known.length % 2 === 1 ? known[Math.floor(half)] : (known[half - 1] + known[half]) / 2;
  return { min: known[0], median, max: known.at(-1) };
}

/** The same things in another order each time, so that none always comes first. */
export function shuffle(things) {
  const order = [...things];
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
