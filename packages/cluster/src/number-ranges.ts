/** Numbers as the ranges that they make up: those of exchanges rise, so there are few however many numbers there were. */
export class NumberRanges {
  readonly #maxRanges: number;
  /** First and last of each, in order. */
  readonly #ranges: [number, number][] = [];

  /** With more ranges than that, the numbers between the lowest two are taken in as well. */
  constructor(maxRanges: number) {
    this.#maxRanges = maxRanges;
  }

  get rangeCount(): number {
    return this.#ranges.length;
  }

  has(number: number): boolean {
    const range = this.#ranges[this.#placeOf(number)];
    return range !== undefined && range[0] <= number;
  }

  add(number: number): void {
    const at = this.#placeOf(number);
    const above = this.#ranges[at];
    if (above !== undefined && above[0] <= number) return;
    const below = this.#ranges[at - 1];
    const followsBelow = below !== undefined && below[1] === number - 1;
    const precedesAbove = above !== undefined && above[0] === number + 1;
    if (followsBelow && precedesAbove) {
      below[1] = above[1];
      this.#ranges.splice(at, 1);
    } else if (followsBelow) below[1] = number;
    else if (precedesAbove) above[0] = number;
    else this.#ranges.splice(at, 0, [number, number]);
    const [first, second] = this.#ranges;
    if (this.#ranges.length <= this.#maxRanges || first === undefined || second === undefined) return;
    second[0] = first[0];
    this.#ranges.shift();
  }

  removeBelow(floor: number): void {
    while ((this.#ranges[0]?.[1] ?? floor) < floor) this.#ranges.shift();
    const [first] = this.#ranges;
    if (first !== undefined && first[0] < floor) first[0] = floor;
  }

  /** The index of the first range that ends at the number or above: nearly always the number is above them all, or in the last. */
  #placeOf(number: number): number {
    return this.#ranges.findLastIndex(([, last]) => last < number) + 1;
  }
}
