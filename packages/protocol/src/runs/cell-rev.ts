/** A sentence for the description of each tool that replaces or removes what stands in a cell. */
export const refusedUnread = 'Refused, with its text, if the cell is not as you last read or wrote it.';

/**
 * The revision of a cell: a number of at most 53 bits, made from its type and its source alone. It is the same in every kind of notebook and
 * after a restart; runs, moves and metadata leave it as it is. 0 is the revision of no cell.
 */
export function revOf({ type, source }: { readonly type: string; readonly source: string }): number {
  // Colab says "text" for what a notebook file calls "markdown".
  const name = type === 'text' ? 'markdown' : type;
  const [high, low] = hash(`${name}\n${source}`);
  return (high & 0x1fffff) * 0x1_0000_0000 + low || 1;
}

/** Two chains of multiply and shift, of other numbers each, so that a text which meets another in one does not in the other. */
function hash(text: string): [number, number] {
  let [a, b] = [0x811c9dc5, 0x3c6ef372];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    a ^= a >>> 15;
    b = Math.imul(b ^ unit, 0x5f356495);
    b ^= b >>> 13;
  }
  return [spread(a), spread(b)];
}

/** Lets each bit depend on all. */
function spread(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
