/** Names that are the same here look so alike that one is taken for the other: they differ in case, spaces, `_` and `-` alone. */
export function foldSkillName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/[_\s]+/g, '-');
}
