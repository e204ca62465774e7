/** A line as notebooks print it: ASCII, with the quotes and backslashes that JSON must escape. */
const line = 'epoch 12/40  loss=0.0312  "val_acc": 0.9871  path=C:\\runs\\a\tok |################----|\n';

/** The same text of `size` letters on both ends, so that a result can be compared whole. */
export function textOfSize(size) {
  return line.repeat(Math.ceil(size / line.length)).slice(0, size);
}
