/** A line as tools print it: with the quotes and line ends that JSON must escape, and a letter that is no ASCII. */
const line = 'epoch 12/40  loss=0.0312  "val_acc": 0.9871  path=C:\\runs\\a\tok café |####----|\n';

/** The same text of `size` letters on both ends, so that a result can be compared whole. */
export function textOfSize(size) {
  return line.repeat(Math.ceil(size / line.length)).slice(0, size);
}
