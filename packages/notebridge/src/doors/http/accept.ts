/** The media ranges of an `Accept` header, in lower case and without parameters; undefined if there is no header. */
export function mediaRangesOf(header: string | undefined): string[] | undefined {
  return header?.split(',').map((range) => (range.split(';', 1)[0] ?? '').trim().toLowerCase());
}
