// A list spread into the arguments of a call overflows the stack at some hundred thousand items. Lists from outside may have more.

/** Adds items to the end of a list. */
export function appendAll<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}

/** The largest of the numbers; `least` if none is larger. */
export function largestOf(numbers: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let largest = least;
  for (const number of numbers) if (number > largest) largest = number;
  return largest;
}

/** The smallest of the numbers; infinity if there are none. */
export function smallestOf(numbers: Iterable<number>): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (const number of numbers) if (number < smallest) smallest = number;
  return smallest;
}
