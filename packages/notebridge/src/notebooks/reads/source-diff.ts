/** The change from one source to another as a unified diff of one hunk: everything between the lines that both begin and end with. */
export function diffSource(before: string, after: string): string {
  const [from, to] = [before.split('\n'), after.split('\n')];
  const shorter = Math.min(from.length, to.length);
  let head = 0;
  while (head < shorter && from[head] === to[head]) head++;
  let tail = 0;
  while (tail < shorter - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++;
  const removed = from.slice(head, from.length - tail);
  const added = to.slice(head, to.length - tail);
  const lines = [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
  return [`@@ -${rangeOf(head, removed)} +${rangeOf(head, added)} @@`, ...lines].join('\n');
}

/** A range without lines is named by the line before it. */
function rangeOf(head: number, lines: readonly string[]): string {
  return `${lines.length === 0 ? head : head + 1},${lines.length}`;
}
