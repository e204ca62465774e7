let beforeLast = new Uint16Array(64);
let last = new Uint16Array(64);
let current = new Uint16Array(64);

/**
 * How many slips lie between two words: wrong, missing and extra letters, and neighbours that are swapped. More than `most` are not counted: then it
 * is `most + 1`.
 */
export function slipsBetween(from: string, to: string, most: number): number {
  const tooMany = most + 1;
  if (Math.abs(from.length - to.length) > most) return tooMany;
  prepare(to.length);
  let leastOfLast = 0;
  for (let row = 1; row <= from.length; row++) {
    // Cells further from the diagonal have too many in any case.
    const first = Math.max(1, row - most);
    const end = Math.min(to.length, row + most);
    current[first - 1] = first === 1 ? row : tooMany;
    let least = current[first - 1] as number;
    const letter = from.charCodeAt(row - 1);
    for (let column = first; column <= end; column++) {
      const other = to.charCodeAt(column - 1);
      let slips = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + (letter === other ? 0 : 1),
      );
      const isSwapped = row > 1 && column > 1 && letter === to.charCodeAt(column - 2) && from.charCodeAt(row - 2) === other;
      if (isSwapped) slips = Math.min(slips, (beforeLast[column - 2] as number) + 1);
      current[column] = slips;
      if (slips < least) least = slips;
    }
    if (end < to.length) current[end + 1] = tooMany;
    // A swap goes on from the row before.
    if (least > most && leastOfLast >= most) return tooMany;
    leastOfLast = least;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return Math.min(last[to.length] as number, tooMany);
}

/** The row of a word of no letters. */
function prepare(length: number): void {
  if (last.length < length + 2)
    [beforeLast, last, current] = [beforeLast, last, current].map(() => new Uint16Array(2 * length + 2)) as Rows;
  for (let column = 0; column <= length; column++) last[column] = column;
}

type Rows = [Uint16Array<ArrayBuffer>, Uint16Array<ArrayBuffer>, Uint16Array<ArrayBuffer>];
